import { type CheckedContact, checkContact } from '../contacts/rules.ts';
import type { MailOutcome } from '../lib/smtp/connection.ts';

/** Result of beginning an email: its attempt, or why it may not be sent. `withdrawn` means no longer claimed. */
export type Beginning = { attempt: number } | { blocked: BlockReason } | 'late' | 'withdrawn';

export type MailAttempt = { outcome: MailOutcome; beginning: Beginning | undefined };

export type MailDecision =
  | { status: 'sent'; response: string }
  | { status: 'retry'; inMs: number; reason: string }
  /** Another job tries again. */
  | { status: 'deferred'; reason: string }
  | { status: 'failed'; code: 'refused' | 'deadline'; reason: string; bounced: boolean }
  | { status: 'blocked'; by: BlockReason }
  | { status: 'unknown'; reason: string };

const retriesAfterMs = [1000, 4000];

export const deadlineReason = 'not sent before the deadline of the request';

const hourMs = 60 * 60 * 1000;
/** Retry window of an email that no request waits for, while the server cannot be reached. */
export const maxMailAgeMs = 24 * hourMs;
/** Retry window while the server refuses the email temporarily. */
const maxRefusedMs = 4 * hourMs;

/**
 * Decides what follows from an attempt. `ageMs` is the time since the claim, or null if a request waits for the email.
 * With `refusesAll` the server refuses every email of the survey, so emails wait instead of failing.
 */
export function decide(
  { outcome, beginning }: MailAttempt,
  {
    tries,
    triesOfJob = tries,
    remainingMs,
    ageMs,
    refusesAll = false,
  }: {
    tries: number;
    triesOfJob?: number;
    remainingMs: number;
    ageMs: number | null;
    refusesAll?: boolean;
  },
): MailDecision {
  if (hasBlock(beginning)) return { status: 'blocked', by: beginning.blocked };
  if (outcome.kind === 'accepted') return { status: 'sent', response: outcome.response };
  if (outcome.kind === 'unknown') return { status: 'unknown', reason: outcome.reason };
  const inMs = retriesAfterMs[tries - 1];
  const mayRetry = inMs !== undefined && inMs <= remainingMs;
  if (outcome.kind === 'refused' && outcome.permanent) {
    const { about, response, unknownMailbox } = outcome;
    const reason = refusesAll ? reasonForAll(outcome) : response;
    const mayWait = ageMs !== null && ageMs < maxMailAgeMs;
    if (refusesAll && mayWait) return { status: 'deferred', reason };
    // The retry shows whether the policy rejects every email or only this email. Each job finds out again.
    const soonMs = retriesAfterMs[triesOfJob - 1];
    if (about === 'policy' && mayWait && soonMs !== undefined && soonMs <= remainingMs) {
      return { status: 'retry', inMs: soonMs, reason };
    }
    return failed('refused', reason, unknownMailbox);
  }
  const triedForMs = outcome.kind === 'refused' ? maxRefusedMs : maxMailAgeMs;
  const mayBePutOff = ageMs !== null && ageMs < triedForMs;
  const isOver = remainingMs <= 0 || beginning === 'late';
  if (isOver && !hasBegun(beginning)) {
    return mayBePutOff
      ? { status: 'deferred', reason: deadlineReason }
      : failed('deadline', deadlineReason);
  }
  const reason = outcome.kind === 'refused' ? outcome.response : outcome.reason;
  if (!mayRetry) {
    return mayBePutOff ? { status: 'deferred', reason } : failed('refused', reason);
  }
  return { status: 'retry', inMs, reason };
}

export function reasonForAll(outcome: MailOutcome): string {
  if (outcome.kind !== 'refused' || !outcome.permanent) return '';
  const { about, response } = outcome;
  if (about === 'server') return `the mail server refuses the connection or login: ${response}`;
  const what = about === 'sender' ? 'the sender of this survey' : 'the emails of this survey';
  return `the mail server refuses ${what}: ${response}`;
}

const [firstMails, laterMails] = [3, 10];

/**
 * Detects that the server refuses all emails of a survey: by its reply, or when its policy rejects the first three, or
 * ten in a row after others were accepted.
 */
export function createRefusalWatch() {
  let hasAccepted = false;
  const refused = new Set<string>();
  return ({ id }: { id: string }, outcome: MailOutcome): boolean => {
    if (outcome.kind === 'accepted') {
      hasAccepted = true;
      refused.clear();
    }
    if (outcome.kind !== 'refused' || !outcome.permanent) return false;
    if (outcome.about !== 'policy') return outcome.about !== 'mail';
    return refused.add(id).size >= (hasAccepted ? laterMails : firstMails);
  };
}

