import type { ClaimedMail } from './mailing.queries.ts';
import { type KeptBack, reasonsToKeepBack, type Settlement } from './rules.ts';
import type { EndedMail, SettledMail } from './settling.queries.ts';

/** What an outcome makes of a mail's row and of its contact. */
export function settledMail(
  { id, org_id }: ClaimedMail,
  attempt: number,
  settlement: Settlement | { status: 'kept_back'; why: KeptBack },
): SettledMail {
  const row = { id, org_id, attempt, reason: null, reason_code: null, failure_reason: null };
  switch (settlement.status) {
    case 'sent':
      return { ...row, status: 'sent', contact_status: 'sent' };
    case 'again':
      return { ...row, status: 'claimed', contact_status: 'sending', reason: settlement.reason };
    case 'unknown': {
      const words = inWords('unknown_outcome', settlement.reason);
      return { ...row, status: 'unknown', contact_status: 'failed', ...words };
    }
    case 'failed': {
      const contact_status = settlement.bounced ? 'bounced' : 'failed';
      const words = inWords('refused', settlement.reason);
      return { ...row, status: 'failed', contact_status, ...words };
    }
    case 'kept_back': {
      const contact_status = meanwhile[settlement.why];
      return { ...row, status: 'failed', contact_status, ...reasonsToKeepBack[settlement.why] };
    }
  }
}

const inWords = (reason_code: string, reason: string) => ({
  ...{ reason_code, reason },
  failure_reason: reason,
});

/** What a contact has become whose mail waited too long; one that has answered stays "responded". */
const meanwhile = { unsubscribed: 'unsubscribed', bounced: 'bounced', answered: 'sent' } as const;

type Outcome = 'sent' | 'retry' | 'failed' | 'bounced' | 'unknown';
type Ended = {
  attempt: number;
  settlement: Settlement;
  ms: number;
  sinceMs: number;
  traceparent: string | null;
};

/** What is told of it. */
export function mailedFacts(mail: ClaimedMail, { settlement, ...ended }: Ended) {
  const { id: sendId, org_id: orgId, survey_id: surveyId } = mail;
  return { sendId, orgId, surveyId, ...ended, outcome: outcomeOf(settlement) };
}

/** What is told of a mail that ended without an attempt: given up after a crash, or cancelled. */
export const endedFacts = (mail: EndedMail, outcome: 'unknown' | 'failed') => ({
  ...{ orgId: mail.org_id, surveyId: mail.survey_id, sendId: mail.id, outcome },
  ...{ attempt: mail.attempts, ms: null, sinceMs: mail.claimed_ms_ago },
  traceparent: mail.traceparent,
});

function outcomeOf(settlement: Settlement): Outcome {
  if (settlement.status === 'again') return 'retry';
  return settlement.status === 'failed' && settlement.bounced ? 'bounced' : settlement.status;
}
