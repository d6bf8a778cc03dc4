import type { Db } from '../lib/db/db.ts';
import { type ClaimedMail, listUnsettled, listWritten, type Unsettled } from './mailing.queries.ts';
import { giveUp } from './settling.ts';

/** A job's mails that are still to go out, and the requests that wait for any of its mails. */
export async function takeInHand(db: Db, orgId: string, sendIds: readonly string[]) {
  const unsettled = await listUnsettled(db, orgId, sendIds);
  if (unsettled.some(({ status }) => status === 'sending')) await giveUp(db, orgId, sendIds);
  const claimed = unsettled.filter(({ status }) => status === 'claimed');
  const requestIds = unsettled.map(({ request_id }) => request_id);
  return { mails: await withWords(db, orgId, claimed), requestIds };
}

/** Mails of one survey share its words, as one object. */
async function withWords(db: Db, orgId: string, mails: readonly Unsettled[]) {
  const surveys = [...new Set(mails.map(({ survey_id }) => survey_id))];
  const words = surveys.length > 0 ? await listWritten(db, orgId, surveys) : [];
  const ofSurvey = new Map(words.map(({ survey_id, ...each }) => [survey_id, each]));
  return mails.flatMap((mail): ClaimedMail[] => {
    const words = ofSurvey.get(mail.survey_id);
    return words ? [{ ...mail, ...words }] : [];
  });
}
