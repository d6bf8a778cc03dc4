import { DataTable, Facts } from '../../web/app/lists.tsx';
import { State, Time } from '../../web/app/marks.tsx';
import { isSuccess } from '../rules.ts';
import type { ShownAttempt, ShownDelivery } from '../screen.queries.ts';
import { duration, webhookTexts } from '../screen-texts.ts';
import { deliveryStates, explain, responseIdOf, resultOf } from './delivery.rules.ts';

type DeliveryPageProps = {
  delivery: ShownDelivery;
  attempts: readonly ShownAttempt[];
  url: string;
  /** Of the last attempt; none before the first. */
  headers: readonly (readonly [string, string])[];
  /** Where the responses of the organization are. */
  responses: string;
};

/** A delivery: how it stands and why, each attempt, what was sent and what came back. */
export function DeliveryPage({ delivery, attempts, url, headers, responses }: DeliveryPageProps) {
  const responseId = responseIdOf(delivery.body);
  const { kind, text } = deliveryStates[delivery.status];
  const last = attempts.at(-1);
  return (
    <>
      <section aria-labelledby="state">
        <h2 id="state" class={`state state-line is-${kind}`}>
          {text}
        </h2>
        <p>{explain({ ...delivery, error: last?.error ?? null })}</p>
        <Facts
          facts={[
            ['Happened', <Time at={delivery.created_at} show="second" />],
            ...(delivery.next_attempt_at && delivery.attempts > 0
              ? [['Next attempt', <Time at={delivery.next_attempt_at} show="second" />] as const]
              : []),
            ['Delivery', <span class="mono">{delivery.id}</span>],
            ['webhook-id', <span class="mono">{delivery.message_id}</span>],
            ...(responseId
              ? [['About', <a href={`${responses}/${responseId}`}>a response</a>] as const]
              : []),
            ...(delivery.is_replay ? [['Origin', 'Replayed by hand'] as const] : []),
          ]}
        />
      </section>
      {attempts.length > 0 ? <Attempts attempts={attempts} /> : null}
      <section aria-labelledby="exchange">
        <h2 id="exchange" class="hidden">
          What was sent and what came back
        </h2>
        <div class="columns even">
          <div>
            <h3>{requestTitle(attempts.length)}</h3>
            {/* biome-ignore lint/a11y/useSemanticElements: it scrolls inside itself */}
            <pre tabindex={0} role="region" aria-label="Request">
              <code>{requestText({ url, headers, body: indented(delivery.body) })}</code>
            </pre>
            {indented(delivery.body) === delivery.body ? null : (
              <details class="reveal">
                <summary>{webhookTexts.asSent(Buffer.byteLength(delivery.body))}</summary>
                {/* biome-ignore lint/a11y/useSemanticElements: it scrolls inside itself */}
                <pre tabindex={0} role="region" aria-label={webhookTexts.bodyAsSent}>
                  <code>{delivery.body}</code>
                </pre>
              </details>
            )}
          </div>
          <div>
            <h3>Response</h3>
            <Answer attempt={last} />
          </div>
        </div>
      </section>
    </>
  );
}

/** Which request is shown; without an attempt it is the one that would be sent. */
function requestTitle(attempts: number): string {
  if (attempts === 0) return 'Request, not sent';
  return attempts === 1 ? 'Request' : `Request, attempt ${attempts}`;
}

function Attempts({ attempts }: { attempts: readonly ShownAttempt[] }) {
  return (
    <section aria-labelledby="attempts">
      <h2 id="attempts">Attempts</h2>
      <DataTable
        caption="Attempts of this delivery"
        nowrap
        columns={[
          { head: 'Attempt' },
          { head: 'Time' },
          { head: 'State' },
          { head: 'Result' },
          { head: 'Took', number: true },
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
  if (!attempt) return <p class="soft">{webhookTexts.notSent}</p>;
  if (attempt.status_code === null) return <p class="soft">No answer: {attempt.error}.</p>;
  const body = attempt.response_body ? `\n\n${attempt.response_body}` : '';
  return (
    // biome-ignore lint/a11y/useSemanticElements: it scrolls inside itself
    <pre tabindex={0} role="region" aria-label="Response">
      <code>{`${attempt.status_code}${body}`}</code>
    </pre>
  );
}

/** JSON as a person reads it. What is signed is the body as it was sent. */
function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

type SentRequest = {
  url: string;
  headers: readonly (readonly [string, string])[];
  body: string;
};

function requestText({ url, headers, body }: SentRequest): string {
  const { pathname, search } = new URL(url);
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return [`POST ${pathname}${search}`, ...lines, '', body].join('\n');
}
