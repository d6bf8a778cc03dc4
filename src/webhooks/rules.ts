export const answerTimeoutMs = 10_000;
const attemptsAllowed = 2;
const retryDelaySeconds = 5;
const failuresAllowed = 3;

/** The type of what a webhook is sent when its owner asks for a test; no event. */
export const testEvent = 'webhook.test';

/** One attempt: the status of the answer, and what was wrong with it or why there was none. */
export type AnsweredAttempt = {
  event: string;
  number: number;
  statusCode: number | null;
  error: string | null;
};

export type JudgedAttempt = Omit<AnsweredAttempt, 'number'> & Pick<Verdict, 'status'>;

/** What an attempt means for its delivery. */
export type Verdict = {
  status: 'delivered' | 'pending' | 'failed';
  retryInSeconds: number | null;
};

/** What judged attempts, in their order, mean for the webhook. */
export type Standing = { failures: number; deactivatedReason: string | null };

/** One retry after five seconds; a delivery that fails again has failed. A test is not retried. */
export function judge({ event, number, statusCode, error }: AnsweredAttempt): Verdict {
  if (error === null && statusCode !== null && statusCode >= 200 && statusCode < 300) {
    return { status: 'delivered', retryInSeconds: null };
  }
  const retried = number < attemptsAllowed && event !== testEvent;
  if (retried) return { status: 'pending', retryInSeconds: retryDelaySeconds };
  return { status: 'failed', retryInSeconds: null };
}

/**
 * A delivery that failed counts; one that arrives ends the run; the third failure in a row switches the
 * webhook off. A test counts neither way, also when it is delivered again.
 */
export function standAfter(attempts: readonly JudgedAttempt[], failuresBefore: number): Standing {
  let failures = failuresBefore;
  let deactivatedReason: string | null = null;
  for (const attempt of attempts) {
    if (attempt.event === testEvent) continue;
    if (attempt.status === 'delivered') failures = 0;
    if (attempt.status === 'failed') failures += 1;
    if (failures >= failuresAllowed) deactivatedReason ??= reason(failures, attempt);
  }
  return { failures, deactivatedReason };
}

const reason = (failures: number, { statusCode, error }: JudgedAttempt) =>
  `${failures} deliveries in a row failed, the last with: ${error ?? `status ${statusCode}`}`;
