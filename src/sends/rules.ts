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
  | 'erased'
  | 'frequency';

export type Judgement = { send: CheckedContact } | BlockedContact;

export type BlockedContact = {
  status: 'invalid' | 'duplicate';
  reason_code: ReasonCode;
  reason: string;
  key: string | null;
};

/** What is known about an address before it is mailed. */
export type AddressFacts = {
  key: string;
  /** Its claim on this survey, unless that failed. */
  claim: 'claimed' | 'sending' | 'sent' | 'unknown' | null;
  mailed_or_answered: boolean;
  unsubscribed: boolean;
  bounced: boolean;
  /** Whether its person was erased. */
  erased: boolean;
  /** When a survey of the organization last went to it, within the frequency rule's days. */
  recent_at: Date | null;
};

export type SubmittedContact = {
  email: string;
  recipient: CheckedContact | null;
  complaint: string | null;
};

/** Reads one submitted contact. What is wrong with it makes this contact invalid, not the request. */
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

/** Judges every submitted contact, in the order given; of several with one address the first counts. */
export function judgeAll(
  submitted: readonly SubmittedContact[],
  facts: ReadonlyMap<string, AddressFacts>,
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
  facts: AddressFacts | undefined,
  days: number | null,
): Judgement {
  const { key } = recipient;
  if (!facts) return { send: recipient };
  if (facts.erased) return block('erased', key);
  if (facts.claim === 'sent') {
    return duplicate('already_sent', key, 'this survey was already sent to this address');
  }
  if (facts.claim === 'claimed' || facts.claim === 'sending') {
    return duplicate('in_flight', key, 'another request is sending this survey to this address');
  }
  if (facts.claim === 'unknown') return duplicate('unknown_outcome', key, unknownOutcome);
  if (facts.mailed_or_answered) return block('answered', key);
  if (facts.unsubscribed) return block('unsubscribed', key);
  if (facts.bounced) return block('bounced', key);
  if (facts.recent_at) {
    const on = facts.recent_at.toISOString().slice(0, 10);
    const rule = `at most one survey in ${days} days`;
    return duplicate('frequency', key, `${rule}: this address was sent one on ${on}`);
  }
  return { send: recipient };
}

/** What keeps a mail from going out, if it happens to its contact before the mail leaves. */
export type BlockReason = 'unsubscribed' | 'bounced' | 'answered';

export const blockReasons = {
  unsubscribed: {
    reason_code: 'unsubscribed',
    reason: 'this address has unsubscribed from your surveys',
  },
  bounced: {
    reason_code: 'bounced',
    reason: 'mail to this address bounced: the mailbox does not exist',
  },
  erased: {
    reason_code: 'erased',
    reason: 'the person of this address was erased: nothing is sent to it',
  },
  answered: {
    reason_code: 'already_sent',
    reason: 'this contact already has or answered this survey',
  },
} as const satisfies Record<BlockReason | 'erased', { reason_code: ReasonCode; reason: string }>;

const blockReasonCodes: ReadonlySet<string> = new Set(
  Object.values(blockReasons).map(({ reason_code }) => reason_code),
);

/** Contacts of persons who were erased are not even saved. */
export const isErased = (judgement: Judgement): judgement is BlockedContact =>
  !('send' in judgement) && judgement.reason_code === 'erased';

/** Whether a mail failed because a rule blocked it: then it counts as a duplicate, as if judged before. */
export const wasBlocked = (reasonCode: string | null) =>
  reasonCode !== null && blockReasonCodes.has(reasonCode);

function block(by: keyof typeof blockReasons, key: string) {
  const { reason_code, reason } = blockReasons[by];
  return duplicate(reason_code, key, reason);
}

export const unknownOutcome =
  'the outcome of an earlier attempt is unknown: it may have arrived, so it is not sent again';
