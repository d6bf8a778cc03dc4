import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { one, type Sql } from '../../src/lib/db/db.ts';
import { type NewResponse, recordAnswers } from '../../src/responses/answer.queries.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { assertTalliesHold } from '../support/probe/tallies.ts';

const { db } = await testDatabase();
const at = new Date('2026-05-06T07:08:09Z');

/** A survey of an organization of its own, with contacts that were mailed in one quarter of an hour. */
async function survey({ contacts }: { contacts: number }) {
  const orgId = await makeOrganization(db);
  const surveyId = await makeSurvey(db, orgId);
  const people = await db<{ id: string }[]>`
    insert into contacts (org_id, survey_id, email, token, sent_at, status)
    select ${orgId}, ${surveyId}, n || '@people.test', gen_random_uuid(), '2026-05-01 09:00Z', 'sent'
    from generate_series(1, ${contacts}::int) n
    returning id`;
  return { orgId, surveyId, people: people.map(({ id }) => id) };
}
type Survey = Awaited<ReturnType<typeof survey>>;

const responseOf = (
  { orgId, surveyId }: Survey,
  contactId: string | null,
  over: Partial<NewResponse> = {},
): NewResponse => ({
  id: randomUUID(),
  org_id: orgId,
  survey_id: surveyId,
  contact_id: contactId,
  score: 9,
  source: contactId ? 'link' : 'share',
  category: 'promoter',
  comment: null,
  held_reason: null,
  traceparent: null,
  type: 'nps',
  language: 'en',
  properties: null,
  created_at: at,
  ...over,
});

const effectsOf = ({ org_id }: NewResponse) => ({
  added: { orgId: org_id, events: [], traceparent: null },
  analyze: false,
});

/** The two ways to record answers. Neither may wait for a total: a lock that is not free soon is an error. */
const ways: Record<string, (tx: Sql, responses: readonly NewResponse[]) => Promise<string[]>> = {
  alone: async (tx, responses) => {
    const recorded: string[] = [];
    for (const response of responses) recorded.push(...(await recordGroup(tx, [response])));
    return recorded;
  },
  'in a group': (tx, responses) => recordGroup(tx, responses),
};

async function recordGroup(tx: Sql, responses: readonly NewResponse[]) {
  const group = responses.map((response) => ({ response, effects: effectsOf(response) }));
  return (await recordAnswers(tx, group, 1000)).map(({ id }) => id);
}

/** Whose total each kept row is, and whether it is in the slot of everybody or in that of a connection. */
async function slotsOf({ orgId, surveyId }: Survey, pid: number) {
  const tables = await db<{ of: string; slot: number; n: number }[]>`
    select 'survey' as of, slot, promoters::int as n from survey_tallies where survey_id = ${surveyId}
    union all
    select 'its day', slot, promoters from day_tallies where survey_id = ${surveyId}
    union all
    select 'its quarter', slot, answered from asked_tallies where survey_id = ${surveyId}
    union all
    select 'organization', slot, promoters from organization_day_tallies where org_id = ${orgId}`;
  const own = 1 + (pid % 15);
  const inSlot = (of: string, slot: number) =>
    tables.filter((row) => row.of === of && row.slot === slot).reduce((sum, { n }) => sum + n, 0);
  return Object.fromEntries(
    ['survey', 'its day', 'its quarter', 'organization'].map((of) => [
      of,
      [inSlot(of, 0), inSlot(of, own)],
    ]),
  );
}

type Held = {
  hold: (tx: Sql, s: Survey) => PromiseLike<unknown>;
  /** How many of the answers are counted for everybody, and how many in the slot of the connection. */
  counted: { ofSurvey: [number, number]; ofOrganization: [number, number] };
};

const forEverybody: [number, number] = [3, 0];
const aside: [number, number] = [1, 2];

/** A first answer has been counted for everybody, but where it is the one that is not committed. */
const held: Record<string, Held> = {
  nothing: {
    hold: (tx) => tx`select`,
    counted: { ofSurvey: forEverybody, ofOrganization: forEverybody },
  },
  'the totals of a survey': {
    hold: (tx, { surveyId }) => tx`
      select from survey_tallies t, day_tallies d, asked_tallies a
      where t.survey_id = ${surveyId} and t.slot = 0 and d.survey_id = t.survey_id and d.slot = 0
        and a.survey_id = t.survey_id and a.slot = 0
      for update`,
    counted: { ofSurvey: aside, ofOrganization: forEverybody },
  },
  "the total of an organization's day": {
    hold: (tx, { orgId }) => tx`
      select from organization_day_tallies where org_id = ${orgId} and slot = 0 for update`,
    counted: { ofSurvey: forEverybody, ofOrganization: aside },
  },
  'all totals': {
    hold: (tx, { orgId, surveyId }) => tx`
      select from organization_day_tallies o, survey_tallies t, day_tallies d, asked_tallies a
      where o.org_id = ${orgId} and o.slot = 0
        and t.survey_id = ${surveyId} and t.slot = 0 and d.survey_id = t.survey_id and d.slot = 0
        and a.survey_id = t.survey_id and a.slot = 0
      for update`,
    counted: { ofSurvey: aside, ofOrganization: aside },
  },
};

