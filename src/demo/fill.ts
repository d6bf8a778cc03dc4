import { randomInt, randomUUID } from 'node:crypto';
import { commandActor, recordAct } from '../audit/acts.ts';
import { saveContacts } from '../contacts/queries.ts';
import { enqueue, type NewJob } from '../jobs.ts';
import { issueKey } from '../keys/manage.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { hashPassword } from '../members/password.ts';
import { hasMembers, insertMember, saveRole } from '../members/queries.ts';
import { insertOrganizationOnce } from '../organizations/queries.ts';
import { insertImported } from '../responses/import.ts';
import { insertWaitingSince } from '../responses/waiting-analyses.ts';
import { addSurvey } from '../surveys/lifecycle.ts';
import { insertTag } from '../tags/tags.ts';
import { type DemoSurvey, makeStory, storyDays, surveys, tags } from './story.ts';

export const demoOrganization = 'd3300000-0000-4000-8000-000000000001';

const sender = { from_name: 'Larkspur', from_email: 'feedback@example.com' };

export type FilledDemo = {
  readKey: string;
  writeKey: string;
  /** Null if the demo's address already has an account. */
  signIn: DemoSignIn | null;
  survey: { id: string; share_id: string };
};

/**
 * Fills one organization with half a year of feedback, all or nothing; undefined if it exists. The running service then
 * analyzes the comments and writes the monthly summaries.
 */
export async function fillDemo(db: Db, now: Date): Promise<FilledDemo | undefined> {
  const password = makePassword();
  // Hashing is slow, so it runs before the transaction.
  const passwordHash = await hashPassword(password, { address: 'demo' });
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
    for (const survey of surveys) filled.push(await fillSurvey(tx, orgId, survey, now));
    await insertWaitingSince(tx, orgId, daysBefore(now, storyDays + 1));
    await enqueue(tx, [
      ...summarizedMonths.map((monthsAgo) => summaryJob(orgId, now, monthsAgo)),
      { task: 'summaries.month', payload: { org_id: orgId, tries: 0 } },
    ]);
    for (const tag of tags) await insertTag(tx, orgId, tag);
    const read = await issueKey(tx, orgId, { name: 'demo, reading', permission: 'read' });
    await recordAct(tx, { orgId, actor: commandActor(), act: 'demo.filled' });
    const write = await issueKey(tx, orgId, { name: 'demo, writing', permission: 'write' });
    const signIn = await addDemoMember(tx, orgId, { password, passwordHash });
    return { readKey: read.key, writeKey: write.key, signIn, survey: filled[0]! };
  });
}

/** Months ago. The service summarizes last month without a request. The organization's time zone is UTC. */
const summarizedMonths = [5, 4, 3, 2];
/** How often the job of a summary waits for the analysis of comments. */
const maxWaits = 12;

function summaryJob(orgId: string, now: Date, monthsAgo: number): NewJob {
  const startOf = (ago: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1)).toISOString();
  return {
    task: 'summaries.make',
    payload: {
      org_id: orgId,
      summary_id: randomUUID(),
      actor: commandActor(),
      period_start: startOf(monthsAgo),
      period_end: startOf(monthsAgo - 1),
      waits: maxWaits,
    },
  };
}

const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * 86_400_000);

async function fillSurvey(tx: Sql, orgId: string, survey: DemoSurvey, now: Date) {
  const created = await addSurvey(tx, orgId, {
    name: survey.name,
    type: survey.type,
    audience: survey.audience,
    ...sender,
    question_text: survey.question,
    reply_to: sender.from_email,
    subject: null,
    language: 'en',
    status: 'active',
    created_at: daysBefore(now, storyDays + 1),
  });
  const target = { orgId, surveyId: created.id };
  const { contacts, anonymous } = makeStory(survey, now);
  const rows = contacts.map(({ answer, ...contact }) => ({
    ...contact,
    status: answer
      ? ('responded' as const)
      : contact.sent_at
        ? ('sent' as const)
        : ('pending' as const),
    responded_at: answer?.created_at ?? null,
  }));
  const saved = await saveContacts(tx, target, rows);
  const idOf = new Map(saved.map(({ id, email }) => [email, id]));
  await insertImported(tx, target, [
    ...contacts.flatMap(({ email, answer }) =>
      answer ? [{ ...answer, contact_id: idOf.get(email) ?? null }] : [],
    ),
    ...anonymous.map((answer) => ({ ...answer, contact_id: null })),
  ]);
  return created;
}

type DemoSignIn = { email: string; password: string };

const email = 'demo@example.com';
/** Omits letters and digits that look alike. */
const letters = 'abcdefghjkmnpqrstuvwxyz23456789';

function makePassword(): string {
  const group = () => Array.from({ length: 4 }, () => letters[randomInt(letters.length)]).join('');
  return Array.from({ length: 4 }, group).join('-');
}

async function addDemoMember(
  tx: Sql,
  orgId: string,
  { password, passwordHash }: { password: string; passwordHash: string },
): Promise<DemoSignIn | null> {
  const isOperator = !(await hasMembers(tx));
  const member = await insertMember(tx, { email, name: 'Demo', passwordHash, isOperator });
  if (!member) return null;
  await saveRole(tx, { orgId, memberId: member.id, role: 'owner' });
  await recordAct(tx, {
    orgId,
    actor: commandActor(),
    act: 'member.joined',
    target: { kind: 'member', id: member.id },
    details: { role: 'owner' },
  });
  return { email, password };
}
