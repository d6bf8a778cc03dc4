import { jobWriter, recordAct } from '../audit/acts.ts';
import { deleteOldResults } from '../campaigns/queries.ts';
import { deleteContacts, type Inactive, listInactive, lockInactive } from '../contacts/erase.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { deleteInBatches } from '../lib/db/delete-in-batches.ts';
import { maxLogDays } from '../organizations/manage.ts';
import { eraseWords } from '../questions/erase.ts';
import { deleteOldReplies } from '../replies/queries.ts';
import {
  deleteVisitsOf,
  emptyComments,
  lockOldComments,
  lockResponsesOf,
  makeAnonymous,
} from '../responses/erase.ts';
import { deleteBlockedOnDay, deleteOldMails } from '../sends/queries.ts';
import { completeIfAnswered } from '../surveys/lifecycle.ts';
import { eraseOldBodies } from '../webhooks/retention.ts';
import { beginErasure, lockSurveysOf } from './erase.queries.ts';
import { eraseDerived } from './erase.ts';

const rowsPerBatch = 200;
/** Extra days to clean up after nights on which the job did not run. */
const missedNights = 15;

/** Deletes data past each organization's retention in small steps, and audits the counts. */
export async function applyRetention({ db }: { db: Db }) {
  for (const retention of await listRetentions(db)) {
    const counts = await applyToOrganization(db, retention);
    if (Object.values(counts).every((count) => count === 0)) continue;
    const writer = jobWriter(retention.org_id, 'retention');
    await recordAct(db, { ...writer, act: 'retention.applied', details: counts });
  }
}

async function applyToOrganization(db: Db, retention: Retention) {
  const { org_id: orgId, comments_days, contacts_days, openings_days, mails_days } = retention;
  return {
    comments: comments_days ? await clearOldComments(db, orgId, comments_days) : 0,
    replies: comments_days
      ? await deleteInBatches((atMost) =>
          deleteOldReplies(db, orgId, { days: comments_days, atMost }),
        )
      : 0,
    contacts: contacts_days ? await deleteInactive(db, orgId, contacts_days) : 0,
    people: contacts_days ? await deleteUnused(db, orgId, contacts_days) : 0,
    openings: openings_days ? await deleteOldVisits(db, orgId, openings_days) : 0,
    mails: mails_days ? await deleteOldMailLog(db, orgId, mails_days) : 0,
  };
}

async function clearOldComments(db: Db, orgId: string, days: number): Promise<number> {
  const clear = (atMost: number) =>
    inTransaction(db, async (tx) => {
      const responses = await lockOldComments(tx, orgId, { days, atMost });
      await eraseDerived(tx, orgId, responses);
      const ids = responses.map(({ id }) => id);
      await emptyComments(tx, orgId, ids);
      await eraseWords(tx, orgId, ids);
      return responses.length;
    });
  const emptied = await deleteInBatches(clear, rowsPerBatch);
  // Events may carry texts that respondents have removed since.
  await deleteInBatches(
    (atMost) => inTransaction(db, (tx) => eraseOldBodies(tx, orgId, { days, atMost })),
    rowsPerBatch,
  );
  return emptied;
}

/** Deletes inactive contacts with their mails. Their responses become anonymous. */
async function deleteInactive(db: Db, orgId: string, days: number): Promise<number> {
  let deleted = 0;
  for (let after: Inactive | null = null; ; ) {
    const batch: Inactive[] = await listInactive(db, orgId, { days, after, atMost: rowsPerBatch });
    if (batch.length > 0) deleted += await deleteInactiveBatch(db, orgId, { days, batch });
    if (batch.length < rowsPerBatch) return deleted;
    after = batch.at(-1)!;
  }
}

function deleteInactiveBatch(
  db: Db,
  orgId: string,
  { days, batch }: { days: number; batch: Inactive[] },
) {
  const surveyIds = [...new Set(batch.map(({ survey_id }) => survey_id))];
  return inTransaction(db, async (tx) => {
    await lockSurveysOf(tx, orgId, surveyIds);
    const ids = await lockInactive(tx, orgId, { days, ids: batch.map(({ id }) => id) });
    const responses = await lockResponsesOf(tx, orgId, { contactIds: ids });
    await eraseDerived(tx, orgId, responses);
    const responseIds = responses.map(({ id }) => id);
    await makeAnonymous(tx, orgId, responseIds);
    await eraseWords(tx, orgId, responseIds);
    const deleted = await deleteContacts(tx, orgId, ids);
    for (const surveyId of surveyIds) await completeIfAnswered(tx, { orgId }, surveyId);
    return deleted;
  });
}

type Id = { id: string };

/** Deletes people who have no contact and have not changed for `days` days. */
function deleteUnused(db: Db, orgId: string, days: number) {
  const unused = (sql: Sql) => sql`
    from people p
    where p.org_id = ${orgId} and p.created_at < now() - make_interval(days => ${days}::int)
      and p.updated_at < now() - make_interval(days => ${days}::int)
      and not exists (select from contacts c where c.org_id = ${orgId} and c.email_key = p.email_key)`;
  return deleteInBatches(async (atMost) => {
    const rows = await db<Id[]>`select p.id ${unused(db)} limit ${atMost}`;
    if (rows.length === 0) return 0;
    return await inTransaction(db, async (tx) => {
      // Otherwise a contact that is being added could lose its person.
      await beginErasure(tx, orgId);
      const ids = rows.map(({ id }) => id);
      const { count } = await tx`delete ${unused(tx)} and p.id = any (${ids}::uuid[])`;
      return count;
    });
  });
}

/** Deletes day by day, so that statements stay short. */
async function deleteOldVisits(db: Db, orgId: string, days: number): Promise<number> {
  let deleted = 0;
  for (let ago = maxLogDays + missedNights; ago >= days; ago--) {
    deleted += await deleteVisitsOf(db, orgId, { fromDaysAgo: ago + 1, toDaysAgo: ago });
  }
  return deleted;
}

async function deleteOldMailLog(db: Db, orgId: string, days: number): Promise<number> {
  let deleted = 0;
  const surveys = await db<Id[]>`select id from surveys where org_id = ${orgId} order by id`;
  for (const { id: surveyId } of surveys) {
    deleted += await deleteInBatches((atMost) =>
      deleteOldMails(db, { orgId, surveyId }, { days, atMost }),
    );
  }
  await deleteInBatches((atMost) => deleteOldResults(db, orgId, { days, atMost }));
  for (let ago = maxLogDays + missedNights; ago >= days; ago--) {
    deleted += await deleteBlockedOnDay(db, orgId, { daysAgo: ago });
  }
  return deleted;
}

type Rule = 'comments_days' | 'contacts_days' | 'openings_days' | 'mails_days';
type Retention = { org_id: string } & Record<Rule, number | null>;

async function listRetentions(sql: Sql) {
  return await sql<Retention[]>`
    select id as org_id, keep_comments_days as comments_days, keep_contacts_days as contacts_days,
           keep_openings_days as openings_days, greatest(keep_mails_days, case when keep_mails_days > 0 then frequency_days end) as mails_days
    from organizations
    where num_nonnulls(keep_comments_days, keep_contacts_days, keep_openings_days, keep_mails_days) > 0
    order by id`;
}
