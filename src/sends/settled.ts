import type { ClaimedMail, SettledMail } from './mailing.queries.ts';
import type { Settlement } from './rules.ts';

/** What is written of an attempt at a mail. */
export function settledMail(
  { id, org_id }: ClaimedMail,
  attempt: number,
  settlement: Settlement,
): SettledMail {
  const row = { id, org_id, attempt, reason: null, bounced: false };
  switch (settlement.status) {
    case 'sent':
      return { ...row, status: 'sent', contact_status: 'sent' };
    case 'again':
      return { ...row, status: 'claimed', contact_status: 'pending', reason: settlement.reason };
    case 'unknown':
      return { ...row, status: 'unknown', contact_status: 'failed', reason: settlement.reason };
    case 'failed': {
      const contact_status = settlement.bounced ? 'bounced' : 'failed';
      const { reason, bounced } = settlement;
      return { ...row, status: 'failed', contact_status, reason, bounced };
    }
  }
}

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

function outcomeOf(settlement: Settlement): Outcome {
  if (settlement.status === 'again') return 'retry';
  return settlement.status === 'failed' && settlement.bounced ? 'bounced' : settlement.status;
}
