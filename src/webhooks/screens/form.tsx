import { Choice, Field } from '../../web/app/fields.tsx';
import { Mistakes } from '../../web/app/marks.tsx';
import type { FormState } from '../../web/app/read-form.ts';
import { eventTypes } from '../events.ts';
import type { WebhookRow } from '../queries.ts';
import { retryKinds } from '../rules.ts';
import { webhookTexts } from '../screen-texts.ts';

type WebhookFormProps = {
  form: FormState;
  action: string;
  cancel: string;
  button: string;
  /** What is changed; without one it is made. */
  webhook?: WebhookRow;
};

export function WebhookForm({ form, action, cancel, button, webhook }: WebhookFormProps) {
  return (
    <form method="post" action={action} class="fields measure">
      <Mistakes form={form} />
      <Field
        name="url"
        label="URL"
        type="url"
        form={form}
        value={webhook?.url}
        help={webhookTexts.urlHelp}
        maxlength={2000}
        autocomplete="off"
        required
      />
      <Choice
        name="events"
        label="Events"
        form={form}
        value={webhook?.events ?? eventTypes.map(({ type }) => type)}
        several
        options={eventTypes.map(({ type }) => ({
          value: type,
          text: type,
          help: webhookTexts.eventMeans[type],
        }))}
      />
      <Field
        name="description"
        label="Description"
        form={form}
        value={webhook?.description}
        help={webhookTexts.descriptionHelp}
        maxlength={500}
        autocomplete="off"
      />
      <Choice
        name="retries"
        label="Retries"
        form={form}
        value={webhook?.retries ?? 'standard'}
        options={retryKinds.map((value) => ({ value, ...webhookTexts.retries[value] }))}
      />
      <div class="actions">
        <button type="submit" class="primary">
          {button}
        </button>
        <a class="more" href={cancel}>
          Cancel
        </a>
      </div>
    </form>
  );
}
