import { randomBytes } from 'node:crypto';
import type { AppTools } from '../../../src/app.ts';
import type { Db } from '../../../src/lib/db/db.ts';
import { makeContact, makeOrganization, makeSurvey, makeWebhook } from '../make/rows.ts';
import { bareApp } from './app.ts';

export const asPerson = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
export const asProgram = { Accept: 'application/json' };

type Fields = Record<string, string>;
type Stored = { id: string; score: number; comment: string | null; held_reason: string | null };

/** A survey with one contact, its links, and the results of visiting them. */
export async function ask(db: Db, over: Record<string, unknown> = {}) {
  const organization = await makeOrganization(db, { name: 'Acme' });
  const share_id = randomBytes(12).toString('base64url');
  const token = randomBytes(24).toString('base64url');
  const survey = await makeSurvey(db, organization, { share_id, ...over });
  const of = { org_id: organization, survey_id: survey };
  const contact = await makeContact(db, of, { token });
  const webhook = await makeWebhook(db, organization);
  return {
    organization,
    survey,
    contact,
    personal: `/s/${token}`,
    shared: `/f/${share_id}`,
    answers: async () => [
      ...(await db<Stored[]>`
        select id, score, comment, held_reason from responses where survey_id = ${survey}
        order by created_at, id`),
    ],
    /** Types of the survey's events, sorted. */
    events: async () => {
      const rows = await db<{ event: string }[]>`
        select event from deliveries where webhook_id = ${webhook} order by event`;
      return rows.map(({ event }) => event);
    },
    /** Makes earlier visits older by this interval. */
    letTimePass: async (time: string) => {
      await db`
        update link_visits set visited_at = visited_at - ${time}::interval where contact_id = ${contact}`;
    },
  };
}

/** Sends requests without a network, as a person's browser or as a program. */
export function visitor(db: Db, over: Partial<AppTools> & { address?: string } = {}) {
  const { address = '192.0.2.1', ...tools } = over;
  const app = bareApp(db, tools);
  const environment = { incoming: { socket: { remoteAddress: address } } };
  const request = async (path: string, init: RequestInit) =>
    await app.request(path, init, environment);
  return {
    get: (path: string, headers: Fields = asPerson) => request(path, { headers }),
    head: (path: string) => request(path, { method: 'HEAD', headers: asPerson }),
    post: (path: string, fields: Fields, headers: Fields = asPerson) =>
      request(path, { method: 'POST', headers, body: new URLSearchParams(fields) }),
    postJson: (path: string, value: unknown) =>
      request(path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(value),
      }),
    request,
  };
}

export const headingOf = (html: string) => /<h1[^>]*>([^<]*)<\/h1>/.exec(html)?.[1];
export const complaintOf = (html: string) => /role="alert">([^<]*)</.exec(html)?.[1];
