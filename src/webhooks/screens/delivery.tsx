import type { Secrets } from '../../lib/crypto/secrets.ts';
import { State, type StateKind, Time } from '../../web/app/badges.tsx';
import { counted, DataTable, Facts } from '../../web/app/lists.tsx';
import { deliveryHeaders } from '../deliver.ts';
import type { WebhookRow, WebhookTarget } from '../queries.ts';
import { isSuccess, offManually } from '../rules.ts';
import type { ShownAttempt, ShownDelivery } from '../shown-deliveries.queries.ts';

type DeliveryPageProps = {
  delivery: ShownDelivery;
  attempts: readonly ShownAttempt[];
  url: string;
  /** Headers of the last attempt. Empty before the first. */
  headers: readonly (readonly [string, string])[];
  responses: string;
};

export function DeliveryPage({ delivery, attempts, url, headers, responses }: DeliveryPageProps) {
  const responseId = responseIdOf(delivery.body);
  const { kind, text } = deliveryStates[delivery.status];
  const last = attempts.at(-1);
  const { pathname, search } = new URL(url);
  const path = pathname + search;
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  const body = indented(delivery.body);
  return (
    <>
      <section class="card" aria-labelledby="state">
        <h2 id="state">
          <State kind={kind}>{text}</State>
        </h2>
        <p>
          {explain(delivery, { status_code: delivery.status_code, error: last?.error ?? null })}
        </p>
        <Facts
          facts={[
            ['Created', <Time at={delivery.created_at} show="second" />],
            ...(delivery.next_attempt_at && delivery.attempts > 0
              ? [['Next attempt', <Time at={delivery.next_attempt_at} show="second" />] as const]
              : []),
            ...(delivery.id === delivery.message_id
              ? []
              : [['Delivery', <span class="mono">{delivery.id}</span>] as const]),
            ['webhook-id', <span class="mono">{delivery.message_id}</span>],
            ...(responseId
              ? [['Response', <a href={`${responses}/${responseId}`}>View response</a>] as const]
              : []),
          ]}
        />
      </section>
      {attempts.length > 0 ? <Attempts attempts={attempts} /> : null}
      <section class="card grid half" aria-label="Request and response">
        <div class="stack tight">
          <h3>{requestTitle(attempts.length)}</h3>
          <Code label="Request" text={[`POST ${path}`, ...lines, '', body].join('\n')} />
          {body === delivery.body ? null : (
            <details class="reveal">
              <summary>Raw body, {counted(Buffer.byteLength(delivery.body), 'byte')}</summary>
              <Code label="Raw body" text={delivery.body} />
            </details>
          )}
        </div>
        <div class="stack tight">
          <h3>Response</h3>
          <Answer attempt={last} />
        </div>
      </section>
    </>
  );
}

function requestTitle(attempts: number): string {
  if (attempts === 0) return 'Request, not sent';
  return attempts === 1 ? 'Request' : `Request, attempt ${attempts}`;
}

function Attempts({ attempts }: { attempts: readonly ShownAttempt[] }) {
  return (
    <section class="card" aria-labelledby="attempts">
      <h2 id="attempts">Attempts</h2>
      <DataTable
        caption="Attempts of this delivery"
        nowrap
        columns={[
          { head: 'Attempt', before: 'Attempt ' },
          'Time',
          { head: 'Status', phone: 'beside' },
          'Result',
          { head: 'Duration', number: true, phone: 'absent' },
        ]}
        rows={attempts.map((attempt) => {
          const isFine = attempt.error === null && isSuccess(attempt.status_code);
          return {
            cells: [
              attempt.number,
              <Time at={attempt.at} show="second" />,
              <State kind={isFine ? 'fine' : 'failed'}>{isFine ? 'Delivered' : 'Failed'}</State>,
              resultOf(attempt),
              duration(attempt.duration_ms),
            ],
          };
        })}
      />
    </section>
  );
}

function Answer({ attempt }: { attempt: ShownAttempt | undefined }) {
  if (!attempt) return <p class="soft">Nothing sent yet.</p>;
  if (attempt.status_code === null) return <p class="soft">No response: {attempt.error}.</p>;
  const body = attempt.response_body ? `\n\n${attempt.response_body}` : '';
  return <Code label="Response" text={`${attempt.status_code}${body}`} />;
}

