import type { Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { notFound, Refusal } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { completeIfAnswered } from '../surveys/lifecycle.ts';
import { lockSurvey } from '../surveys/queries.ts';
import { deleteContactRow, findContactSurvey, isBeingMailed } from './delete.queries.ts';

/**
 * Deletes a contact with its mails and its answers. A survey may complete by it: all that are left have answered.
 * While a mail to it is in flight it stays, because its outcome could be recorded nowhere.
 */
export async function deleteContact({ db }: { db: Db }, { orgId, actor }: Writer, id: string) {
  await inTransaction(db, async (tx) => {
    const surveyId = await findContactSurvey(tx, orgId, id);
    if (!surveyId) throw notFound('contact');
    await lockSurvey(tx, orgId, surveyId);
    if (await isBeingMailed(tx, orgId, id)) throw beingMailed();
    if (!(await deleteContactRow(tx, orgId, id))) throw notFound('contact');
    await completeIfAnswered(tx, { orgId }, surveyId);
    const target = { kind: 'contact', id };
    const details = { survey: surveyId };
    await recordAct(tx, { orgId, actor, act: 'contact.deleted', target, details });
  });
}

const beingMailed = () =>
  new Refusal('conflict', 'a mail to this contact is on its way: try again when it has arrived', {
    code: 'contact_in_flight',
  });
