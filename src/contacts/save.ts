import { recordAct, type Writer } from '../audit/acts.ts';
import { notFound, Refusal } from '../errors.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { maxPropertiesBytes } from '../limits.ts';
import { completeIfAnswered, lockForContacts } from '../surveys/lifecycle.ts';
import { lockSurvey, type OrgSurvey, reopenSurvey } from '../surveys/queries.ts';
import { addressErased, violatesErasure } from './erase.ts';
import { type ContactToSave, listLargeMerges, saveContacts } from './queries.ts';
import { type CheckedContact, validateProperties } from './rules.ts';

type NewContact = Omit<ContactToSave, 'status' | 'sent_at' | 'responded_at' | 'created_at'> & {
  survey_id: string;
};

export async function addContact(
  { db }: { db: Db },
  writer: Writer,
  { survey_id: surveyId, ...input }: NewContact,
) {
  const survey = { orgId: writer.orgId, surveyId };
  return await inTransaction(db, async (tx) => {
    await lockForContacts(tx, survey);
    const [saved] = await saveContacts(tx, survey, [input]).catch((error: unknown) => {
      throw violatesErasure(error) ? addressErased() : error;
    });
    const { key: _key, token: _token, properties, added, ...contact } = saved!;
    const complaint = validateProperties(properties);
    if (complaint)
      throw new Refusal('invalid', `properties: together with the existing ones, ${complaint}`);
    if (added) await reopenSurvey(tx, writer.orgId, surveyId);
    const target = { kind: 'contact', id: contact.id };
    const details = { survey: surveyId, added };
    await recordAct(tx, { ...writer, act: 'contact.saved', target, details });
    return contact;
  });
}

/**
 * Checks the properties that contacts would have after the merge, and returns the errors by contact key. The survey
 * must be locked until the contacts are saved.
 */
export async function validateMerges(
  tx: Sql,
  survey: OrgSurvey,
  contacts: readonly CheckedContact[],
): Promise<ReadonlyMap<string, string>> {
  const additions = contacts
    .filter(({ properties }) => Object.keys(properties).length > 0)
    .map(({ key, properties }) => ({ key, properties }));
  if (additions.length === 0) return new Map();
  const merges = await listLargeMerges(tx, survey, additions, maxPropertiesBytes);
  const complaints = merges.flatMap(({ key, properties }) => {
    const complaint = validateProperties(properties);
    return complaint ? [[key, `together with the existing ones, ${complaint}`] as const] : [];
  });
  return new Map(complaints);
}

/**
 * Deletes a contact with its mails and answers. This may complete the survey. Refuses a contact whose mail is in
 * flight, because the outcome could not be recorded.
 */
export async function deleteContact({ db }: { db: Db }, { orgId, actor }: Writer, id: string) {
  await inTransaction(db, async (tx) => {
    const [contact] = await tx<{ survey_id: string }[]>`
      select survey_id from contacts where org_id = ${orgId} and id = ${id}`;
    if (!contact) throw notFound('contact');
    const { survey_id: surveyId } = contact;
    await lockSurvey(tx, orgId, surveyId);
    // Keeps a send from claiming the contact.
    await tx`select from contacts where org_id = ${orgId} and id = ${id} for update`;
    const inFlight = await tx`
      select
      from mails
      where org_id = ${orgId} and contact_id = ${id} and status in ('claimed', 'sending')
      limit 1`;
    if (inFlight.length > 0) {
      throw new Refusal('conflict', 'an email to this contact is being sent: try again later', {
        code: 'contact_in_flight',
      });
    }
    const { count } = await tx`delete from contacts where org_id = ${orgId} and id = ${id}`;
    if (count === 0) throw notFound('contact');
    await completeIfAnswered(tx, { orgId }, surveyId);
    const target = { kind: 'contact', id };
    const details = { survey: surveyId };
    await recordAct(tx, { orgId, actor, act: 'contact.deleted', target, details });
  });
}
