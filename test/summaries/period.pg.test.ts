import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findDefaultDays, listMonthsDue } from '../../src/summaries/queries.ts';
import { periodBefore, periodOfDays } from '../../src/summaries/rules.ts';
import { reportType } from '../../src/summaries/summarize.ts';
import { makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const at = (iso: string) => new Date(iso);

/** Adds a response in the last month of the organization's time zone. */
async function respondLastMonth(org_id: string, over: object = {}) {
  const [last] = await db<{ created_at: Date }[]>`
    select (date_trunc('month', now() at time zone time_zone) - interval '10 days') at time zone time_zone as created_at
    from organizations
    where id = ${org_id}`;
  const survey_id = await makeSurvey(db, org_id);
  await makeResponse(db, { org_id, survey_id }, { ...last!, ...over });
}

/** Days of 23, 24 and 25 hours. In Havana midnight occurs twice, and the second one counts. */
const days = [
  ['UTC', '2026-05-04', '2026-05-04T00:00:00Z', '2026-05-05T00:00:00Z'],
  ['Asia/Kolkata', '2026-05-04', '2026-05-03T18:30:00Z', '2026-05-04T18:30:00Z'],
  ['Europe/Berlin', '2026-03-28', '2026-03-27T23:00:00Z', '2026-03-28T23:00:00Z'],
  ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
  ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
  ['America/New_York', '2026-11-01', '2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z'],
  ['Pacific/Auckland', '2026-09-27', '2026-09-26T12:00:00Z', '2026-09-27T11:00:00Z'],
  ['America/Havana', '2026-10-31', '2026-10-31T04:00:00Z', '2026-11-01T05:00:00Z'],
  ['America/Havana', '2026-11-01', '2026-11-01T05:00:00Z', '2026-11-02T05:00:00Z'],
] as const;

for (const [zone, day, start, end] of days) {
  test(`${day} in ${zone} starts at ${start}`, () => {
    assert.deepEqual(periodOfDays(zone, day, day), { start: at(start), end: at(end) });
  });
}

const periods = [
  ['UTC', '2026-05-01T00:00:00Z', '2026-06-01T00:00:00Z', '2026-04-01T00:00:00Z'],
  ['UTC', '2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z', '2026-02-01T00:00:00Z'],
  ['UTC', '2026-01-01T00:00:00Z', '2026-04-01T00:00:00Z', '2025-10-01T00:00:00Z'],
  ['UTC', '2025-11-01T00:00:00Z', '2026-02-01T00:00:00Z', '2025-08-01T00:00:00Z'],
  ['UTC', '2025-01-01T00:00:00Z', '2026-01-01T00:00:00Z', '2024-01-01T00:00:00Z'],
  ['Europe/Berlin', '2026-03-31T22:00:00Z', '2026-04-30T22:00:00Z', '2026-02-28T23:00:00Z'],
  ['Europe/Berlin', '2026-10-31T23:00:00Z', '2026-11-30T23:00:00Z', '2026-09-30T22:00:00Z'],
  ['UTC', '2026-05-01T00:00:00Z', '2026-05-31T00:00:00Z', '2026-04-01T00:00:00Z'],
  ['UTC', '2026-05-02T00:00:00Z', '2026-06-01T00:00:00Z', '2026-04-02T00:00:00Z'],
  ['Europe/Berlin', '2026-05-01T00:00:00Z', '2026-06-01T00:00:00Z', '2026-03-31T00:00:00Z'],
  ['UTC', '2026-05-07T09:00:00Z', '2026-05-08T10:30:00Z', '2026-05-06T07:30:00Z'],
] as const;

for (const [zone, start, end, before] of periods) {
  test(`finds the period before ${start.slice(0, 16)} to ${end.slice(0, 16)} in ${zone}`, () => {
    const period = { start: at(start), end: at(end) };
    assert.deepEqual(periodBefore(period, zone), { start: at(before), end: at(start) });
  });
}

/** An existing summary, shifted from the start of the last month, and whether that month is still due. */
const summaries = [
  ['-14 hours', {}, false],
  ['0', {}, false],
  ['26 hours', {}, false],
  ['-3 days', {}, true],
  ['3 days', {}, true],
  ['-1 month', {}, true],
  ['1 month', {}, true],
  ['0', { scheduled: false }, true],
  ['0', { report_type: 'another' }, true],
] as const;

const findMonthDue = async (id: string) =>
  (await listMonthsDue(db, reportType)).find(({ org_id }) => org_id === id);

test('a month is due until it has a scheduled summary', async () => {
  const other = await makeOrganization(db, { ai_enabled: true });
  await respondLastMonth(other);
  for (const [shift, over, isDue] of summaries) {
    const org_id = await makeOrganization(db, {
      ai_enabled: true,
      created_at: at('2020-01-01T00:00:00Z'),
      time_zone: 'Asia/Tokyo',
    });
    await respondLastMonth(org_id);
    const row = { org_id, scheduled: true, report_type: reportType, ...over };
    const due = await findMonthDue(org_id);
    assert.ok(due, 'without a summary');
    await db`
      insert into summaries (org_id, scheduled, report_type, period_start, period_end, responses, text)
      select ${row.org_id}, ${row.scheduled}, ${row.report_type}, start + ${shift}::interval, start + interval '9 months', 0, ''
      from (values (${due.start}::timestamptz)) month (start)`;
    const name = `${shift} ${JSON.stringify(over)}`;
    assert.equal((await findMonthDue(org_id)) !== undefined, isDue, name);
    assert.equal(await findMonthDue(other), undefined, 'created this month');
  }
});

test('a month without responses is not due', async () => {
  const created_at = at('2020-01-01T00:00:00Z');
  const org_id = await makeOrganization(db, { ai_enabled: true, created_at });
  assert.equal(await findMonthDue(org_id), undefined);
  await respondLastMonth(org_id, { held_reason: 'trap' });
  assert.equal(await findMonthDue(org_id), undefined);
  await respondLastMonth(org_id);
  assert.ok(await findMonthDue(org_id));
});

test('a month is due if the organization was created before its end', async () => {
  const monthDue = async (age: string) => {
    const org_id = await makeOrganization(db, { ai_enabled: true, time_zone: 'Asia/Tokyo' });
    await db`
      update organizations
      set created_at = date_trunc('month', now() at time zone time_zone) at time zone time_zone - ${age}::interval
      where id = ${org_id}`;
    await respondLastMonth(org_id);
    return (await findMonthDue(org_id)) !== undefined;
  };
  assert.deepEqual([await monthDue('1 microsecond'), await monthDue('0')], [true, false]);
});

/** Ends of earlier summaries in local time, and the default days. Today is day 0. */
const usual = [
  [[], -30, 0],
  [['-10 days'], -10, 0],
  [['-10 days', '-20 days'], -10, 0],
  [['-20 days', '-10 days 5 hours'], -10, 0],
  [['-1 minute'], -1, 0],
  [['0'], 0, 0],
  [['3 days'], 0, 0],
] as const;

test('a new summary covers the days from the last one to today', async () => {
  for (const time_zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
    for (const [ends, from, to] of usual) {
      const org = await makeOrganization(db, { time_zone });
      const other = await makeOrganization(db, { time_zone });
      await db.begin(async (tx) => {
        await tx`
          insert into summaries (org_id, period_start, period_end, responses, text)
          select org, now() - interval '1 year', (today + shift::interval) at time zone ${time_zone}, 0, ''
          from (select date_trunc('day', now() at time zone ${time_zone}) as today) clock
          cross join (
            select ${org}::uuid, unnest(${[...ends]}::text[]) union all values (${other}::uuid, '-2 days')
          ) summary (org, shift)`;
        const [expected] = await tx`
          select (today + ${from}::int)::text as from, (today + ${to}::int)::text as to
          from (select (now() at time zone ${time_zone})::date as today) clock`;
        const days = await findDefaultDays(tx, org, time_zone);
        assert.deepEqual({ ...days }, { ...expected }, `${time_zone}: ${ends}`);
      });
    }
  }
});
