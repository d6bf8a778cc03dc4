import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sweepCampaigns } from '../../src/campaigns/automation.ts';
import { listAutomaticSurveys } from '../../src/campaigns/judge.ts';
import { askRounds } from '../../src/campaigns/rounds.ts';
import { saveContacts } from '../../src/contacts/queries.ts';
import type { Db } from '../../src/lib/db/db.ts';
import { erasePerson } from '../../src/people/erase.ts';
import { claim } from '../../src/sends/claim.ts';
import { readContact } from '../../src/sends/rules.ts';
import { suppress } from '../../src/suppressions/suppress.ts';
import { campaignRunner } from '../support/make/campaigns.ts';
import { eraseTools, erasureFolder } from '../support/make/erasure.ts';
import { accepted, rejected } from '../support/make/mail-outcomes.ts';
import { makeOrganization, makeSurvey, writeKeyOf } from '../support/make/rows.ts';
import { clockedDatabase } from '../support/probe/clocked-database.ts';
import { type AskOf, companyModel, everyDays, frequencyDays, openDays } from './year-model.ts';

/** 300 customers at first; the nightly run has 5,000. */
const firstCustomers = Number(process.env['YEAR_CUSTOMERS'] ?? 300);
const share = firstCustomers / 300;
const zone = 'Europe/Berlin';
const firstDay = Temporal.PlainDate.from('2025-01-06');
const days = 365;
const outage = { from: 130, days: 3 };
const [planningCrash, mailCrash] = [100, 200];
const unknownMails = 3;

const at = (day: number) =>
  new Date(
    firstDay.add({ days: day }).toZonedDateTime({ timeZone: zone, plainTime: '10:00' })
      .epochMilliseconds,
  );

const { db, set } = await clockedDatabase(at(0));

