import type { Sql } from '../lib/db/db.ts';
import { type Judgement, readContact } from '../sends/rules.ts';
import type { OrgSurvey } from '../surveys/queries.ts';
import { listReminderFacts, type ReminderFacts } from './by-itself.queries.ts';
import type { AskableContact } from './judge.queries.ts';
import type { JudgedContact } from './judge.ts';

/** Whether contacts may still be reminded, and of which mail. The frequency rule does not count reminders. */
export async function judgeReminded(
  sql: Sql,
  survey: OrgSurvey,
  contacts: readonly AskableContact[],
) {
  const facts = await listReminderFacts(
    sql,
    survey,
    contacts.map(({ id }) => id),
  );
  const byContact = new Map(facts.map((each) => [each.contact_id, each]));
  const judged = contacts.map((contact): JudgedContact => {
    return { ...contact, judgement: judge(contact, byContact.get(contact.id)) };
  });
  const mailOf = new Map(facts.map(({ contact_id, mail_id }) => [contact_id, mail_id]));
  return { judged, mailOf };
}

function judge({ email, key }: AskableContact, facts: ReminderFacts | undefined): Judgement {
  const { recipient } = readContact({ email });
  const blocked = (reason_code: 'already_sent' | 'unsubscribed' | 'bounced', reason: string) =>
    ({ status: 'duplicate', reason_code, reason, key }) as const;
  if (!facts || !recipient) return blocked('already_sent', 'the first mail did not arrive');
  if (facts.answered) return blocked('already_sent', 'this contact has answered');
  if (facts.suppressed === 'unsubscribed') {
    return blocked('unsubscribed', 'this address has unsubscribed from your surveys');
  }
  if (facts.suppressed) return blocked('bounced', 'mail to this address bounced');
  return { send: recipient };
}
