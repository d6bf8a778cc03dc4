import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../../ops/build/bundle.ts';
import { connect, type Sql } from '../../src/lib/db/db.ts';
import { createLog } from '../../src/lib/log/log.ts';
import { openSession } from '../../src/lib/queue/lease.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { until } from '../support/probe/until.ts';
import { startMailServer } from './arrivals.ts';
import type { Cause, Doom, Order, Point } from './mail-points.ts';
import { createSender } from './mail-sender.ts';

const entry = fileURLToPath(new URL('mail-process.ts', import.meta.url));

/** The result of a kill: the recorded status of each mail, and how often it arrived. */
export type Ledger = {
  point: Point;
  killed: boolean;
  mails: { email: string; status: string | null; arrived: number }[];
  used: number;
};

/** Prepares the kills: a mail server, the process that takes over, and the process to kill. */
export async function prepareKills(databaseUrl: string) {
  const folder = mkdtempSync(join(tmpdir(), 'askback-kills-'));
  const script = join(folder, 'mail-process.mjs');
  await bundle(entry, script); // starts in a tenth of the time
  const db = connect(databaseUrl, { connections: 8 });
  const mails = await startMailServer();
  const place = { databaseUrl, smtpUrl: mails.url };
  let sweeping = Promise.resolve(false);
  const survivor = createSender(place, () => {});
  const session = await openSession({ url: databaseUrl }, createLog({ level: 'fatal' }), 'askback');
  return {
    db,
    place,
    survivor,
    script,
    arrivals: mails.arrivals,
    /** Recovers the claims of dead processes. */
    sweep() {
      sweeping = sweeping.then(() => session.sweep(new Set()));
      return sweeping;
    },
    async close() {
      await Promise.all([survivor.close(), session.end(), mails.close(), db.end({ timeout: 1 })]);
      rmSync(folder, { recursive: true });
    },
  };
}

export type Ground = Awaited<ReturnType<typeof prepareKills>>;
type Kill = { point: Point; nth: number; people: number; cause?: Cause };

/**
 * Sends to some people with a process that is killed when it reaches the point for the nth time. Once the lock of its
 * session is free, another process takes over, and then the caller repeats the request.
 */
export async function killAt(
  ground: Ground,
  { point, nth, people, cause = 'send' }: Kill,
): Promise<Ledger> {
  const { db, survivor, place } = ground;
  const orgId = await makeOrganization(db);
  const surveyId = await makeSurvey(db, orgId, remindedSurvey(db, cause));
  const emails = Array.from({ length: people }, (_, n) => `p${n}-${surveyId}@people.test`);
  const order = { orgId, surveyId, emails, cause };
  if (cause !== 'send') await addContacts(db, order);
  const poolId = `doomed-${randomUUID()}`;

  const killed =
    (await run(ground.script, { ...place, ...order, poolId, point, nth })) === 'SIGKILL';
  await takenOver(ground, poolId);
  await survivor.mail(orgId);
  await survivor.cause(order);
  await survivor.mail(orgId);
  return { point, killed, ...(await balance(ground, order)) };
}

function remindedSurvey(db: Ground['db'], cause: Cause) {
  if (cause === 'reminder') return { reminders: db.json([{ after_days: 1 }]) };
  if (cause !== 'round') return {};
  const repeat = { every_days: 7, audience: null, per_day: null, spread: false };
  return { repeat: db.json(repeat), repeat_since: new Date() };
}

/** Contacts to mail, or contacts that were mailed before and are due for a reminder or the next round. */
async function addContacts(db: Ground['db'], { orgId, surveyId, emails, cause }: Order) {
  const isFirst = cause === 'campaign';
  const sentAt = cause === 'round' ? new Date(Date.now() - 8 * dayMs) : null;
  await db.begin(async (tx) => {
    await tx`
      insert into contacts (org_id, survey_id, email, token, status, sent_at)
      select ${orgId}, ${surveyId}, email, replace(gen_random_uuid()::text, '-', ''),
             ${isFirst ? 'pending' : 'sent'}, ${sentAt}
      from unnest(${emails}::text[]) as e (email)`;
    await tx`
      insert into people (org_id, email)
      select ${orgId}, email from unnest(${emails}::text[]) as e (email)
      on conflict do nothing`;
    if (!isFirst) await addAsked(tx, { orgId, surveyId, cause });
  });
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * In one transaction, because every running process looks for reminders and rounds of all organizations. One of them
 * may have added the row of the reminders already.
 */
async function addAsked(tx: Sql, { orgId, surveyId, cause }: Omit<Order, 'emails'>) {
  await tx`
    insert into mails (org_id, survey_id, contact_id, email, request_id, month, status, claimed_at, finished_at)
    select org_id, survey_id, id, email, gen_random_uuid(), '2020-01-01', 'sent', now() - interval '25 hours',
           now() - interval '25 hours'
    from contacts where survey_id = ${surveyId}`;
  if (cause === 'round') return;
  await tx`
    insert into campaigns (org_id, survey_id, kind, reminder, after_days, name, status, created_at)
    values (${orgId}, ${surveyId}, 'reminder', 1, 1, 'reminder', 'running', now() - interval '2 days')
    on conflict (survey_id, kind, reminder) where kind <> 'campaign' do update
      set created_at = excluded.created_at, seen_until = null`;
}

async function run(script: string, doom: Doom): Promise<string | null> {
  const child = spawn(process.execPath, [script, JSON.stringify(doom)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code) throw new Error(`the sending process ended with ${code}`);
  return signal;
}

async function takenOver({ db, sweep }: Ground, poolId: string) {
  await until('the dead one is known to be dead', async () => {
    await sweep();
    return (await db`select from worker_pools where pool_id = ${poolId}`).length === 0;
  });
}

async function balance({ db, arrivals }: Ground, { orgId, emails, cause }: Order) {
  const reminder = cause === 'reminder' ? 1 : 0;
  const round = cause === 'round' ? 2 : 1;
  const rows = await db<{ email: string; status: string }[]>`
    select email, status from mails
    where org_id = ${orgId} and status <> 'failed' and reminder = ${reminder} and round = ${round}`;
  const statusOf = new Map(rows.map(({ email, status }) => [email, status]));
  const [usage] = await db<{ used: number }[]>`select used from mail_usage where org_id = ${orgId}`;
  const mails = emails.map((email) => ({
    email,
    status: statusOf.get(email) ?? null,
    arrived: arrivals.get(email) ?? 0,
  }));
  return { mails, used: usage?.used ?? 0 };
}

/** Broken promises after a kill, as sentences. */
export function broken({ killed, mails, used }: Ledger): string[] {
  const wrong = killed ? [] : ['the process was not killed'];
  for (const { email, status, arrived } of mails) {
    if (arrived > 1) wrong.push(`${email} arrived ${arrived} times`);
    if (status === 'sent' && arrived !== 1) wrong.push(`${email} is recorded as sent and is lost`);
    if (status !== 'sent' && status !== 'unknown') wrong.push(`${email} is left ${status}`);
  }
  if (used !== mails.length) wrong.push(`${used} of the month's quota are used`);
  return wrong;
}