for (const [way, record] of Object.entries(ways)) {
  for (const [what, { hold, counted }] of Object.entries(held)) {
    test(`answers ${way} wait for no total, and are counted in a slot of their own, while another transaction holds ${what}`, async () => {
      const [s, other] = [await survey({ contacts: 400 }), await survey({ contacts: 400 })];
      for (const each of [s, other]) {
        await db.begin((tx) => ways['alone']!(tx, [responseOf(each, each.people[0]!)]));
      }
      const given = [s, other].flatMap((each) =>
        each.people.slice(1, 3).map((id) => responseOf(each, id)),
      );
      const pid = await whileHeld((tx) => hold(tx, s), { record, given });
      const { ofSurvey, ofOrganization } = counted;
      assert.deepEqual(await slotsOf(s, pid), {
        survey: ofSurvey,
        'its day': ofSurvey,
        'its quarter': ofSurvey,
        organization: ofOrganization,
      });
      assert.deepEqual(await slotsOf(other, pid), {
        survey: forEverybody,
        'its day': forEverybody,
        'its quarter': forEverybody,
        organization: forEverybody,
      });
      await assertTalliesHold(db);
    });
  }

  test(`answers ${way} mark their contacts and touch no others`, async () => {
    const s = await survey({ contacts: 400 });
    await db`update contacts set updated_at = '2026-05-02' where survey_id = ${s.surveyId}`;
    await db.begin((tx) => record(tx, [responseOf(s, s.people[0]!), responseOf(s, null)]));
    const marked = await db`
      select id, status, responded_at, updated_at > '2026-05-03' as updated from contacts
      where survey_id = ${s.surveyId}
        and (updated_at > '2026-05-03' or status <> 'sent' or responded_at is not null)`;
    assert.deepEqual(
      marked.map((row) => ({ ...row })),
      [{ id: s.people[0], status: 'responded', responded_at: at, updated: true }],
    );
  });

  test(`answers ${way} wait for no total that another transaction has just made and not committed`, async () => {
    const s = await survey({ contacts: 400 });
    const given = s.people.slice(1, 3).map((id) => responseOf(s, id));
    const first = (tx: Sql) => ways['alone']!(tx, [responseOf(s, s.people[0]!)]);
    const pid = await whileHeld(first, { record, given });
    assert.deepEqual(await slotsOf(s, pid), {
      survey: aside,
      'its day': aside,
      'its quarter': aside,
      organization: aside,
    });
    await assertTalliesHold(db);
  });
}

type Recorded = { record: (typeof ways)[string]; given: readonly NewResponse[] };

/** Records and commits while another transaction holds something; returns the connection's process. */
async function whileHeld(
  hold: (tx: Sql) => PromiseLike<unknown>,
  { record, given }: Recorded,
): Promise<number> {
  return await db.begin(async (other) => {
    await hold(other);
    return await db.begin(async (tx) => {
      const recorded = await record(tx, given);
      assert.deepEqual(recorded.toSorted(), given.map(({ id }) => id).toSorted());
      return one(await tx<{ pid: number }[]>`select pg_backend_pid() as pid`).pid;
    });
  });
}

const mostUncommitted = one(
  await db<{ most: number }[]>`select most_uncommitted_responses() as most`,
).most;

type Near = {
  open: number;
  answers: number;
  over?: Partial<NewResponse>;
  shared?: boolean;
  recorded: boolean;
  /** Whether the survey's row is locked against all others, and not only against other groups. */
  alone: boolean;
};

const groups: Record<string, Near> = {
  'more contacts left than can answer at once': {
    open: mostUncommitted + 1,
    answers: 2,
    recorded: true,
    alone: false,
  },
  'as many contacts left as can answer at once': {
    open: mostUncommitted,
    answers: 2,
    recorded: true,
    alone: true,
  },
  'one contact more than answers': { open: 3, answers: 2, recorded: true, alone: true },
  'as many contacts as answers': { open: 2, answers: 2, recorded: false, alone: true },
  'no contact left but on hold': {
    open: 2,
    answers: 2,
    over: { held_reason: 'hidden_link' },
    recorded: true,
    alone: false,
  },
  'contacts who do not answer': {
    open: 2,
    answers: 2,
    shared: true,
    recorded: true,
    alone: false,
  },
};
for (const [what, { open, answers, over, shared, recorded, alone }] of Object.entries(groups)) {
  test(`a group ${recorded ? 'takes' : 'leaves out'} the answers to a survey with ${what}`, async () => {
    const s = await survey({ contacts: open + 1 });
    const [answered, ...people] = s.people;
    await db`update contacts set responded_at = now(), status = 'responded' where id = ${answered!}`;
    const given = people.slice(0, answers).map((id) => responseOf(s, shared ? null : id, over));
    await db.begin(async (tx) => {
      const ids = await ways['in a group']!(tx, given);
      assert.deepEqual(ids.toSorted(), recorded ? given.map(({ id }) => id).toSorted() : []);
      const free = await db`
        select from surveys where id = ${s.surveyId} for key share skip locked`;
      assert.equal(free.length, alone ? 0 : 1);
      const free2 = await db`
        select from surveys where id = ${s.surveyId} for no key update skip locked`;
      assert.equal(free2.length, 0);
    });
    await assertTalliesHold(db);
  });
}
