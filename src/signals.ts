import { signal } from './lib/async/deadline.ts';
import type { Category, SurveyType } from './survey-types.ts';

/**
 * Signals of the features; libraries publish those of requests and jobs (`requestEnded`, `jobRan`). Log lines and
 * metrics are made from them. They are published after the commit, and never carry an address, a name, a comment, a
 * token or a server's reply.
 */

export const attempted = signal<{
  orgId: string;
  webhookId: string;
  deliveryId: string;
  event: string;
  attempt: number;
  outcome: 'delivered' | 'retry' | 'failed';
  statusCode: number | null;
  /** The kind of failure, for one without a status. */
  error: string | null;
  ms: number;
  /** Since the event was made. */
  sinceMs: number;
  traceparent: string | null;
}>();

export const skipped = signal<{ deliveries: number }>();

export const emitted = signal<{ event: string }>();

/** A webhook was switched off because its subscriber did not take its deliveries. */
export const deactivated = signal<{ orgId: string; webhookId: string }>();

export const mailed = signal<{
  orgId: string;
  surveyId: string;
  sendId: string;
  attempt: number;
  outcome: 'sent' | 'retry' | 'failed' | 'bounced' | 'unknown';
  /** Nothing for a mail that ended without an attempt: given up after a crash, or cancelled. */
  ms: number | null;
  sinceMs: number;
  traceparent: string | null;
}>();

export const sendAnswered = signal<{
  orgId: string;
  surveyId: string;
  results: readonly { status: string; reason_code?: string }[];
}>();

/** An answer was recorded. One that is held counts nowhere yet. */
export const answered = signal<{
  orgId: string;
  surveyId: string;
  responseId: string;
  type: SurveyType;
  category: Category;
  held: string | null;
  events: readonly string[];
  traceparent: string | null;
}>();

/** A request was refused because a key, an address or a shared link had too many in this minute. */
export const rateLimited = signal<{ by: 'key' | 'address' | 'share' }>();
