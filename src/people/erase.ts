import { commandWriter, recordAct, type Writer } from '../audit/acts.ts';
import { replaceContactTargets } from '../audit/queries.ts';
import { hideInCampaigns } from '../campaigns/queries.ts';
import {
  countDependents,
  deleteContacts,
  deleteUploadsMentioning,
  hideInContacts,
  listContactsMentioning,
  listContactsOf,
  listErased,
  lockContacts,
} from '../contacts/erase.ts';
import { notFound } from '../errors.ts';
import { deleteImportsMentioning } from '../importers/queries.ts';
import { enqueue } from '../jobs.ts';
import { type AnswerName, deleteAnswers, findAnswers } from '../keys/idempotency.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import { type Db, inRetriedTransaction, inTransaction, type Sql } from '../lib/db/db.ts';
import { addressKey, addressPattern } from '../lib/smtp/address.ts';
import { deleteMessagesById, deleteMessagesToErased, findMessages } from '../mailbox/mailbox.ts';
import { eraseWords, hideInAnswers } from '../questions/erase.ts';
import { deleteRepliesTo, hideInReplies } from '../replies/queries.ts';
import {
  deleteNotesAbout,
  deleteResponses,
  type ErasedResponse,
  hideAddress,
  hideInProperties,
  lockResponsesOf,
  makeAnonymous,
} from '../responses/erase.ts';
import { deleteViewsMentioning } from '../responses/views.ts';
import { deleteBlockedMailsTo, giveBackClaims, lockContactMails } from '../sends/queries.ts';
import { removeQuotes } from '../summaries/erase.ts';
import { deleteAnalyses } from '../summaries/queries.ts';
import { deleteSuppressionsOf, hideInConsents } from '../suppressions/queries.ts';
import { completeIfAnswered } from '../surveys/lifecycle.ts';
import { hideInRounds } from '../surveys/queries.ts';
import { eraseBodiesOf } from '../webhooks/retention.ts';
import {
  allowErased,
  beginErasure,
  deletePerson,
  type ErasureReceipt,
  findErasure,
  hashAddress,
  hideInPeople,
  hideInSegments,
  insertErasure,
  insertFiled,
  listAddressesOf,
  listOrganizationsOf,
  listWrittenIds,
  lockMonthsOf,
  lockSurveysOf,
} from './erase.queries.ts';
import { type ErasureFile, type FiledErasure, fileErasures } from './receipts-file.ts';

/** A request that runs during the erasure ends within this time. */
const finishMarginSeconds = 60;

export type EraseTools = {
  db: Db;
  secrets: Secrets;
  settings: { sendDeadlineSeconds: number };
  erasureFile: ErasureFile;
};

type ErasureRequest = { email: string; scores: 'kept' | 'deleted' };

/**
 * Erases a person: deletes or anonymizes everything about an address, in one transaction with the receipt. A keyed hash
 * keeps the address blocked. Erasing again returns the receipt in force.
 */
export async function erasePerson(
  tools: EraseTools,
  writer: Writer,
  { email, scores }: ErasureRequest,
): Promise<ErasureReceipt> {
  const { orgId } = writer;
  const key = addressKey(email);
  const copies = await findEncodedCopies(tools, orgId, key);
  const receipt = await inRetriedTransaction(tools.db, async (tx) => {
    const hash = await hashAddress(tx, orgId, key);
    const counts = await eraseRows(tx, orgId, { key, hash, scores, copies, before: null });
    const existing = await findErasure(tx, orgId, { hash });
    if (existing && counts.contacts + counts.people + counts.responses === 0) return existing;
    if (isEmpty(counts)) throw notFound('person');
    const erased = await insertErasure(tx, orgId, {
      address_hash: hash,
      scores,
      counts: existing ? addCounts(existing.counts, counts) : counts,
    });
    const target = { kind: 'erasure', id: erased.id };
    const { contacts, responses } = erased.counts;
    const details = { scores, contacts, responses };
    await recordAct(tx, { ...writer, act: 'person.erased', target, details });
    // A request that runs now may still store its answer, and an email in flight may still arrive.
    const seconds = tools.settings.sendDeadlineSeconds + finishMarginSeconds;
    const runAt = new Date(Date.now() + seconds * 1000);
    const payload = { org_id: orgId, erasure_id: erased.id };
    await enqueue(tx, [{ task: 'people.finish_erasure', payload, runAt }]);
    return erased;
  });
  await fileErasures(tools);
  return receipt;
}

/** Allows the address of a receipt to be added and mailed again. Erased data stays erased. Idempotent. */
export async function allowErasedAddress(
  tools: { db: Db; erasureFile: ErasureFile },
  writer: Writer,
  id: string,
): Promise<ErasureReceipt> {
  const { orgId } = writer;
  const receipt = await inTransaction(tools.db, async (tx) => {
    const target = { kind: 'erasure', id };
    if (await allowErased(tx, orgId, id)) {
      await recordAct(tx, { ...writer, act: 'person.allowed', target });
    }
    return await findErasure(tx, orgId, { id });
  });
  if (!receipt) throw notFound('erasure');
  await fileErasures(tools);
  return receipt;
}