/** Delay before a deferred email is tried again: half of its age, up to five minutes. */
export const deferralMs = (ageMs: number) => Math.min(Math.max(ageMs / 2, 1000), 300_000);

/** Sending stops this long before the deadline of a waiting request. */
const marginMs = 1000;

type MailAge = { awaited: boolean; claimed_ms_ago: number };

/**
 * Returns the milliseconds that a job has for its emails: the time until the deadline if a request waits for them,
 * otherwise the whole time. A request past its deadline has died with its process.
 */
export function mailTime(mail: MailAge | undefined, deadlineMs: number): number {
  const leftMs = mail?.awaited ? deadlineMs - mail.claimed_ms_ago : deadlineMs;
  const remainingMs = leftMs > 0 ? leftMs : deadlineMs;
  return Math.max(remainingMs - marginMs, remainingMs / 2);
}

export const hasBegun = (beginning: Beginning | undefined): beginning is { attempt: number } =>
  typeof beginning === 'object' && 'attempt' in beginning;

const hasBlock = (beginning: Beginning | undefined): beginning is { blocked: BlockReason } =>
  typeof beginning === 'object' && 'blocked' in beginning;

const failed = (code: 'refused' | 'deadline', reason: string, bounced = false): MailDecision => ({
  status: 'failed',
  code,
  reason,
  bounced,
});

export type OutcomeRow = {
  id: string;
  org_id: string;
  attempt: number;
  status: 'sent' | 'failed' | 'unknown' | 'claimed';
  reason: string | null;
  reason_code: string | null;
  /** Reply of the server that accepted the email. */
  server_reply?: string | null;
  /** Null leaves the contact unchanged. */
  contact_status: 'sending' | 'sent' | 'failed' | 'bounced' | 'unsubscribed' | null;
  /** Null if a rule blocked the email. */
  failure_reason: string | null;
};

type Attempted = { id: string; org_id: string; attempt: number; reminder: number };

/** A reminder changes its contact only if it bounces, because the contact already has the survey. */
export function toRow(mail: Attempted, decision: MailDecision): OutcomeRow {
  const { id, org_id, attempt, reminder } = mail;
  const row = { id, org_id, attempt, ...noReason, ...outcomeOf(decision) };
  if (reminder === 0 || row.contact_status === 'bounced') return row;
  return { ...row, contact_status: null, failure_reason: null };
}

const noReason = { reason: null, reason_code: null, server_reply: null, failure_reason: null };

type Outcome = Pick<OutcomeRow, 'status' | 'contact_status'> & Partial<OutcomeRow>;

function outcomeOf(decision: MailDecision): Outcome {
  switch (decision.status) {
    case 'sent':
      return { status: 'sent', contact_status: 'sent', server_reply: decision.response };
    case 'retry':
    case 'deferred':
      return { status: 'claimed', contact_status: 'sending', reason: decision.reason };
    case 'unknown': {
      const reason = `${unknownOutcome} (${decision.reason})`;
      const why = { reason, reason_code: 'unknown_outcome', failure_reason: reason };
      return { status: 'unknown', contact_status: 'failed', ...why };
    }
    case 'failed': {
      const { code: reason_code, reason, bounced } = decision;
      const contact_status = bounced ? 'bounced' : 'failed';
      return { status: 'failed', contact_status, reason_code, reason, failure_reason: reason };
    }
    case 'blocked': {
      const contact_status = blockedStatus[decision.by];
      return { status: 'failed', contact_status, ...blockReasons[decision.by] };
    }
  }
}

/** Status of a contact whose email was blocked after the claim. The update never overwrites `responded`. */
const blockedStatus = {
  unsubscribed: 'unsubscribed',
  bounced: 'bounced',
  answered: 'sent',
} as const;

export function outcomeWord(decision: MailDecision) {
  if (decision.status === 'failed') return decision.bounced ? 'bounced' : 'failed';
  if (decision.status === 'deferred') return 'retry';
  return decision.status === 'blocked' ? 'failed' : decision.status;
}

export type ReasonCode =
  | 'invalid_email'
  | 'invalid_contact'
  | 'repeated'
  | 'already_sent'
  | 'in_flight'
  | 'unknown_outcome'
  | 'unsubscribed'
  | 'bounced'
  | 'erased'
  | 'frequency';

type BlockedContact = {
  status: 'invalid' | 'duplicate';
  reason_code: ReasonCode;
  reason: string;
  key: string | null;
};
/** `isDue` marks a contact whose next round begins with the email. */
export type Judgement = { send: CheckedContact; isDue?: true } | BlockedContact;

export type AddressFacts = {
  key: string;
  claim: 'claimed' | 'sending' | 'sent' | 'unknown' | null;
  mailed_or_answered: boolean;
  /** True if the next round of the contact is due. */
  is_due: boolean;
  suppressed: 'unsubscribed' | 'bounced' | null;
  erased: boolean;
  recent_at: Date | null;
};

