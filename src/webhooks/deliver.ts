import type { Secrets } from '../lib/crypto/secrets.ts';
import type { FailureKind } from '../lib/outbound/post.ts';
import { inSpan } from '../lib/tracing/spans.ts';
import type { ClaimedDelivery } from './delivery.queries.ts';
import { answerTimeoutMs, judge, type Verdict } from './rules.ts';
import { deliveryHeaders } from './sign.ts';
import { attemptEnd, attemptSpan } from './spans.ts';

/** The guarded client: it never throws for what the other side does. */
export type SubscriberClient = {
  post(
    url: string,
    request: { group: string; headers: Record<string, string>; body: string; deadlineMs: number },
  ): Promise<SubscriberAnswer>;
};

export type SubscriberAnswer = {
  statusCode: number | null;
  body: string;
  retryAfterSeconds: number | null;
  error: string | null;
  errorKind: FailureKind | null;
  durationMs: number;
};

export type DeliverTools = {
  outbound: SubscriberClient;
  secrets: Secrets;
  settings: { serviceName: string };
};

export type AttemptOutcome = {
  delivery: ClaimedDelivery;
  answer: SubscriberAnswer;
  verdict: Verdict;
  at: Date;
  /** The span of the attempt. */
  traceparent: string | null;
};

/** One attempt at one delivery. Whatever the subscriber does is an outcome. */
export async function attempt(
  tools: DeliverTools,
  delivery: ClaimedDelivery,
): Promise<AttemptOutcome> {
  const { traceparent, created_at } = delivery;
  const cause = { traceparent, agoMs: Date.now() - created_at.getTime() };
  return await inSpan(
    cause,
    () => attemptSpan(delivery.url, attemptFacts(delivery)),
    async (own) => {
      const at = new Date();
      const answer = withoutNames(
        await post(tools, delivery, { at, traceparent: own.traceparent }),
      );
      const { event, attempts, retries } = delivery;
      const answered = { ...answer, event, number: attempts + 1 };
      const verdict = judge(answered, { retries, random: Math.random() });
      own.ended(() => attemptEnd({ ...answer, delivered: verdict.status === 'delivered' }));
      return { delivery, answer, verdict, at, traceparent: own.traceparent };
    },
  );
}

const attemptFacts = ({ id, webhook_id, event, attempts }: ClaimedDelivery) => ({
  deliveryId: id,
  webhookId: webhook_id,
  event,
  attempt: attempts + 1,
});

type AttemptSpan = { at: Date; traceparent: string | null };

function post(tools: DeliverTools, delivery: ClaimedDelivery, { at, traceparent }: AttemptSpan) {
  const place = { owner: delivery.org_id, id: delivery.webhook_id };
  const open = (sealed: Uint8Array) => tools.secrets.open(place, sealed);
  return tools.outbound.post(delivery.url, {
    group: delivery.org_id,
    headers: deliveryHeaders(tools.settings.serviceName, {
      id: delivery.id,
      messageId: delivery.message_id,
      event: delivery.event,
      body: delivery.body,
      at,
      secret: open(delivery.secret),
      previousSecret: delivery.previous_secret && open(delivery.previous_secret),
      traceparent,
    }),
    body: delivery.body,
    deadlineMs: answerTimeoutMs,
  });
}

/**
 * A name that does not resolve and one that leads to a forbidden address get the same sentence, so that a
 * webhook cannot find out which names exist inside the operator's network.
 */
const withoutNames = (answer: SubscriberAnswer): SubscriberAnswer =>
  answer.errorKind === 'dns' || answer.errorKind === 'forbidden'
    ? { ...answer, error: 'the url leads to no address that may be reached', durationMs: 0 }
    : answer;

/** No connection was free, or this process ended the attempt: not the subscriber's fault. */
export const isOurFault = ({ errorKind }: SubscriberAnswer) =>
  errorKind === 'busy' || errorKind === 'cancelled';

export function toSignal(outcome: AttemptOutcome) {
  const { delivery, answer, verdict } = outcome;
  return {
    orgId: delivery.org_id,
    ...attemptFacts(delivery),
    outcome: verdict.status === 'pending' ? ('retry' as const) : verdict.status,
    statusCode: answer.statusCode,
    error: answer.errorKind,
    ms: answer.durationMs,
    sinceMs: Math.max(Date.now() - delivery.created_at.getTime(), 0),
    traceparent: outcome.traceparent,
  };
}
