import type { Sql } from '../lib/db/db.ts';
import { judgeContacts } from '../sends/claim.ts';
import { type Judgement, readContact } from '../sends/rules.ts';
import type { OrgSurvey } from '../surveys/queries.ts';
import { type AskableContact, listAskable } from './judge.queries.ts';

const judgedAtOnce = 5000;

export type JudgedContact = AskableContact & { judgement: Judgement };

/** Judges every contact of a survey that is still to be asked, so many at a time: memory stays flat. */
export async function* judgeAskable(sql: Sql, survey: OrgSurvey, frequencyDays: number | null) {
  for (let after = ''; ; ) {
    const contacts = await listAskable(sql, survey, { after, atMost: judgedAtOnce });
    if (contacts.length === 0) return;
    yield await judgeSome(sql, survey, { contacts, frequencyDays });
    if (contacts.length < judgedAtOnce) return;
    after = contacts.at(-1)!.key;
  }
}

type Some = { contacts: readonly AskableContact[]; frequencyDays: number | null };

/** By the rules of a send. */
export async function judgeSome(
  sql: Sql,
  survey: OrgSurvey,
  { contacts, frequencyDays }: Some,
): Promise<JudgedContact[]> {
  const submitted = contacts.map(({ email }) => readContact({ email }));
  const judgements = await judgeContacts(sql, survey, { submitted, frequencyDays });
  return contacts.map((contact, place) => ({ ...contact, judgement: judgements[place]! }));
}
