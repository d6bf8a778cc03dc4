import { type CheckedContact, checkContact } from '../contacts/rules.ts';

export type ReasonCode =
  | 'invalid_email'
  | 'invalid_contact'
  | 'repeated'
  | 'already_sent'
  | 'in_flight'
  | 'unknown_outcome'
  | 'unsubscribed'
  | 'bounced'
  | 'frequency';

export type Judgement =
  | { send: CheckedContact }
  | {
      status: 'invalid' | 'duplicate';
      reason_code: ReasonCode;
      reason: string;
      key: string | null;
    };

/** What is known about an address before it is mailed. */
export type Facts = {
  key: string;
  /** Its claim on this survey, unless that failed. */
  claim: 'claimed' | 'sending' | 'sent' | 'unknown' | null;
  mailed_or_answered: boolean;
  unsubscribed: boolean;
  bounced: boolean;
  /** When a survey of the organization last went to it, within the frequency rule's days. */
  recent_at: Date | null;
};

export type Submitted = {
  email: string;
  recipient: CheckedContact | null;
  complaint: string | null;
};

/** Reads one submitted contact. Whatever is wrong with it is told of it alone, not of the request. */
export function readContact(contact: unknown): Submitted {
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

/** Judges every submitted contact, in the order given; the first of several alike is the one that counts. */
export function judgeAll(
  submitted: readonly Submitted[],
  facts: ReadonlyMap<string, Facts>,
  frequencyDays: number | null,
): Judgement[] {
  const seen = new Set<string>();
  return submitted.map(({ recipient, complaint }) => {
    if (!recipient) return invalid(complaint);
    const repeated = seen.has(recipient.key);
    seen.add(recipient.key);
    if (repeated) {
      return duplicate('repeated', recipient.key, 'listed more than once in this request');
    }
    return judge(recipient, facts.get(recipient.key), frequencyDays);
  });
}

const invalid = (complaint: string | null): Judgement => ({
  status: 'invalid',
  reason_code: complaint ? 'invalid_contact' : 'invalid_email',
  reason: complaint ?? 'invalid or missing email address',
  key: null,
});

const duplicate = (reason_code: ReasonCode, key: string, reason: string): Judgement => ({
  status: 'duplicate',
  reason_code,
  reason,
  key,
});

function judge(
  recipient: CheckedContact,
  facts: Facts | undefined,
  days: number | null,
): Judgement {
  const { key } = recipient;
  if (!facts) return { send: recipient };
  if (facts.claim === 'sent') {
    return duplicate('already_sent', key, 'this survey was already sent to this address');
  }
  if (facts.claim === 'claimed' || facts.claim === 'sending') {
    return duplicate('in_flight', key, 'another request is sending this survey to this address');
  }
  if (facts.claim === 'unknown') return duplicate('unknown_outcome', key, unknownOutcome);
  if (facts.mailed_or_answered) return keepBack('answered', key);
  if (facts.unsubscribed) return keepBack('unsubscribed', key);
  if (facts.bounced) return keepBack('bounced', key);
  if (facts.recent_at) {
    const on = facts.recent_at.toISOString().slice(0, 10);
    const rule = `at most one survey in ${days} days`;
    return duplicate('frequency', key, `${rule}: this address was sent one on ${on}`);
  }
  return { send: recipient };
}

/** What may have happened to a contact before its mail left, and forbids it. */
export type KeptBack = 'unsubscribed' | 'bounced' | 'answered';

export const reasonsToKeepBack = {
  unsubscribed: {
    reason_code: 'unsubscribed',
    reason: 'this address has unsubscribed from your surveys',
  },
  bounced: {
    reason_code: 'bounced',
    reason: 'mail to this address bounced: the mailbox does not exist',
  },
  answered: {
    reason_code: 'already_sent',
    reason: 'this contact already has or answered this survey',
  },
} as const satisfies Record<KeptBack, { reason_code: ReasonCode; reason: string }>;

const reasonCodesToKeepBack: ReadonlySet<string> = new Set(
  Object.values(reasonsToKeepBack).map(({ reason_code }) => reason_code),
);

/** Whether a failed mail was not sent because of a rule: a duplicate then, as if judged before. */
export const wasKeptBack = (reasonCode: string | null) =>
  reasonCode !== null && reasonCodesToKeepBack.has(reasonCode);

function keepBack(why: KeptBack, key: string) {
  const { reason_code, reason } = reasonsToKeepBack[why];
  return duplicate(reason_code, key, reason);
}

export const unknownOutcome =
  'the outcome of an earlier attempt is unknown: it may have arrived, so it is not sent again';

/** What the mail server said to one message. */
export type MailOutcome =
  | { kind: 'accepted'; response: string }
  | { kind: 'permanent'; response: string; unknownMailbox: boolean }
  | { kind: 'transient'; response: string }
  | { kind: 'unknown'; response: string };

export type Settlement =
  | { status: 'sent' }
  | { status: 'again'; inMs: number; reason: string }
  | { status: 'failed'; reason: string; bounced: boolean }
  | { status: 'unknown'; reason: string };

const retriesAfterMs = [1000, 4000];

/** What an outcome means after so many attempts, this one included, with so much time left for others. */
export function settle(outcome: MailOutcome, attempts: number, remainingMs: number): Settlement {
  if (outcome.kind === 'accepted') return { status: 'sent' };
  if (outcome.kind === 'unknown') {
    return { status: 'unknown', reason: `${unknownOutcome} (${outcome.response})` };
  }
  if (outcome.kind === 'permanent') {
    return { status: 'failed', reason: outcome.response, bounced: outcome.unknownMailbox };
  }
  const inMs = retriesAfterMs[attempts - 1];
  if (inMs === undefined || inMs > remainingMs)
    return { status: 'failed', reason: outcome.response, bounced: false };
  return { status: 'again', inMs, reason: outcome.response };
}
