import { capital } from '../../errors.ts';
import { percentage } from '../../survey-types.ts';
import { Breakable, Confirm, dayText, FormErrors, State, Time } from '../../web/app/badges.tsx';
import { Choice, Field, type FormState, SubmitOrCancel, Version } from '../../web/app/forms.tsx';
import { counted, DataTable, EmptyState } from '../../web/app/lists.tsx';
import { eventTypes } from '../events.ts';
import { versionOfWebhook } from '../manage.ts';
import type { WebhookRow } from '../queries.ts';
import { describeRetries, retryKinds } from '../rules.ts';
import type { DeliveredShare } from '../shown-deliveries.queries.ts';
import { shortUrl, standingOf } from './delivery.tsx';

type WebhookListProps = {
  webhooks: readonly WebhookRow[];
  shares: readonly DeliveredShare[];
  here: string;
  mayChange: boolean;
};

export function WebhookList({ webhooks, shares, here, mayChange }: WebhookListProps) {
  if (webhooks.length === 0) {
    return (
      <EmptyState title="No webhooks yet" icon="webhook">
        <p>Send responses to your own systems as they arrive.</p>
        {mayChange ? null : <p class="sub">Editors and owners can create webhooks.</p>}
      </EmptyState>
    );
  }
  return (
    <>
      <p class="sub">
        {counted(webhooks.length, 'webhook')}. Webhooks send signed events to your URL as they
        happen. Delivered is the share of the newest 1,000 events of the last 30 days.
      </p>
      <DataTable
        caption="Webhooks, newest first"
        columns={[
          'URL',
          { head: 'Status', phone: 'beside' },
          { head: 'Delivered', number: true, phone: 'absent' },
          { head: 'Events', phone: 'absent' },
          { head: 'Last delivery', before: 'Last delivery ' },
        ]}
        rows={webhooks.map((webhook) => ({
          cells: cellsOf(
            webhook,
            here,
            shares.find(({ webhook_id }) => webhook_id === webhook.id),
          ),
        }))}
      />
    </>
  );
}

function cellsOf(webhook: WebhookRow, here: string, share: DeliveredShare | undefined) {
  const { kind, text } = standingOf(webhook);
  return [
    <>
      <a href={`${here}/${webhook.id}`}>
        <Breakable text={shortUrl(webhook.url)} />
      </a>
      {webhook.description ? (
        <span class="sub block">
          <bdi>{webhook.description}</bdi>
        </span>
      ) : null}
    </>,
    <>
      <State kind={kind}>{text}</State>
      {webhook.deactivated_reason ? (
        <span class="sub block">{webhook.deactivated_reason}</span>
      ) : null}
    </>,
    share ? `${percentage(share.delivered, share.total).toFixed(1)}%` : '–',
    webhook.events.join(', '),
    webhook.last_delivery_at ? (
      <Time at={webhook.last_delivery_at} show="ago" />
    ) : (
      <span class="none">None yet</span>
    ),
  ];
}

type WebhookFormProps = {
  form: FormState;
  /** Path of the webhook, or of the list for a new webhook. */
  here: string;
  webhook?: WebhookRow | undefined;
};

export function WebhookForm({ form, here, webhook }: WebhookFormProps) {
  return (
    <form method="post" action={webhook ? `${here}/edit` : here} class="card stack measure">
      <FormErrors form={form} />
      <Version form={form} value={webhook && versionOfWebhook(webhook)} />
      <Field
        name="url"
        label="URL"
        type="url"
        form={form}
        value={webhook?.url}
        help="An https URL that responds with a 2xx status within 10 seconds."
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
        options={eventTypes.map(({ type, description }) => ({
          value: type,
          text: type,
          help: description,
        }))}
      />
      <Field
        name="description"
        label="Description"
        form={form}
        value={webhook?.description}
        help="Optional. For example, the system that receives the events."
        maxlength={500}
        autocomplete="off"
      />
      <Choice
        name="retries"
        label="Retries"
        form={form}
        value={webhook?.retries ?? 'standard'}
        options={retryKinds.map((value) => ({
          value,
          text: capital(value),
          help: describeRetries(value),
        }))}
      />
      <SubmitOrCancel button={webhook ? 'Save' : 'Create webhook'} cancel={here} />
    </form>
  );
}

type ReplayProps = { active: boolean; since: string; form: FormState; here: string };

export function ReplayPage({ active, since, form, here }: ReplayProps) {
  if (!active) {
    return (
      <p class="card measure">
        This webhook is off. Turn it on to replay missed events. <a href={here}>Go to webhook</a>
      </p>
    );
  }
  return (
    <form method="post" action={`${here}/replay`} class="card stack measure">
      <FormErrors form={form} />
      <Field
        name="since"
        label="Since"
        type="date"
        form={form}
        value={since}
        help="Delivers events again that were skipped or failed since this day, oldest first."
        required
      />
      <SubmitOrCancel button="Replay" cancel={here} />
    </form>
  );
}

type ConfirmReplayProps = { since: string; count: number; here: string };

export const ConfirmReplay = ({ since, count, here }: ConfirmReplayProps) => (
  <Confirm
    action={`${here}/replay`}
    button="Replay"
    cancel={here}
    hidden={{ since, confirmed: 'true' }}
  >
    <p>
      {counted(count, 'event was', 'events were')} skipped or failed since {dayText(since)}. Replay
      delivers them again, oldest first.
    </p>
    <p>Receivers that do not check the webhook-id process these events twice.</p>
  </Confirm>
);
