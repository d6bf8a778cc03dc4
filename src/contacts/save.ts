import type { Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { Refusal } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { lockForContacts } from '../surveys/lifecycle.ts';
import { reopenSurvey } from '../surveys/queries.ts';
import { addressErased, isOfErased } from './erased.queries.ts';
import { newToken } from './many.queries.ts';
import { type ContactRow, type NewContact, saveContact } from './queries.ts';
import { complainOfProperties } from './rules.ts';

/** Adds one contact to a survey, or updates it. A survey that completed by itself is active again. */
export async function addContact(
  { db }: { db: Db },
  writer: Writer,
  input: Omit<NewContact, 'token'>,
): Promise<ContactRow> {
  return await inTransaction(db, async (tx) => {
    await lockForContacts(tx, { orgId: writer.orgId, surveyId: input.survey_id });
    const saved = await saveContact(tx, writer.orgId, { ...input, token: newToken() }).catch(
      (error: unknown) => {
        throw isOfErased(error) ? addressErased() : error;
      },
    );
    const { properties, added, ...contact } = saved;

    const complaint = complainOfProperties(properties);
    if (complaint) throw new Refusal('invalid', `properties: with those it has, ${complaint}`);
    if (added) await reopenSurvey(tx, writer.orgId, input.survey_id);
    const target = { kind: 'contact', id: contact.id };
    const details = { survey: input.survey_id, added };
    await recordAct(tx, { ...writer, act: 'contact.saved', target, details });
    return contact;
  });
}
