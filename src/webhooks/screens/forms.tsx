import { Breakable, Confirm, FormErrors, State, Time } from '../../web/app/badges.tsx';
import {
  Choice,
  Field,
  type FormState,
  LinkButton,
  SubmitOrCancel,
  Version,
} from '../../web/app/forms.tsx';
import { counted, DataTable, EmptyState } from '../../web/app/lists.tsx';
import { eventTypes } from '../events.ts';
import { versionOfWebhook } from '../manage.ts';
import type { WebhookRow } from '../queries.ts';
import { firstRetrySeconds, retryKinds } from '../rules.ts';
import { shortUrl, standingOf } from './delivery.tsx';

type WebhookListProps = { webhooks: readonly WebhookRow[]; here: string; mayChange: boolean };

export function WebhookList({ webhooks, here, mayChange }: WebhookListProps) {
  if (webhooks.length === 0) {
    return (
      <EmptyState title="No webhook yet">
        <p>
          Have answers posted to your own systems as they arrive. New webhook asks for an address
          and the events.
        </p>
        {mayChange ? null : <p class="small soft">An editor or owner can make one.</p>}
      </EmptyState>
    );
  }
  return (
    <>
      <p class="small soft">
        {counted(webhooks.length, 'webhook')}. A webhook has events posted to an address of yours as
        they happen, signed.
      </p>
      <DataTable
        caption="Webhooks, newest first"
        columns={['Address', 'State', 'Events', 'Last delivery'].map((head) => ({ head }))}
        rows={webhooks.map((webhook) => ({ cells: cellsOf(webhook, here) }))}
      />
    </>
  );
}

function cellsOf(webhook: WebhookRow, here: string) {
  const { kind, text } = standingOf(webhook);
  return [
    <>
      <a href={`${here}/${webhook.id}`}>
        <Breakable text={shortUrl(webhook.url)} />
      </a>
      {webhook.description ? (
        <span class="small soft block">
          <bdi>{webhook.description}</bdi>
        </span>
      ) : null}
    </>,
    <>
      <State kind={kind}>{text}</State>
      {webhook.deactivated_reason ? (
        <span class="small soft block">{webhook.deactivated_reason}</span>
      ) : null}
    </>,
    webhook.events.join(', '),
    webhook.last_delivery_at ? <Time at={webhook.last_delivery_at} show="ago" /> : 'none yet',
  ];
}

type WebhookFormProps = {
  form: FormState;
  /** The path of the webhook, or of the list for a new one. */
  here: string;
  webhook?: WebhookRow | undefined;
};

export function WebhookForm({ form, here, webhook }: WebhookFormProps) {
  return (
    <form method="post" action={webhook ? `${here}/edit` : here} class="fields measure">
      <FormErrors form={form} />
      <Version form={form} value={webhook && versionOfWebhook(webhook)} />
      <Field
        name="url"
        label="URL"
        type="url"
        form={form}
        value={webhook?.url}
        help="An https address that answers within 10 seconds with a status 2xx."
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
        help="What receives them, such as “help desk”. May be left empty."
        maxlength={500}
        autocomplete="off"
      />
      <Choice
        name="retries"
        label="Retries"
        form={form}
        value={webhook?.retries ?? 'standard'}
        options={retryKinds.map((value) => ({ value, ...retryTexts[value] }))}
      />
      <SubmitOrCancel button={webhook ? 'Save' : 'Create webhook'} cancel={here} />
    </form>
  );
}

const retryTexts = {
  standard: {
    text: 'Standard',
    help: `A failed delivery is tried once more after ${firstRetrySeconds} seconds. Three that fail in a row switch the webhook off.`,
  },
  extended: {
    text: 'Extended',
    help: 'A failed delivery is tried seven more times over about 28 hours. The webhook is switched off when nothing was delivered for 3 days and three deliveries in a row failed.',
  },
};

type ReplayProps = {
  active: boolean;
  since: string;
  count: number;
  form: FormState;
  here: string;
};

export function ReplayPage({ active, since, count, form, here }: ReplayProps) {
  return (
    <>
      <form method="get" action={`${here}/replay`} class="fields measure">
        <FormErrors form={form} />
        <Field
          name="since"
          label="Since"
          type="date"
          form={form}
          value={since}
          help="Events that were skipped or failed since then are delivered again."
        />
        <div class="actions">
          <button type="submit">Show how many</button>
        </div>
      </form>
      <p role="status">{foretell(count, since, active)}</p>
      {active ? null : (
        <>
          <p class="is-warning state">
            The webhook is switched off. Switch it on first: then what it missed can be replayed.
          </p>
          <p>
            <a href={here}>To the webhook</a>
          </p>
        </>
      )}
      {active && count > 0 ? (
        <form method="post" action={`${here}/replay`} class="actions">
          <input type="hidden" name="since" value={since} />
          <button type="submit" class="primary">
            Replay
          </button>
          <LinkButton href={here} text="Cancel" kind="more" />
        </form>
      ) : null}
    </>
  );
}

export function ReplayConfirmation({ since, count, here }: ReplayProps) {
  return (
    <Confirm
      action={`${here}/replay`}
      button="Replay"
      cancel={here}
      hidden={{ since, confirmed: 'true' }}
    >
      <p>{foretell(count, since, true)}</p>
      <p>A receiver that does not drop repeats by their webhook-id handles these events again.</p>
    </Confirm>
  );
}

function foretell(count: number, since: string, active: boolean) {
  if (count === 0) return `Nothing was skipped or failed since ${since}.`;
  const missed = `${counted(count, 'event was', 'events were')} skipped or failed since ${since}.`;
  return active ? `${missed} Replay delivers them again, oldest first.` : missed;
}
