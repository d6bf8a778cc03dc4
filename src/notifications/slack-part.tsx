import { Choice, Field, Select } from '../web/app/fields.tsx';
import { Mistakes } from '../web/app/marks.tsx';
import type { FormState } from '../web/app/read-form.ts';
import { Part } from '../web/app/settings-screen.tsx';
import { digests, slackKinds } from './rules.ts';
import { notificationTexts, slackTexts as texts } from './screen-texts.ts';
import type { SlackHook } from './slack.queries.ts';

type SlackPartProps = { form: FormState; action: string; hook: SlackHook | undefined };

/** For owners: the webhook of the organization. Its address is a secret, and not shown again. */
export const SlackPart = ({ form, action, hook }: SlackPartProps) => (
  <Part id="slack" title={texts.title}>
    <p class="small soft">{texts.about}</p>
    <form method="post" action={action} class="fields narrow">
      <Mistakes form={form} />
      <Field
        name="url"
        type="url"
        label={texts.url}
        form={form}
        help={hook ? texts.urlKept : texts.urlHelp}
        autocomplete="off"
        required={!hook}
      />
      <Choice
        id="slack-events"
        name="events"
        label={texts.events}
        form={form}
        several
        value={hook?.events ?? []}
        options={slackKinds.map((value) => ({ value, text: notificationTexts.kinds[value] }))}
      />
      <Select
        id="slack-digest"
        name="digest"
        label={notificationTexts.digest}
        form={form}
        value={hook?.digest ?? 'none'}
        help={texts.digestHelp}
        options={digests.map((value) => ({ value, text: notificationTexts.digests[value] }))}
      />
      <div class="actions">
        <button type="submit">{texts.save}</button>
      </div>
    </form>
    {hook ? (
      <form method="post" action={`${action}/remove`}>
        <div class="actions">
          <button type="submit" class="danger">
            {texts.remove}
          </button>
        </div>
      </form>
    ) : null}
  </Part>
);
