import { randomBytes, randomUUID } from 'node:crypto';
import { requireWrite, type WriteKey } from '../../../src/keys/authenticate.ts';
import { issueKey } from '../../../src/keys/manage.ts';
import { json, one, type Sql } from '../../../src/lib/db/db.ts';

/** Rows for tests. Each function takes only the fields that matter to a test and fills in the others. */
type Id = { id: string };

export async function makeOrganization(sql: Sql, over: Record<string, unknown> = {}) {
  const organization = { name: 'Acme', slug: `acme-${randomUUID()}`, ...over };
  return one(await sql<Id[]>`insert into organizations ${sql(organization)} returning id`).id;
}

export async function makeSurvey(sql: Sql, org_id: string, over: Record<string, unknown> = {}) {
  const survey = {
    org_id,
    name: 'Onboarding',
    question_text: 'How likely are you to recommend us?',
    from_name: 'Ann',
    from_email: 'ann@acme.test',
    reply_to: 'ann@acme.test',
    share_id: randomBytes(12).toString('base64url'),
    ...over,
  };
  return one(await sql<Id[]>`insert into surveys ${sql(survey)} returning id`).id;
}

type ContactOf = { org_id: string; survey_id: string };

export async function makeContact(sql: Sql, of: ContactOf, over: Record<string, unknown> = {}) {
  const contact = {
    ...of,
    email: `${randomUUID()}@people.test`,
    token: randomBytes(24).toString('base64url'),
    properties: json(sql, {}),
    ...over,
  };
  const { id } = one(await sql<Id[]>`insert into contacts ${sql(contact as never)} returning id`);
  await makePersonOf(sql, id);
  return id;
}

/** The person of a contact that was inserted without the statement that saves contacts. */
const makePersonOf = (sql: Sql, contact: string) => sql`
  insert into people (org_id, email, name, properties, created_at, updated_at)
  select org_id, email, name, properties, created_at, updated_at from contacts where id = ${contact}
  on conflict (org_id, email_key) do nothing`;

/** An organization with a read key and a write key, as headers ready to send. */
export async function makeClient(sql: Sql, over: Record<string, unknown> = {}) {
  const id = await makeOrganization(sql, over);
  const headersFor = async (permission: 'read' | 'write') => ({
    'X-API-Key': (await issueKey(sql, id, { name: permission, permission })).key,
  });
  return { id, read: await headersFor('read'), write: await headersFor('write') };
}

/** Proof of a key that may write, as routes of the API get it. */
export const writeKeyOf = (orgId: string): WriteKey =>
  requireWrite({ id: randomUUID(), org_id: orgId, name: 'test', permission: 'write' });

const everyEvent = [
  'response.received',
  'detractor.detected',
  'survey.completed',
  'summary.generated',
];

export async function makeWebhook(sql: Sql, org_id: string, over: Record<string, unknown> = {}) {
  const webhook = {
    org_id,
    url: 'https://hooks.test/',
    events: everyEvent,
    secret: Buffer.from('not a sealed secret'),
    ...over,
  };
  return one(await sql<Id[]>`insert into webhooks ${sql(webhook)} returning id`).id;
}

type ResponseOf = { org_id: string; survey_id: string };

export async function makeResponse(sql: Sql, of: ResponseOf, over: Record<string, unknown> = {}) {
  const response = { ...of, score: 10, category: 'promoter', ...over };
  return one(await sql<Id[]>`insert into responses ${sql(response)} returning id`).id;
}