const Code = ({ label, text }: { label: string; text: string }) => (
  // biome-ignore lint/a11y/useSemanticElements: it scrolls inside itself
  <pre tabindex={0} role="region" aria-label={label}>
    <code>{text}</code>
  </pre>
);

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

type Result = Pick<ShownAttempt, 'status_code' | 'error'>;

export const deliveryStates = {
  pending: { kind: 'waiting', text: 'Waiting' },
  delivered: { kind: 'fine', text: 'Delivered' },
  failed: { kind: 'failed', text: 'Failed' },
  skipped: { kind: 'skipped', text: 'Skipped' },
} as const satisfies Record<ShownDelivery['status'], { kind: StateKind; text: string }>;

export function explain(
  { status, attempts }: Pick<ShownDelivery, 'status' | 'attempts'>,
  last: Result,
): string {
  const result = resultOf(last);
  switch (status) {
    case 'delivered':
      return attempts === 1 ? 'The first attempt succeeded.' : `Attempt ${attempts} succeeded.`;
    case 'skipped':
      return attempts === 0
        ? 'The webhook was off. Once it is on, use Redeliver to send this event.'
        : `The webhook was turned off after ${counted(attempts, 'failed attempt')} (${result}). Once it is on, use Redeliver to send this event.`;
    case 'failed':
      return `Failed after ${counted(attempts, 'attempt')}: ${result}. No more retries. Use Redeliver to try again.`;
    case 'pending':
      return attempts === 0
        ? 'Waiting for the first attempt.'
        : `Attempt ${attempts} failed: ${result}. Retrying automatically.`;
  }
}

export const resultOf = ({ status_code, error }: Result) =>
  error ?? (status_code === null ? 'no response' : `status ${status_code}`);

/** Texts in the event cannot match, because their quotes are escaped. */
const responseIdOf = (body: string): string | undefined =>
  /"responseId":"([0-9a-f-]{36})"/.exec(body)?.[1];

type StandingFields = Pick<
  WebhookRow,
  'active' | 'deactivated_reason' | 'failure_count' | 'last_delivery_at'
>;

export function standingOf(webhook: StandingFields): { kind: StateKind; text: string } {
  if (!webhook.active) {
    const isManual = (webhook.deactivated_reason ?? offManually) === offManually;
    return { kind: isManual ? 'skipped' : 'failed', text: 'Off' };
  }
  if (webhook.failure_count > 0) return { kind: 'warning', text: 'On, failing' };
  if (!webhook.last_delivery_at) return { kind: 'waiting', text: 'On, no deliveries yet' };
  return { kind: 'fine', text: 'On, working' };
}

/** Omits the query, which may contain a secret. */
export function shortUrl(url: string): string {
  const { host, pathname } = new URL(url);
  return pathname === '/' ? host : host + pathname;
}

export const duration = (ms: number): string =>
  ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;

const dayMs = 86_400_000;

type SentAttempt = {
  delivery: Pick<ShownDelivery, 'id' | 'message_id' | 'event' | 'body'>;
  at: Date;
  orgId: string;
  webhookId: string;
  target: Pick<WebhookTarget, 'secret' | 'previous_secret' | 'previous_secret_until'>;
};

type SigningTools = { secrets: Pick<Secrets, 'open'>; settings: { serviceName: string } };

/**
 * Recomputes the headers of an attempt with the secrets that were valid at the time. Only the last two secrets are
 * stored, so older attempts show a signature with the previous secret.
 */
export function sentHeaders({ secrets, settings }: SigningTools, sent: SentAttempt) {
  const { delivery, at, orgId, webhookId } = sent;
  const { secret, previous_secret, previous_secret_until } = sent.target;
  const open = (sealed: Buffer) => secrets.open({ owner: orgId, id: webhookId }, sealed);
  const until = previous_secret_until?.getTime() ?? 0;
  const wasBefore = at.getTime() < until - dayMs;
  const previous = previous_secret && open(previous_secret);
  const headers = deliveryHeaders(settings.serviceName, {
    ...delivery,
    at,
    secret: (wasBefore && previous) || open(secret),
    previousSecret: !wasBefore && at.getTime() < until ? previous : null,
  });
  return Object.entries(headers);
}
