import type { MailOutcome } from '../lib/smtp/outcome.ts';
import { type BlockReason, blockReasons, unknownOutcome } from './rules.ts';

/**
 * Whether a mail may leave: as which attempt, or why not. `late` has too little time left, and
 * `withdrawn` is no longer claimed.
 */
export type Beginning = { attempt: number } | { blocked: BlockReason } | 'late' | 'withdrawn';

/** An attempt at a mail. Without a beginning it ended before the mail could leave. */
export type MailAttempt = { outcome: MailOutcome; beginning: Beginning | undefined };

export type MailDecision =
  | { status: 'sent' }
  | { status: 'retry'; inMs: number; reason: string }
  | { status: 'failed'; code: 'refused' | 'deadline'; reason: string; bounced: boolean }
  | { status: 'blocked'; by: BlockReason }
  | { status: 'unknown'; reason: string };

const retriesAfterMs = [1000, 4000];

export const tooLate = 'not sent within the time of the request';

/** What an attempt means for its mail, given how many there were and how much time is left. */
export function decide(
  { outcome, beginning }: MailAttempt,
  { tries, remainingMs }: { tries: number; remainingMs: number },
): MailDecision {
  if (hasBlock(beginning)) return { status: 'blocked', by: beginning.blocked };
  if (outcome.kind === 'accepted') return { status: 'sent' };
  if (outcome.kind === 'unknown') return { status: 'unknown', reason: outcome.reason };
  if (outcome.kind === 'refused' && outcome.permanent) {
    return failed('refused', outcome.response, outcome.unknownMailbox);
  }
  const isOver = remainingMs <= 0 || beginning === 'late';
  if (isOver && !hasBegun(beginning)) return failed('deadline', tooLate);
  const reason = outcome.kind === 'refused' ? outcome.response : outcome.reason;
  const inMs = retriesAfterMs[tries - 1];
  if (inMs === undefined || inMs > remainingMs) return failed('refused', reason);
  return { status: 'retry', inMs, reason };
}

export const hasBegun = (beginning: Beginning | undefined): beginning is { attempt: number } =>
  typeof beginning === 'object' && 'attempt' in beginning;

const hasBlock = (beginning: Beginning | undefined): beginning is { blocked: BlockReason } =>
  typeof beginning === 'object' && 'blocked' in beginning;

const failed = (code: 'refused' | 'deadline', reason: string, bounced = false): MailDecision => ({
  ...{ status: 'failed', code, reason, bounced },
});

/** What is written of an attempt: to the mail's row and to its contact. */
export type OutcomeRow = {
  id: string;
  org_id: string;
  attempt: number;
  status: 'sent' | 'failed' | 'unknown' | 'claimed';
  reason: string | null;
  reason_code: string | null;
  contact_status: 'sending' | 'sent' | 'failed' | 'bounced' | 'unsubscribed';
  /** Why the contact failed; empty if its mail was blocked. */
  failure_reason: string | null;
};

type Attempted = { id: string; org_id: string; attempt: number };

export function toRow({ id, org_id, attempt }: Attempted, decision: MailDecision): OutcomeRow {
  const row = { id, org_id, attempt, reason: null, reason_code: null, failure_reason: null };
  switch (decision.status) {
    case 'sent':
      return { ...row, status: 'sent', contact_status: 'sent' };
    case 'retry':
      return { ...row, status: 'claimed', contact_status: 'sending', reason: decision.reason };
    case 'unknown': {
      const reason = `${unknownOutcome} (${decision.reason})`;
      const words = { reason, reason_code: 'unknown_outcome', failure_reason: reason };
      return { ...row, status: 'unknown', contact_status: 'failed', ...words };
    }
    case 'failed': {
      const { code: reason_code, reason } = decision;
      const contact_status = decision.bounced ? 'bounced' : 'failed';
      return {
        ...row,
        status: 'failed',
        contact_status,
        reason_code,
        reason,
        failure_reason: reason,
      };
    }
    case 'blocked': {
      const contact_status = blockedStatus[decision.by];
      return { ...row, status: 'failed', contact_status, ...blockReasons[decision.by] };
    }
  }
}

/** The status of a contact whose mail was blocked after the claim; "responded" stays as it is. */
const blockedStatus = {
  unsubscribed: 'unsubscribed',
  bounced: 'bounced',
  answered: 'sent',
} as const;

/** The word for a decision in metrics and in the log. */
export function outcomeWord(decision: MailDecision) {
  if (decision.status === 'failed') return decision.bounced ? 'bounced' : 'failed';
  return decision.status === 'blocked' ? 'failed' : decision.status;
}
