export const answerTimeoutMs = 10_000;
export const maxFailures = 3;
/** The reason of a webhook that a member or an API key turned off. */
export const offManually = 'turned off manually';
const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

export const retryKinds = ['standard', 'extended'] as const;
export type RetryKind = (typeof retryKinds)[number];

type RetryRules = {
  /** Delays after failed attempts in seconds. The delivery fails after the last. */
  steps: readonly number[];
  /** Jitter as a share of the step, so that deliveries that failed together are not retried together. */
  spread: number;
  /** Days without a delivery before failures turn the webhook off. */
  undeliveredDays: number;
  /** These rules, for the app and the API document. */
  sentences: string;
};

const rulesOf: Readonly<Record<RetryKind, RetryRules>> = {
  standard: {
    steps: [5],
    spread: 0,
    undeliveredDays: 0,
    sentences: 'Retries after 5 s. Turns off after 3 failed deliveries in a row.',
  },
  extended: {
    steps: [5, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour],
    spread: 0.1,
    undeliveredDays: 3,
    sentences:
      'Retries after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, each ±10 %. Turns off after 3 failed deliveries in a row and 3 days without a delivery.',
  },
};

export const describeRetries = (retries: RetryKind) => rulesOf[retries].sentences;

const busyStatuses = [429, 503];
const maxWaitFactor = 2;

/** Type of test deliveries. Nobody can subscribe to it. */
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

/** Retries until no step is left. Tests are not retried. `random` is from 0 to 1. */
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
  return { status: 'pending', retryInSeconds: retryDelay(attempt, own) };
}

export const isSuccess = (status: number | null) =>
  status !== null && status >= 200 && status < 300;

/** Honours Retry-After of a busy subscriber, up to twice the step. */
function retryDelay({ statusCode, retryAfterSeconds }: AnsweredAttempt, own: number): number {
  const isBusy = statusCode !== null && busyStatuses.includes(statusCode);
  if (!isBusy || retryAfterSeconds === null) return own;
  return Math.min(Math.max(retryAfterSeconds, own), own * maxWaitFactor);
}

type StandingBefore = { retries: RetryKind; failures: number; undeliveredSeconds: number };

/** Counts failures in a row and decides whether they turn the webhook off. Tests never count. */
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
    ? `nothing was delivered for ${undeliveredDays} days and ${failures} deliveries failed (last error: ${last})`
    : `${failures} deliveries in a row failed (last error: ${last})`;
}
