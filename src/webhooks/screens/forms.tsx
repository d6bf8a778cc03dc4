import { capital } from '../../errors.ts';
import { percentage } from '../../survey-types.ts';
import { Breakable, Confirm, dayText, FormErrors, State, Time } from '../../web/app/badges.tsx';
import { Choice, Field, type FormState, SubmitOrCancel, Version } from '../../web/app/forms.tsx';
import { counted, DataTable, EmptyState } from '../../web/app/lists.tsx';
import { eventTypes } from '../events.ts';
import { versionOfWebhook } from '../manage.ts';
import type { WebhookRow } from '../queries.ts';
import { describeRetries, retryKinds } from '../rules.ts';
import { maxNewest, type WebhookOutcomes } from '../shown-deliveries.queries.ts';
import { shortUrl, standingOf } from './delivery.tsx';
import { SmallUptime, UptimeLegend } from './webhook.tsx';

type WebhookListProps = {
  webhooks: readonly WebhookRow[];
  outcomes: readonly WebhookOutcomes[];
  here: string;
  mayChange: boolean;
};

export function WebhookList({ webhooks, outcomes, here, mayChange }: WebhookListProps) {
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
        happen.
      </p>
      <DataTable
        caption="Webhooks, newest first"
        columns={[
          'URL',
          { head: 'Status', phone: 'beside' },
          { head: 'Last 30 days', phone: 'line' },
          { head: 'Events', phone: 'absent' },
          { head: 'Last delivery', before: 'Last delivery ' },
        ]}
        rows={webhooks.map((webhook) => ({
          cells: cellsOf(
            webhook,
            here,
            outcomes.find(({ webhook_id }) => webhook_id === webhook.id),
          ),
        }))}
      />
      <UptimeLegend />
    </>
  );
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

function cellsOf(webhook: WebhookRow, here: string, outcomes: WebhookOutcomes | undefined) {
  const { kind, text } = standingOf(webhook);
  const { delivered = [], newest = [] } = outcomes ?? {};
  const total = sum(newest);
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
    <>
      {outcomes ? <SmallUptime {...outcomes} /> : null}
      {total === 0 ? null : (
        <span class="sub block">
          {percentage(sum(delivered), total).toFixed(1)}%
          {newest.includes(maxNewest) ? ` of the newest ${maxNewest} a day` : null} delivered
        </span>
      )}
    </>,
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

type ReplayProps = {
  active: boolean;
  since: string;
  count: number;
  form: FormState;
  here: string;
  /** Asks again before a large replay. */
  confirms: boolean;
};

export function ReplayPage({ active, since, count, form, here, confirms }: ReplayProps) {
  const action = `${here}/replay`;
  const day = form.errors['since'] ? since : dayText(since);
  const missed =
    count === 0
      ? `No events were skipped or failed since ${day}.`
      : `${counted(count, 'event was', 'events were')} skipped or failed since ${day}.`;
  const effect = active && count > 0 ? ' Replay delivers them again, oldest first.' : '';
  if (confirms) {
    return (
      <Confirm action={action} button="Replay" cancel={here} hidden={{ since, confirmed: 'true' }}>
        <p>
          {missed}
          {effect}
        </p>
        <p>Receivers that do not check the webhook-id process these events twice.</p>
      </Confirm>
    );
  }
  return (
    <div class="card stack measure">
      <form method="get" action={action} class="stack">
        <FormErrors form={form} />
        <Field
          name="since"
          label="Since"
          type="date"
          form={form}
          value={since}
          help="Replays events that were skipped or failed since this day."
        />
        <div class="acts">
          <button type="submit">Show number of events</button>
        </div>
      </form>
      <p role="status">
        {missed}
        {effect}
      </p>
      {active ? null : (
        <p>
          This webhook is off. Turn it on to replay missed events. <a href={here}>Go to webhook</a>
        </p>
      )}
      {effect ? (
        <form method="post" action={action}>
          <input type="hidden" name="since" value={since} />
          <SubmitOrCancel button="Replay" cancel={here} />
        </form>
      ) : null}
    </div>
  );
}