/** Deletes what requests and emails in flight have stored after an erasure. Only hashes of the addresses are left to find it. */
export async function finishErasure(
  tools: Omit<EraseTools, 'settings'>,
  { org_id: orgId, erasure_id: erasureId }: { org_id: string; erasure_id: string },
) {
  const { db } = tools;
  const answers = await findAnswers(tools, orgId, async (text) => {
    const keys = (text.match(addresses) ?? []).map(addressKey);
    return (await listErased(db, orgId, [...new Set(keys)])).size > 0;
  });
  await deleteAnswers(db, orgId, answers);
  await deleteMessagesToErased(db, orgId, erasureId);
  await fileErasures(tools);
}

const addresses = /[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9.-]+/g;

export type ErasedAgain = { receipts: number; erased_again: number; unknown_organizations: number };

/** Repeats erasures after an older backup was restored, and restores their receipts. Idempotent. */
export async function eraseAgain(
  tools: { db: Db; secrets: Secrets },
  filed: readonly FiledErasure[],
): Promise<ErasedAgain> {
  const organizations = await listOrganizationsOf(tools.db, [
    ...new Set(filed.map(({ org_id }) => org_id)),
  ]);
  const restorable = filed.filter(({ org_id }) => organizations.has(org_id));
  let erased = 0;
  for (const [orgId, receipts] of Map.groupBy(restorable, ({ org_id }) => org_id)) {
    erased += await eraseAgainIn(tools, orgId, receipts);
  }
  return {
    receipts: restorable.length,
    erased_again: erased,
    unknown_organizations: filed.length - restorable.length,
  };
}

async function eraseAgainIn(
  tools: { db: Db; secrets: Secrets },
  orgId: string,
  receipts: readonly FiledErasure[],
): Promise<number> {
  const hashes = receipts.map(({ address_hash }) => address_hash);
  const addresses = await listAddressesOf(tools.db, orgId, hashes);
  let erased = 0;
  for (const receipt of receipts) {
    const key = addresses.get(receipt.address_hash);
    const copies = key === undefined ? noCopies : await findEncodedCopies(tools, orgId, key);
    const isErased = await inRetriedTransaction(tools.db, async (tx) => {
      const isErasedAgain =
        key === undefined ? false : await eraseAgainRows(tx, { key, receipt, copies });
      await insertFiled(tx, receipt);
      return isErasedAgain;
    });
    if (isErased) erased += 1;
  }
  return erased;
}

/** Keeps data that was added after the address was allowed again. */
async function eraseAgainRows(
  tx: Sql,
  { key, receipt, copies }: { key: string; receipt: FiledErasure; copies: Copies },
): Promise<boolean> {
  const { id, org_id: orgId, address_hash: hash, scores, erased_at, allowed_at } = receipt;
  const before = allowed_at ? erased_at : null;
  const counts = await eraseRows(tx, orgId, {
    key,
    hash,
    scores,
    copies: allowed_at ? noCopies : copies,
    before,
  });
  if (isEmpty(counts)) return false;
  const target = { kind: 'erasure', id };
  const details = { scores, again: true, contacts: counts.contacts };
  await recordAct(tx, { ...commandWriter(orgId), act: 'person.erased', target, details });
  return true;
}

type RowsToErase = {
  key: string;
  hash: string;
  scores: 'kept' | 'deleted';
  copies: Copies;
  /** Limits the erasure to older rows. */
  before: Date | null;
};

/**
 * Erases the rows of an address and counts them. Locks follow the global order: months, additions of contacts, surveys,
 * mails, contacts, people.
 */
