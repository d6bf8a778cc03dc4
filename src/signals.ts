import { signal } from './lib/async/deadline.ts';
import type { Category, SurveyType } from './survey-types.ts';

/**
 * Signals that features publish after the commit, for log lines and metrics. They never contain addresses, names,
 * comments, tokens or replies of servers.
 */

export const attempted = signal<{
  orgId: string;
  webhookId: string;
  deliveryId: string;
  event: string;
  attempt: number;
  outcome: 'delivered' | 'retry' | 'failed';
  statusCode: number | null;
  /** The kind of a failure that has no status. */
  error: string | null;
  ms: number;
  sinceMs: number;
  traceparent: string | null;
}>();

export const skipped = signal<{ deliveries: number }>();

export const emitted = signal<{ event: string }>();

/** A webhook was turned off after too many failed deliveries. */
export const deactivated = signal<{ orgId: string; webhookId: string }>();

export const mailed = signal<{
  orgId: string;
  surveyId: string;
  sendId: string;
  attempt: number;
  outcome: 'sent' | 'retry' | 'failed' | 'bounced' | 'unknown';
  /** Null for an email that was cancelled or lost in a crash. */
  ms: number | null;
  sinceMs: number;
  traceparent: string | null;
}>();

export const sendAnswered = signal<{
  orgId: string;
  surveyId: string;
  results: readonly { status: string; reason_code?: string }[];
}>();

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

export const rateLimited = signal<{ by: 'key' | 'address' | 'share' }>();
