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

/** A survey in its own organization, whose contacts were mailed in the same quarter hour. */
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

/** The two ways to record answers. Waiting for the lock of a total fails soon. */
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

for (const [way, record] of Object.entries(ways)) {
  test(`answers ${way} do not wait for locked totals`, async () => {
    const s = await survey({ contacts: 400 });
    const given = s.people.slice(1, 3).map((id) => responseOf(s, id));
    const answered = (tx: Sql) => ways['alone']!(tx, [responseOf(s, s.people[0]!)]);
    await db.begin(async (other) => {
      await answered(other);
      await db.begin(async (tx) => {
        const recorded = await record(tx, given);
        assert.deepEqual(recorded.toSorted(), given.map(({ id }) => id).toSorted());
      });
    });
    await assertTalliesHold(db);
  });

  test(`answers ${way} mark only their own contacts`, async () => {
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
  /** True if the survey is locked against everybody, not only against other groups. */
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
  test(`a group ${recorded ? 'records' : 'skips'} answers to a survey with ${what}`, async () => {
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