export async function eraseRows(
  tx: Sql,
  orgId: string,
  { key, hash, scores, before, copies }: RowsToErase,
): Promise<ErasureCounts> {
  await lockMonthsOf(tx, orgId);
  await beginErasure(tx, orgId);
  const contacts = await listContactsOf(tx, { orgId, key, before });
  const contactIds = contacts.map(({ id }) => id);
  const surveyIds = [...new Set(contacts.map(({ survey_id }) => survey_id))];
  await lockSurveysOf(tx, orgId, surveyIds);
  await lockContactMails(tx, orgId, contactIds);
  const mentioning = await listContactsMentioning(tx, { orgId, key, before });
  await lockContacts(tx, orgId, [...contactIds, ...mentioning]);
  const people = await deletePerson(tx, orgId, { key, before });

  const responses = await lockResponsesOf(tx, orgId, { contactIds, key, before });
  const responseIds = responses.map(({ id }) => id);
  const derived = await eraseDerived(tx, orgId, responses);
  if (scores === 'deleted') await deleteResponses(tx, orgId, responseIds);
  else {
    await makeAnonymous(tx, orgId, responseIds);
    await eraseWords(tx, orgId, responseIds);
  }
  const ownComments = responses.filter(hasText).length;
  const comments =
    ownComments +
    (await hideAddress(tx, orgId, { key, before })) +
    (await hideInAnswers(tx, orgId, { key, before })) +
    (await hideInReplies(tx, orgId, { key, before })) +
    (await hideInConsents(tx, orgId, { key, before }));
  const dependents = await countDependents(tx, orgId, contactIds);
  await giveBackClaims(tx, orgId, contactIds);
  const counts: ErasureCounts = {
    ...dependents,
    ...derived,
    responses: responseIds.length,
    comments,
    contacts: await deleteContacts(tx, orgId, contactIds),
    people: people.length,
    properties:
      (await hideInContacts(tx, orgId, { key, ids: mentioning })) +
      (await hideInPeople(tx, orgId, { key, before })) +
      (await hideInProperties(tx, orgId, { key, before })),
    blocked_mails: await deleteBlockedMailsTo(tx, orgId, { key, before }),
    suppressions: await deleteSuppressionsOf(tx, orgId, { key, before }),
    uploads:
      (await deleteUploadsMentioning(tx, orgId, key)) +
      (await deleteImportsMentioning(tx, orgId, key)),
    stored_answers: await deleteAnswers(tx, orgId, copies.answers),
    mailbox_messages: await deleteMessagesById(tx, copies.messages),
    audit_events: await replaceContactTargets(tx, orgId, {
      contactIds: [...contactIds, ...people],
      hash,
    }),
  };
  await deleteViewsMentioning(tx, orgId, { key, before });
  await hideInSegments(tx, orgId, { key, before });
  await hideInCampaigns(tx, orgId, { key, before });
  await hideInRounds(tx, orgId, { key, before });
  for (const surveyId of surveyIds) await completeIfAnswered(tx, { orgId }, surveyId);
  return counts;
}

const isEmpty = (counts: ErasureCounts) => Object.values(counts).every((count) => count === 0);

const hasText = ({ comment, words }: ErasedResponse) => comment !== null || words !== null;

export async function eraseDerived(tx: Sql, orgId: string, responses: readonly ErasedResponse[]) {
  const ids = responses.map(({ id }) => id);
  const commented = responses.filter(hasText);
  const quoted = responses.filter((response) => hasText(response) || response.published);
  const responseIds = quoted.map(({ id }) => id);
  const since = new Date(Math.min(...quoted.map(({ created_at }) => created_at.getTime())));
  const notes = await deleteNotesAbout(tx, orgId, ids);
  const replies = await deleteRepliesTo(tx, orgId, ids);
  const analyses = await deleteAnalyses(tx, orgId, ids);
  let summaries = 0;
  for (const { comment, words, created_at } of commented) {
    for (const text of [comment, words]) {
      if (text) summaries += await removeQuotes(tx, orgId, { comment: text, created_at });
    }
  }
  const deliveries =
    responseIds.length === 0 ? 0 : await eraseBodiesOf(tx, orgId, { responseIds, since });
  return { notes, replies, analyses, summaries, deliveries };
}

/** Encrypted or encoded copies that mention a person. No index finds them: each must be decoded. */
type Copies = { answers: AnswerName[]; messages: string[] };
const noCopies: Copies = { answers: [], messages: [] };

async function findEncodedCopies(
  { db, secrets }: { db: Db; secrets: Secrets },
  orgId: string,
  key: string,
): Promise<Copies> {
  const contacts = await listContactsOf(db, { orgId, key, before: null });
  const pattern = addressPattern(key);
  const written = await listWrittenIds(db, orgId, {
    contactIds: contacts.map(({ id }) => id),
    pattern,
  });
  const words = contacts.flatMap(({ id, token }) => [id, token]).concat(written);
  const address = new RegExp(pattern, 'i');
  const mentions = (text: string) =>
    address.test(text) || words.some((word) => text.includes(word));
  return {
    answers: await findAnswers({ db, secrets }, orgId, mentions),
    messages: await findMessages(db, mentions),
  };
}

/** Kinds of erased data, in singular and plural. */
export const erasedKinds = {
  contacts: ['contact', 'contacts'],
  people: ['person in the directory', 'people in the directory'],
  mails: ['email', 'emails'],
  blocked_mails: ['blocked email', 'blocked emails'],
  openings: ['visit', 'visits'],
  responses: ['response', 'responses'],
  properties: ['contact or response of another person', 'contacts or responses of other people'],
  comments: ['comment', 'comments'],
  notes: ['note', 'notes'],
  replies: ['reply', 'replies'],
  analyses: ['analysis', 'analyses'],
  summaries: ['quote in a summary', 'quotes in summaries'],
  deliveries: ['delivery', 'deliveries'],
  campaign_results: ['campaign result', 'campaign results'],
  suppressions: ['block', 'blocks'],
  uploads: ['uploaded list or row', 'uploaded lists or rows'],
  stored_answers: ['stored API response', 'stored API responses'],
  mailbox_messages: ['message in the mailbox', 'messages in the mailbox'],
  audit_events: ['audit event', 'audit events'],
} as const;

export type ErasureCounts = Record<keyof typeof erasedKinds, number>;

const addCounts = (one: ErasureCounts, other: ErasureCounts) =>
  Object.fromEntries(
    Object.entries(one).map(([kind, count]) => [kind, count + other[kind as keyof ErasureCounts]]),
  ) as ErasureCounts;
