import { Choice, Field, Select } from '../web/app/fields.tsx';
import { Mistakes } from '../web/app/marks.tsx';
import type { FormState } from '../web/app/read-form.ts';
import { expiryChoices } from './rules.ts';

const expiry = {
  '30d': 'In 30 days',
  '90d': 'In 90 days',
  '365d': 'In a year',
  never: 'Never',
} as const;

type KeyFormProps = { form: FormState; action: string; cancel: string };

export function KeyForm({ form, action, cancel }: KeyFormProps) {
  return (
    <section aria-labelledby="new">
      <h2 id="new">New API Key</h2>
      <form method="post" action={action} class="fields narrow">
        <Mistakes form={form} />
        <Field
          name="name"
          label="Name"
          form={form}
          help="What will use it, such as “website”."
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
            { value: 'read', text: 'Read: sees everything, changes nothing' },
            { value: 'write', text: 'Read and write: also sends mails and changes webhooks' },
          ]}
        />
        <Select
          name="expires"
          label="Expires"
          form={form}
          help="After that day the key stops working."
          value="365d"
          options={expiryChoices.map((value) => ({ value, text: expiry[value] }))}
        />
        <div class="actions">
          <button type="submit" class="primary">
            Create key
          </button>
          <a class="more" href={cancel}>
            Cancel
          </a>
        </div>
      </form>
    </section>
  );
}
