import { randomUUID } from 'node:crypto';
import { commandActor } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { newToken } from '../contacts/many.queries.ts';
import { insertPastContacts } from '../contacts/past.queries.ts';
import { enqueue, type NewJob } from '../jobs.ts';
import { issueKey } from '../keys/issue.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { insertOrganizationOnce } from '../organizations/queries.ts';
import { insertImported } from '../responses/import.queries.ts';
import { insertWaitingSince } from '../responses/waiting-analyses.queries.ts';
import { addSurvey } from '../surveys/create.ts';
import type { OrgSurvey } from '../surveys/queries.ts';
import { insertTag } from '../tags/queries.ts';
import { addDemoMember, type DemoSignIn, makeDemoPassword } from './demo-member.ts';
import { addDemoWebhook } from './demo-webhook.ts';
import { type DemoStory, makeStory, storyDays } from './rules.ts';
import { type DemoSurvey, surveys, tags } from './sayings.ts';

/** The demo is the organization with this id, so that it is made once. */
export const demoOrganization = 'd3300000-0000-4000-8000-000000000001';

const sender = { from_name: 'Larkspur', from_email: 'feedback@example.com' };

export type DemoTools = { db: Db; secrets: Pick<Secrets, 'seal'> };

export type FilledDemo = {
  readKey: string;
  writeKey: string;
  /** None where the demo's address has an account already. */
  signIn: DemoSignIn | null;
  survey: { id: string; share_id: string };
};

/**
 * Fills one organization with half a year of feedback, all of it or nothing; nothing when it is there. The
 * running service reads the comments, and then writes the summaries of the months.
 */
export async function fillDemo(
  { db, secrets }: DemoTools,
  now: Date,
): Promise<FilledDemo | undefined> {
  const password = await makeDemoPassword();
  return await inTransaction(db, async (tx) => {
    const organization = await insertOrganizationOnce(tx, {
      id: demoOrganization,
      name: 'Larkspur (demo)',
      ai_enabled: true,
      created_at: daysBefore(now, storyDays + 1),
    });
    if (!organization) return undefined;
    const orgId = organization.id;

    const filled: FilledDemo['survey'][] = [];
    for (const survey of surveys) filled.push(await fillSurvey(tx, orgId, { survey, now }));
    await insertWaitingSince(tx, orgId, daysBefore(now, storyDays + 1));
    await enqueue(tx, [
      ...monthsBefore(now).map((month) => summaryJob(orgId, month)),
      { task: 'summaries.month', payload: { org_id: orgId, tries: 0 } },
    ]);
    await addDemoWebhook(tx, orgId, { secrets, now });
    for (const tag of tags) await insertTag(tx, orgId, tag);
    const read = await issueKey(tx, orgId, { name: 'demo, reading', permission: 'read' });
    await recordAct(tx, { orgId, actor: commandActor(), act: 'demo.filled' });
    const write = await issueKey(tx, orgId, { name: 'demo, writing', permission: 'write' });
    const signIn = await addDemoMember(tx, orgId, password);
    return { readKey: read.key, writeKey: write.key, signIn, survey: filled[0]! };
  });
}

const summarizedMonths = 4;
/** For the comments to be read, by the job of a summary. */
const mostWaits = 12;

/** Whole months before the last, which the service summarizes by itself. The organization's clock is UTC. */
function monthsBefore(now: Date) {
  const monthAgo = (months: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1));
  return Array.from({ length: summarizedMonths }, (_, n) => summarizedMonths + 1 - n).map(
    (months) => ({ start: monthAgo(months), end: monthAgo(months - 1) }),
  );
}

const summaryJob = (orgId: string, { start, end }: { start: Date; end: Date }): NewJob => ({
  task: 'summaries.make',
  payload: {
    org_id: orgId,
    summary_id: randomUUID(),
    actor: commandActor(),
    period_start: start.toISOString(),
    period_end: end.toISOString(),
    waits: mostWaits,
  },
});

const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * 86_400_000);

async function fillSurvey(
  tx: Sql,
  orgId: string,
  { survey, now }: { survey: DemoSurvey; now: Date },
): Promise<FilledDemo['survey']> {
  const { name, type, audience, question } = survey;
  const made = await addSurvey(tx, orgId, {
    name,
    type,
    audience,
    ...sender,
    question_text: question,
    reply_to: sender.from_email,
    subject: null,
    language: 'en',
    status: 'active',
    created_at: daysBefore(now, storyDays + 1),
  });
  await fillContacts(tx, { orgId, surveyId: made.id }, makeStory(survey, now));
  return made;
}

async function fillContacts(tx: Sql, survey: OrgSurvey, { contacts, anonymous }: DemoStory) {
  const rows = contacts.map(({ answer, ...contact }) => ({
    ...contact,
    token: newToken(),
    status: answer
      ? ('responded' as const)
      : contact.sent_at
        ? ('sent' as const)
        : ('pending' as const),
    responded_at: answer?.created_at ?? null,
  }));
  const saved = await insertPastContacts(tx, survey, rows);
  const idOf = new Map(saved.map(({ id, email }) => [email, id]));

  const answers = contacts.flatMap(({ email, answer }) =>
    answer ? [{ ...answer, contact_id: idOf.get(email) ?? null }] : [],
  );
  await insertImported(tx, survey, answers);
  await insertImported(
    tx,
    survey,
    anonymous.map((answer) => ({ ...answer, contact_id: null })),
  );
}
