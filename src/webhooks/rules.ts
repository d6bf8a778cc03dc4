export const answerTimeoutMs = 10_000;
const maxFailures = 3;
const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

export const retryKinds = ['standard', 'extended'] as const;
export type RetryKind = (typeof retryKinds)[number];

type RetryRules = {
  /** Delays after failed attempts, in seconds. The delivery fails after the last. */
  steps: readonly number[];
  /** Share by which a step varies, so that deliveries that failed together are not retried together. */
  spread: number;
  /** Days without a delivery before failures switch the webhook off. */
  undeliveredDays: number;
};

export const firstRetrySeconds = 5;

const rulesOf: Readonly<Record<RetryKind, RetryRules>> = {
  standard: { steps: [firstRetrySeconds], spread: 0, undeliveredDays: 0 },
  extended: {
    steps: [firstRetrySeconds, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour],
    spread: 0.1,
    undeliveredDays: 3,
  },
};

const busyStatuses = [429, 503];
const maxWaitFactor = 2;

/** Type of the message that a test sends. It is not an event. */
export const testEvent = 'webhook.test';

export type AnsweredAttempt = {
  event: string;
  number: number;
  statusCode: number | null;
  error: string | null;
  retryAfterSeconds: number | null;
};

export type JudgedAttempt = Pick<AnsweredAttempt, 'event' | 'statusCode' | 'error'> &
  Pick<Verdict, 'status'>;

export type Verdict = {
  status: 'delivered' | 'pending' | 'failed';
  retryInSeconds: number | null;
};

/**
 * A failed attempt is retried until there is no step left; then the delivery has failed. A test is not retried.
 * `random`, from 0 to 1, places the retry within the spread of its step.
 */
export function judge(
  attempt: AnsweredAttempt,
  { retries, random }: { retries: RetryKind; random: number },
): Verdict {
  const { event, number, statusCode, error } = attempt;
  if (error === null && isSuccess(statusCode)) {
    return { status: 'delivered', retryInSeconds: null };
  }
  const { steps, spread } = rulesOf[retries];
  const step = steps[number - 1];
  if (step === undefined || event === testEvent) return { status: 'failed', retryInSeconds: null };
  const own = step * (1 + spread * (2 * random - 1));
  return { status: 'pending', retryInSeconds: waitOf(attempt, own) };
}

export const isSuccess = (status: number | null) =>
  status !== null && status >= 200 && status < 300;

/** A busy subscriber may ask for a longer wait than the step's own, up to twice as long. */
function waitOf({ statusCode, retryAfterSeconds }: AnsweredAttempt, own: number): number {
  const isBusy = statusCode !== null && busyStatuses.includes(statusCode);
  if (!isBusy || retryAfterSeconds === null) return own;
  return Math.min(Math.max(retryAfterSeconds, own), own * maxWaitFactor);
}

type StandingBefore = { retries: RetryKind; failures: number; undeliveredSeconds: number };

/**
 * A delivery that failed counts; one that arrives ends the run. Three failures in a row switch the webhook
 * off, with extended retries only once nothing was delivered for three days. A test counts neither way, also
 * when it is delivered again.
 */
export function standAfter(attempts: readonly JudgedAttempt[], before: StandingBefore) {
  const { undeliveredDays } = rulesOf[before.retries];
  let { failures } = before;
  let hasDelivered = false;
  let deactivatedReason: string | null = null;
  for (const attempt of attempts) {
    if (attempt.event === testEvent) continue;
    if (attempt.status === 'delivered') {
      failures = 0;
      hasDelivered = true;
    }
    if (attempt.status === 'failed') failures += 1;
    const undeliveredSeconds = hasDelivered ? 0 : Math.max(before.undeliveredSeconds, 0);
    if (failures >= maxFailures && undeliveredSeconds >= undeliveredDays * day) {
      deactivatedReason ??= reason(undeliveredDays, failures, attempt);
    }
  }
  return { failures, hasDelivered, deactivatedReason };
}

function reason(undeliveredDays: number, failures: number, { statusCode, error }: JudgedAttempt) {
  const last = error ?? `status ${statusCode}`;
  return undeliveredDays > 0
    ? `nothing was delivered for ${undeliveredDays} days and ${failures} deliveries failed, the last attempt with: ${last}`
    : `${failures} deliveries in a row failed, the last with: ${last}`;
}
