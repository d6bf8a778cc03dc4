import { randomInt } from 'node:crypto';
import { commandActor, recordAct } from '../audit/acts.ts';
import { Refusal } from '../errors.ts';
import { enqueue } from '../jobs.ts';
import { issueKey } from '../keys/manage.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { hashPassword } from '../members/password.ts';
import { findCredentials, hasMembers, insertMember, saveRole } from '../members/queries.ts';
import { deleteOrganization } from '../organizations/delete.ts';
import { insertOrganizationOnce, listOrganizations } from '../organizations/queries.ts';
import { insertWaitingSince } from '../responses/waiting-analyses.ts';
import type { Role } from '../sessions/session.ts';
import { saveTheme } from '../summaries/queries.ts';
import { summaryJob } from '../summaries/summarize.ts';
import { addSurvey } from '../surveys/lifecycle.ts';
import { textsOf } from '../surveys/templates.ts';
import { insertTag } from '../tags/tags.ts';
import { fillHistory, fillWebhook, insertRows, type Owner } from './history.ts';
import sayings from './sayings.json' with { type: 'json' };
import {
  type DemoSurvey,
  languages,
  makeStory,
  questionsOf,
  reminderDays,
  storyDays,
  surveys,
} from './story.ts';

export const demoOrganization = 'd3300000-0000-4000-8000-000000000001';

const name = 'Larkspur Coffee';
const sender = { from_name: name, from_email: 'hello@example.com' };

export type FilledDemo = {
  readKey: string;
  writeKey: string;
  /** Null if the demo's address already has an account. */
  signIn: DemoSignIn | null;
  survey: { id: string; share_id: string };
};

type FillTools = { db: Db; secrets: Secrets; isPublic?: boolean };

/**
 * Fills one organization with a year of feedback, all or nothing. Returns undefined if the organization exists. The
 * running service then analyzes the comments and writes the monthly summaries.
 */
export async function fillDemo({ db, secrets, isPublic = false }: FillTools, now: Date) {
  const password = makePassword();
  // Hashing is slow, so it runs before the transaction.
  const passwordHash = await hashPassword(password, { address: 'demo' });
  return await inTransaction(db, async (tx) => {
    const began = new Date(now.getTime() - (storyDays + 1) * 86_400_000);
    const organization = await insertOrganizationOnce(tx, {
      id: demoOrganization,
      name,
      color: '#7a4a2b',
      ai_enabled: true,
      created_at: began,
    });
    if (!organization) return undefined;
    const orgId = organization.id;
    const signIn = isPublic ? null : await addDemoMember(tx, orgId, { password, passwordHash });
    const visitor = { name: 'Visitor', email: visitorEmail, role: 'viewer' as const };
    const owners = await addColleagues(tx, orgId, isPublic ? [...colleagues, visitor] : colleagues);
    for (const theme of sayings.themes) await saveTheme(tx, orgId, theme);
    const tagIds = new Map<string, string>();
    for (const tag of tags) tagIds.set(tag.name, (await insertTag(tx, orgId, tag)).id);
    await insertRows(
      tx,
      'canned_texts',
      sayings.canned.map((text) => ({ org_id: orgId, ...text })),
    );
    const filled: FilledDemo['survey'][] = [];
    const responses = [];
    for (const survey of surveys) {
      const created = await addDemoSurvey(tx, orgId, { survey, createdAt: began });
      filled.push(created);
      const of = { orgId, survey: created, owners, tagIds, now };
      responses.push(...(await fillHistory(tx, of, makeStory(survey, now))));
    }
    await fillWebhook(tx, { orgId, secrets, now }, responses);
    await insertWaitingSince(tx, orgId, began);
    const options = { actor: commandActor(), scheduled: true };
    await enqueue(
      tx,
      summarizedMonths.map((monthsAgo) => summaryJob(orgId, monthOf(now, monthsAgo), options)),
    );
    const read = await issueKey(tx, orgId, { name: 'demo, reading', permission: 'read' });
    await recordAct(tx, { orgId, actor: commandActor(), act: 'demo.filled' });
    const write = await issueKey(tx, orgId, { name: 'demo, writing', permission: 'write' });
    return { readKey: read.key, writeKey: write.key, signIn, survey: filled[0]! };
  });
}

export const visitorEmail = 'visitor@larkspur.example';

/** Replaces the demo in a database without other organizations. The new demo has a viewer without a password. */
export async function refillDemo(tools: FillTools, now: Date): Promise<void> {
  const { db } = tools;
  const organizations = await listOrganizations(db);
  const former = organizations.find(({ id }) => id === demoOrganization);
  if (organizations.length > (former ? 1 : 0)) {
    throw new Refusal(
      'conflict',
      'a public demo needs its own database, and this one has other organizations',
    );
  }
  if (former) {
    await deleteOrganization(db, commandActor(), { id: former.id, confirm: former.name });
  }
  await fillDemo({ ...tools, isPublic: true }, now);
}

/** Adds a survey in every language that customers of the demo speak. */
async function addDemoSurvey(
  tx: Sql,
  orgId: string,
  { survey, createdAt }: { survey: DemoSurvey; createdAt: Date },
) {
  const textsIn = (language: string) =>
    textsOf({ texts: survey.topic }, { language, organization: name });
  return await addSurvey(tx, orgId, {
    name: survey.name,
    type: survey.type,
    audience: survey.topic === 'employees' ? 'employee' : null,
    ...sender,
    ...textsIn('en'),
    language: 'en',
    texts: Object.fromEntries(languages.map((tag) => [tag, textsIn(tag)])),
    questions: questionsOf(survey),
    reminders: survey.by === 'campaign' ? [{ after_days: reminderDays }] : [],
    status: 'active',
    created_at: createdAt,
  });
}

/** Counted back from this month in UTC. */
const summarizedMonths = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1];

function monthOf(now: Date, monthsAgo: number) {
  const startOf = (ago: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1));
  return { start: startOf(monthsAgo), end: startOf(monthsAgo - 1) };
}

export const tags = [
  { name: 'App', color: '#1d4ed8' },
  { name: 'Delivery', color: '#c2410c' },
  { name: 'Idea', color: '#6d28d9' },
  { name: 'Praise', color: '#15803d' },
  { name: 'Refund', color: '#b91c1c' },
] as const;

/** Colleagues have no password, so nobody can sign in as one of them. */
type Colleague = { name: string; email: string; role: Role };
const colleagues: readonly Colleague[] = [
  { name: 'Mara Lindholm', email: 'mara@larkspur.example', role: 'editor' },
  { name: 'Jonas Adler', email: 'jonas@larkspur.example', role: 'editor' },
  { name: 'Aisha Karim', email: 'aisha@larkspur.example', role: 'editor' },
  { name: 'Tom Verbeek', email: 'tom@larkspur.example', role: 'viewer' },
];

async function addColleagues(tx: Sql, orgId: string, people: readonly Colleague[]) {
  const owners: Owner[] = [];
  for (const { name, email, role } of people) {
    const member =
      (await insertMember(tx, { email, name, passwordHash: null, isOperator: false })) ??
      (await findCredentials(tx, email));
    if (!member) continue;
    await saveRole(tx, { orgId, memberId: member.id, role });
    if (role === 'editor') owners.push({ id: member.id, name });
  }
  return owners;
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
