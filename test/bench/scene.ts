import { randomUUID } from 'node:crypto';
import { issueKey } from '../../src/keys/manage.ts';
import { connect, type Db } from '../../src/lib/db/db.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { type ProcessorTime, processorTimeOf, processorTimeOfPostgres } from './processor-time.ts';
import { type Service, startService } from './service.ts';

/** A service with its own database, and the CPU time of all its processes. */
export type Scene = {
  db: Db;
  service: Service;
  parts: { service: ProcessorTime; postgres: ProcessorTime };
  makeOrganization: () => Promise<Organization>;
  /** Starts and stops a second service on the same database. Returns the milliseconds until it was ready. */
  restart: () => Promise<number>;
};

export type Organization = {
  orgId: string;
  headers: Record<string, string>;
  call: (path: string, body: unknown) => Promise<unknown>;
  makeSurvey: () => Promise<string>;
  makeWebhook: (url: string, events: readonly string[]) => Promise<void>;
  /** Adds contacts to a survey and returns their tokens. */
  addContacts: (surveyId: string, contacts: number) => Promise<string[]>;
};

const mails = 100_000_000;

/**
 * The service creates its own schema, and rows are created through the API where possible. So `BENCH_MODULE` can name
 * the bundle or executable of another version to compare with.
 */
export async function withScene<Result>(
  server: string,
  settings: Readonly<Record<string, string>>,
  measure: (scene: Scene) => Promise<Result>,
): Promise<Result> {
  const { url, drop } = await makeDatabase(server);
  const module = process.env['BENCH_MODULE'];
  const start = () => startService(url, settings, module ? { module } : {});
  const service = await start();
  const db = connect(url, { connections: 2 });
  const scene: Scene = {
    db,
    service,
    parts: {
      service: processorTimeOf(service.pid),
      postgres: await processorTimeOfPostgres(db),
    },
    makeOrganization: () => addOrganization(db, service.port),
    async restart() {
      const another = await start();
      await another.stop();
      return another.readyMs;
    },
  };
  try {
    return await measure(scene);
  } finally {
    await service.stop();
    await db.end({ timeout: 1 });
    await drop();
  }
}

async function makeDatabase(server: string) {
  const name = `bench_${randomUUID().replaceAll('-', '')}`;
  const admin = connect(server, { connections: 1 });
  await admin`create database ${admin(name)} template template0 encoding 'UTF8'`;
  const address = new URL(server);
  address.pathname = `/${name}`;
  const drop = async () => {
    await admin`drop database ${admin(name)} with (force)`;
    await admin.end();
  };
  return { url: address.href, drop };
}

async function addOrganization(db: Db, port: number): Promise<Organization> {
  const orgId = await makeOrganization(db, { monthly_send_limit: mails });
  const { key } = await issueKey(db, orgId, { name: 'bench', permission: 'write' });
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  const call = async (path: string, body: unknown) => {
    const request = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, request);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return await answer.json();
  };
  return {
    orgId,
    headers,
    call,
    makeSurvey: () => makeSurvey(db, orgId),
    makeWebhook: async (url, events) => void (await call('/api/webhooks', { url, events })),
    addContacts: (surveyId, contacts) => addContacts(db, { orgId, surveyId, contacts }),
  };
}

async function addContacts(
  db: Db,
  { orgId, surveyId, contacts }: { orgId: string; surveyId: string; contacts: number },
) {
  const made = await db<{ token: string }[]>`
    insert into contacts (org_id, survey_id, email, name, token)
    select ${orgId}, ${surveyId}, 'person' || n || '@people.example', 'Person ' || n,
           replace(gen_random_uuid()::text, '-', '')
    from generate_series(1, ${contacts}::int) n
    returning token`;
  await db`vacuum analyze contacts`;
  return made.map(({ token }) => token);
}
