import { Choice, Field, Select } from '../web/app/fields.tsx';
import { Mistakes } from '../web/app/marks.tsx';
import type { FormState } from '../web/app/read-form.ts';
import { expiryChoices } from './rules.ts';
import { keyTexts } from './screen-texts.ts';

type KeyFormProps = { form: FormState; action: string; cancel: string };

export function KeyForm({ form, action, cancel }: KeyFormProps) {
  return (
    <section aria-labelledby="new">
      <h2 id="new">{keyTexts.create}</h2>
      <form method="post" action={action} class="fields narrow">
        <Mistakes form={form} />
        <Field
          name="name"
          label="Name"
          form={form}
          help={keyTexts.nameHelp}
          maxlength={200}
          autocomplete="off"
          required
        />
        <Choice
          name="permission"
          label="Permission"
          form={form}
          value="read"
          options={[
            { value: 'read', text: keyTexts.permissionMeans.read },
            { value: 'write', text: keyTexts.permissionMeans.write },
          ]}
        />
        <Select
          name="expires"
          label="Expires"
          form={form}
          help={keyTexts.expiryHelp}
          value="365d"
          options={expiryChoices.map((value) => ({ value, text: keyTexts.expiry[value] }))}
        />
        <div class="actions">
          <button type="submit" class="primary">
            {keyTexts.submit}
          </button>
          <a class="more" href={cancel}>
            Cancel
          </a>
        </div>
      </form>
    </section>
  );
}