test('a year of rounds equals a model of every person', async () => {
  const orgId = await makeOrganization(db, {
    time_zone: zone,
    frequency_days: frequencyDays,
    monthly_send_limit: 10_000_000,
  });
  const send_window = db.json({
    days: ['mon', 'tue', 'wed', 'thu', 'fri'],
    from: '09:00',
    to: '17:00',
    time_zone: zone,
  });
  // The places in the cycle come from the id: a fixed one makes each run alike.
  const surveyId = await makeSurvey(db, orgId, {
    id: '0193f0aa-0000-7000-8000-000000000001',
    send_window,
    ask_after_days: 0,
    ask_after_days_since: at(0),
    repeat: db.json({ every_days: everyDays, per_day: null, spread: true }),
    repeat_since: at(0),
  });
  const otherId = await makeSurvey(db, orgId, { name: 'After support' });
  const writer = writeKeyOf(orgId);
  const erasing = eraseTools(db, erasureFolder());
  const random = randomOf(7);
  const model = companyModel({ firstDay, zone });
  const bouncing = new Set<string>();
  const runner = campaignRunner(db, orgId, {
    says: ({ email }) =>
      bouncing.has(email)
        ? rejected('550 5.1.1 no such user', { unknownMailbox: true })
        : accepted(),
  });
  let [made, interrupted] = [0, 0];

  async function addCustomers(count: number) {
    const emails = Array.from({ length: count }, () => `c${made++}@customers.test`);
    const contacts = emails.map((email) => ({ email, name: null, properties: {} }));
    await saveContacts(db, { orgId, surveyId }, contacts);
    for (const { email, place } of await places(db, surveyId, emails)) model.add(email, { place });
  }

  /** The three first mails of the day were being sent when the process died. */
  async function interruptMails(day: number) {
    await runner.work({ without: ['sends.mail'] });
    const stuck = await db<{ email: string }[]>`
      update mails set status = 'sending', attempts = 1, sending_at = now()
      where id in (select id from mails where org_id = ${orgId} and status = 'claimed' and survey_id = ${surveyId}
                   order by email_key limit ${unknownMails})
      returning email`;
    for (const { email } of stuck) model.interrupt(email, day);
    interrupted += stuck.length;
  }

  async function events(day: number) {
    const known = model.emails();
    await addCustomers(day === 0 ? firstCustomers : often(random, share));
    if (known.length === 0) return;
    const somebody = () => known[Math.floor(random() * known.length)]!;
    for (let each = often(random, 0.3 * share); each > 0; each--) {
      const email = somebody();
      await suppress(db, { orgId, email }, { kind: 'unsubscribed', detail: null });
      model.unsubscribe(email);
    }
    for (let each = often(random, 0.3 * share); each > 0; each--) bouncing.add(somebody());
    for (let each = often(random, 0.15 * share); each > 0; each--) {
      const email = somebody();
      if (!model.isThere(email)) continue;
      await erasePerson(erasing, writer, { email, scores: 'kept' });
      model.erase(email);
    }
    const supported = new Set(Array.from({ length: often(random, 2 * share) }, somebody));
    if (supported.size === 0) return;
    const submitted = [...supported].map((email) => readContact({ email }));
    const requestId = crypto.randomUUID();
    await claim(db, { orgId, surveyId: otherId }, { requestId, submitted, traceparent: null });
    for (const email of supported) model.support(email, { day, bounces: bouncing.has(email) });
    await runner.work();
  }

  for (let day = 0; day < days; day++) {
    if (!openDays.includes(firstDay.add({ days: day }).dayOfWeek)) continue;
    if (day >= outage.from && day < outage.from + outage.days) continue;
    runner.clock.at = at(day);
    await set(at(day));
    await events(day);
    if (day === planningCrash) {
      const [survey] = await listAutomaticSurveys(db);
      await assert.rejects(askRounds({ db: dying(db) }, survey!, at(day)), /killed/);
    }
    const ids = await currentIds(db, surveyId);
    await sweepCampaigns(runner.tools);
    model.sweep(day, {
      idOf: (email) => ids.get(email)!,
      bounces: (email) => bouncing.has(email),
    });
    if (day === mailCrash) await interruptMails(day);
    // A campaign claims its mails in steps of 4,000.
    await runner.workFor(1);
    assert.deepEqual(await asksOn(db, { surveyId, at: at(day) }), model.asksOn(day), `day ${day}`);
  }

  const reasons = await db`
    select email, reason_code, to_char(blocked_at at time zone ${zone}, 'YYYY-MM-DD') as on
    from blocked_mails where org_id = ${orgId} and survey_id = ${surveyId}
    order by email collate "C", blocked_at`;
  const texts = (list: readonly object[]) => list.map((each) => JSON.stringify(each));
  const [actual, expected] = [texts(reasons), texts(model.reasons())];
  assert.deepEqual(
    actual.filter((reason) => !expected.includes(reason)),
    [],
  );
  assert.deepEqual(actual, expected);
  const rounds = await db`
    select email, max(round)::int as round, count(*)::int as rows, count(*) filter (where not superseded)::int as current
    from contacts where survey_id = ${surveyId} group by email order by email collate "C"`;
  assert.deepEqual([...rounds], model.rounds());
  assert.ok(interrupted > 0 && model.count('bounced') > 0);
  const codes = new Set(model.reasons().map(({ reason_code }) => reason_code));
  assert.deepEqual([...codes].sort(), ['bounced', 'frequency', 'unsubscribed']);
});

/** The place in the cycle comes from the hash of Postgres. */
const places = (sql: Db, surveyId: string, emails: readonly string[]) => sql<
  { email: string; place: string }[]
>`
  select email, (hashtextextended(${surveyId}::text || email, 0) & 9223372036854775807)::text as place
  from unnest(${[...emails]}::text[]) email`;

/** Contacts that are due at the same time are asked in the order of their ids. */
async function currentIds(sql: Db, surveyId: string) {
  const rows = await sql<{ email: string; id: string }[]>`
    select email, id from contacts where survey_id = ${surveyId} and not superseded`;
  return new Map(rows.map(({ email, id }) => [email, id]));
}

async function asksOn(sql: Db, { surveyId, at }: { surveyId: string; at: Date }): Promise<AskOf[]> {
  const rows = await sql<AskOf[]>`
    select m.email, m.round::int as round, case when c.status = 'bounced' then 'bounced' else m.status end as outcome
    from mails m
    join contacts c on c.id = m.contact_id
    where m.survey_id = ${surveyId} and m.claimed_at = ${at}
    order by m.email collate "C"`;
  return [...rows];
}

/** A database whose transactions are lost at their end. */
const dying = (sql: Db): Db =>
  new Proxy(sql, {
    get: (target, name) =>
      name === 'begin'
        ? (mode: string, work: (tx: unknown) => Promise<unknown>) =>
            sql.begin(mode, async (tx) => {
              await work(tx);
              throw new Error('killed');
            })
        : Reflect.get(target, name),
  });

/** Mulberry32. */
function randomOf(seed: number) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Draws a number of events with this mean. */
const often = (random: () => number, mean: number) =>
  Math.floor(mean) + (random() < mean % 1 ? 1 : 0);
