import { replaceContactTargets } from '../../audit/erase.queries.ts';
import {
  countTakenAlong,
  deleteContacts,
  deleteUploadsNaming,
  type ErasedContact,
  hideInContacts,
  listContactsNaming,
  listContactsOf,
  lockContacts,
} from '../../contacts/erase.queries.ts';
import { deleteAnswers } from '../../keys/erase-answers.queries.ts';
import type { Sql } from '../../lib/db/db.ts';
import { deleteMessagesById } from '../../mailbox/erase.queries.ts';
import {
  deleteNotesAbout,
  deleteResponses,
  type ErasedResponse,
  hideAddress,
  lockResponsesOf,
  makeAnonymous,
} from '../../responses/erase.queries.ts';
import { deleteBlockedMailsOf, giveBackClaims, lockMailsOf } from '../../sends/erase.queries.ts';
import { deleteAnalyses } from '../../summaries/erase.queries.ts';
import { removeQuotes } from '../../summaries/erase.ts';
import { deleteSuppressionsOf } from '../../suppressions/erase.queries.ts';
import { completeIfAnswered } from '../../surveys/lifecycle.ts';
import { eraseBodiesOf } from '../../webhooks/erase.queries.ts';
import type { Copies } from './copies.ts';
import type { ErasureCounts } from './counts.ts';
import { lockMonthsOf, lockSurveysOf } from './lookup.queries.ts';
import { beginErasure } from './queries.ts';

export type RowsToErase = {
  /** The address in lower case. */
  key: string;
  hash: string;
  scores: 'kept' | 'deleted';
  copies: Copies;
  /** Only what was there before then; without a time everything. */
  before: Date | null;
};

/**
 * Erases the rows of an address and counts them. Locks are taken in the order of all others: months, what adds
 * contacts, surveys, mails, contacts.
 */
export async function eraseRows(tx: Sql, orgId: string, wish: RowsToErase): Promise<ErasureCounts> {
  const { key, hash, before, copies } = wish;
  await lockMonthsOf(tx, orgId);
  await beginErasure(tx, orgId);
  const contacts = await listContactsOf(tx, { orgId, key, before });
  const contactIds = contacts.map(({ id }) => id);
  const surveyIds = [...new Set(contacts.map(({ survey_id }) => survey_id))];
  await lockSurveysOf(tx, orgId, surveyIds);
  await lockMailsOf(tx, orgId, contactIds);
  const naming = await listContactsNaming(tx, { orgId, key, before });
  await lockContacts(tx, orgId, [...contactIds, ...naming]);

  const written = await eraseWritten(tx, orgId, { ...wish, contactIds });
  const taken = await countTakenAlong(tx, orgId, contactIds);
  await giveBackClaims(tx, orgId, contactIds);
  const counts: ErasureCounts = {
    ...taken,
    ...written,
    contacts: await deleteContacts(tx, orgId, contactIds),
    properties: await hideInContacts(tx, orgId, { key, ids: naming }),
    blocked_mails: await deleteBlockedMailsOf(tx, orgId, { key, before }),
    suppressions: await deleteSuppressionsOf(tx, orgId, { key, before }),
    uploads: await deleteUploadsNaming(tx, orgId, key),
    stored_answers: await deleteAnswers(tx, orgId, copies.answers),
    mailbox_messages: await deleteMessagesById(tx, copies.messages),
    audit_events: await replaceContactTargets(tx, orgId, { contactIds, hash }),
  };
  for (const surveyId of surveyIds) await completeIfAnswered(tx, { orgId }, surveyId);
  return counts;
}

/** Whether nothing was known of an address. */
export const isNothing = (counts: ErasureCounts) =>
  Object.values(counts).every((count) => count === 0);

type Written = Pick<
  ErasureCounts,
  'responses' | 'comments' | 'notes' | 'analyses' | 'summaries' | 'deliveries'
>;

/** What the person wrote, and what was made of it. */
async function eraseWritten(
  tx: Sql,
  orgId: string,
  { key, scores, before, contactIds }: RowsToErase & { contactIds: ErasedContact['id'][] },
): Promise<Written> {
  const responses = await lockResponsesOf(tx, orgId, { contactIds, key, before });
  const ids = responses.map(({ id }) => id);
  const derived = await eraseDerived(tx, orgId, responses);
  if (scores === 'deleted') await deleteResponses(tx, orgId, ids);
  else await makeAnonymous(tx, orgId, ids);
  const own = responses.filter(({ comment }) => comment !== null).length;
  const named = await hideAddress(tx, orgId, { key, before });
  return { ...derived, responses: ids.length, comments: own + named };
}

/** What was made of responses: notes, analyses, quotes and excerpts. */
export async function eraseDerived(tx: Sql, orgId: string, responses: readonly ErasedResponse[]) {
  const ids = responses.map(({ id }) => id);
  return {
    notes: await deleteNotesAbout(tx, orgId, ids),
    analyses: await deleteAnalyses(tx, orgId, ids),
    ...(await eraseQuoted(tx, orgId, responses)),
  };
}

/** Quotes in summaries, and excerpts in kept deliveries. */
async function eraseQuoted(tx: Sql, orgId: string, responses: readonly ErasedResponse[]) {
  const commented = responses.filter(({ comment }) => comment !== null);
  let summaries = 0;
  for (const { comment, created_at } of commented) {
    summaries += await removeQuotes(tx, orgId, { comment: comment ?? '', created_at });
  }
  const responseIds = commented.map(({ id }) => id);
  const since = new Date(Math.min(...commented.map(({ created_at }) => created_at.getTime())));
  const deliveries =
    responseIds.length === 0 ? 0 : await eraseBodiesOf(tx, orgId, { responseIds, since });
  return { summaries, deliveries };
}
