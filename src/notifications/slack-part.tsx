import { Choice, Field, Select } from '../web/app/fields.tsx';
import { Mistakes } from '../web/app/marks.tsx';
import type { FormState } from '../web/app/read-form.ts';
import { Part } from '../web/app/settings-screen.tsx';
import { type Digest, digests, type NotificationKind, slackKinds } from './rules.ts';
import type { SlackHook } from './slack.queries.ts';

export const notificationNames = {
  detractor: 'A detractor answers',
  held: 'A response is held',
  webhook_off: 'A webhook is switched off',
  limit_near: '80 % of the month’s mails are used',
  limit_reached: 'All of the month’s mails are used',
  campaign_finished: 'A campaign is finished',
  assigned: 'A response is assigned to me',
} satisfies Record<NotificationKind, string>;

export const digestNames = {
  none: 'No digest',
  day: 'Every day',
  week: 'Every week, on Monday',
} satisfies Record<Digest, string>;

type SlackPartProps = { form: FormState; action: string; hook: SlackHook | undefined };

/** For owners: the webhook of the organization. Its address is a secret, and not shown again. */
export const SlackPart = ({ form, action, hook }: SlackPartProps) => (
  <Part id="slack" title="Slack-compatible webhook">
    <p class="small soft">
      Posts to a channel of Slack, Mattermost or another program that takes such messages.
    </p>
    <form method="post" action={action} class="fields narrow">
      <Mistakes form={form} />
      <Field
        name="url"
        type="url"
        label="Address of the incoming webhook"
        form={form}
        help={
          hook
            ? 'There is one, which is not shown. Leave this empty to keep it.'
            : 'It is kept sealed, and not shown again.'
        }
        autocomplete="off"
        required={!hook}
      />
      <Choice
        id="slack-events"
        name="events"
        label="Post when"
        form={form}
        several
        value={hook?.events ?? []}
        options={slackKinds.map((value) => ({ value, text: notificationNames[value] }))}
      />
      <Select
        id="slack-digest"
        name="digest"
        label="Digest"
        form={form}
        value={hook?.digest ?? 'none'}
        help="At 9 in the morning, by the clock of the organization."
        options={digests.map((value) => ({ value, text: digestNames[value] }))}
      />
      <div class="actions">
        <button type="submit">Save the webhook</button>
      </div>
    </form>
    {hook ? (
      <form method="post" action={`${action}/remove`}>
        <div class="actions">
          <button type="submit" class="danger">
            Remove the webhook
          </button>
        </div>
      </form>
    ) : null}
  </Part>
);