export type SubmittedContact = {
  email: string;
  recipient: CheckedContact | null;
  complaint: string | null;
};

/** Reads one submitted contact. A mistake makes this contact invalid, not the request. */
export function readContact(contact: unknown): SubmittedContact {
  const fields = typeof contact === 'object' && contact !== null ? contact : {};
  const { email } = fields as { email?: unknown };
  const submitted = typeof email === 'string' ? email : '';
  const checked = checkContact(fields);
  if (!('complaint' in checked)) return { email: submitted, recipient: checked, complaint: null };
  const { field, complaint } = checked;
  return {
    email: submitted,
    recipient: null,
    complaint: field === 'email' ? null : `${field} ${complaint}`,
  };
}

/** Evaluates contacts in their order. An address that is listed twice counts the first time. */
export function judgeAll(
  submitted: readonly SubmittedContact[],
  facts: ReadonlyMap<string, AddressFacts>,
  frequencyDays: number | null,
): Judgement[] {
  const seen = new Set<string>();
  return submitted.map(({ recipient, complaint }) => {
    if (!recipient) {
      return {
        status: 'invalid',
        reason_code: complaint ? 'invalid_contact' : 'invalid_email',
        reason: complaint ?? 'invalid or missing email address',
        key: null,
      };
    }
    const repeated = seen.has(recipient.key);
    seen.add(recipient.key);
    if (repeated) {
      return duplicate('repeated', recipient.key, 'listed more than once in this request');
    }
    return judge(recipient, facts.get(recipient.key), frequencyDays);
  });
}

const duplicate = (reason_code: ReasonCode, key: string, reason: string): Judgement => ({
  status: 'duplicate',
  reason_code,
  reason,
  key,
});

function judge(
  recipient: CheckedContact,
  facts: AddressFacts | undefined,
  days: number | null,
): Judgement {
  const { key } = recipient;
  if (!facts) return { send: recipient };
  if (facts.erased) return block('erased', key);
  const { is_due: isDue } = facts;
  const asked = isDue ? undefined : reasonOfRound(facts);
  if (asked) return asked;
  if (facts.suppressed) return block(facts.suppressed, key);
  if (facts.recent_at) {
    const on = facts.recent_at.toISOString().slice(0, 10);
    const rule = `at most one survey in ${days} days`;
    return duplicate('frequency', key, `${rule}: the last one was sent on ${on}`);
  }
  return isDue ? { send: recipient, isDue } : { send: recipient };
}

/** Returns why a contact that was already asked in this round gets no email. */
function reasonOfRound({ key, claim, mailed_or_answered }: AddressFacts): Judgement | undefined {
  if (claim === 'sent') {
    return duplicate('already_sent', key, 'this survey was already sent to this address');
  }
  if (claim === 'claimed' || claim === 'sending') {
    return duplicate(inFlight.reason_code, key, inFlight.reason);
  }
  if (claim === 'unknown') return duplicate('unknown_outcome', key, unknownOutcome);
  return mailed_or_answered ? block('answered', key) : undefined;
}

/** Events that block an email if they happen to its contact between the claim and the first byte. */
export type BlockReason = 'unsubscribed' | 'bounced' | 'answered';

export const blockReasons = {
  unsubscribed: {
    reason_code: 'unsubscribed',
    reason: 'this address has unsubscribed from your surveys',
  },
  bounced: {
    reason_code: 'bounced',
    reason: 'email to this address bounced: the mailbox does not exist',
  },
  erased: {
    reason_code: 'erased',
    reason: 'this person was erased',
  },
  answered: {
    reason_code: 'already_sent',
    reason: 'this contact already received or answered this survey',
  },
} as const satisfies Record<BlockReason | 'erased', { reason_code: ReasonCode; reason: string }>;

export const blockReasonCodes: readonly string[] = Object.values(blockReasons).map(
  ({ reason_code }) => reason_code,
);

export const isErased = (judgement: Judgement): judgement is BlockedContact =>
  !('send' in judgement) && judgement.reason_code === 'erased';

/** A mail that a rule blocked after the claim counts as a duplicate, as if the rule had blocked it before the claim. */
export const wasBlocked = (reasonCode: string | null) =>
  reasonCode !== null && blockReasonCodes.includes(reasonCode);

function block(by: keyof typeof blockReasons, key: string) {
  const { reason_code, reason } = blockReasons[by];
  return duplicate(reason_code, key, reason);
}

export const inFlight = {
  reason_code: 'in_flight',
  reason: 'another request is sending this survey to this address',
} as const;

export const unknownOutcome = 'an earlier attempt may have been delivered, so it is not sent again';
