import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Tracer, trace } from '@opentelemetry/api';
import { traceWith } from '../../src/lib/tracing/spans.ts';
import { makeOrganization, makeResponse, makeSurvey, makeWebhook } from '../support/make/rows.ts';
import { signIn, slugOfOrganization } from '../support/make/session.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { until } from '../support/probe/until.ts';

const { db } = await testDatabase();
const app = bareApp(db);

type SharedScreen = {
  name: string;
  path: (scene: Pick<Scene, 'survey' | 'webhook'>) => string;
  /** A table that its read needs, and the check of the session does not. */
  table: string;
  /** Words of a statement that it reads by. */
  statement: string;
};

/** The screens whose reads are shared, below an organization. */
const screens: SharedScreen[] = [
  { name: 'Home', path: () => '', table: 'surveys', statement: ' as attention' },
  {
    name: 'the responses',
    path: () => '/responses',
    table: 'surveys',
    statement: 'with picked as',
  },
  {
    name: 'the surveys',
    path: () => '/surveys',
    table: 'surveys',
    statement: 'left join survey_tallies t on t.survey_id = p.id',
  },
  {
    name: 'a survey',
    path: ({ survey }) => `/surveys/${survey}`,
    table: 'surveys',
    statement: 'group by score',
  },
  {
    name: 'the contacts',
    path: ({ survey }) => `/surveys/${survey}/contacts`,
    table: 'surveys',
    statement: 'failure_reason, sent_at, responded_at',
  },
  {
    name: 'the deliveries',
    path: ({ webhook }) => `/webhooks/${webhook}`,
    table: 'pending_deliveries',
    statement: 'coalesce(d.duration_ms, last.duration_ms)',
  },
];

type Scene = {
  org: string;
  survey: string;
  webhook: string;
  base: string;
  cookies: { Cookie: string }[];
};

/** An organization with an answer, and members who look at it. */
async function makeScene(comment: string, members: readonly ('owner' | 'viewer')[]) {
  const org = await makeOrganization(db);
  const survey = await makeSurvey(db, org, { name: comment });
  const webhook = await makeWebhook(db, org);
  await makeResponse(db, { org_id: org, survey_id: survey }, { comment });
  const cookies = await Promise.all(members.map((role) => signIn(db, { org, role })));
  return { org, survey, webhook, base: `/o/${await slugOfOrganization(db, org)}`, cookies };
}

async function read(path: string, cookie: { Cookie: string }): Promise<string> {
  const answer = await app.request(path, { headers: cookie });
  assert.equal(answer.status, 200, path);
  return await answer.text();
}

/** How many statements that hold these words are sent while some work is done. */
async function countStatements(words: string, work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const receive = (_connection: number, text: string) => {
    if (text.replace(/\s+/g, ' ').includes(words)) count += 1;
  };
  // postgres.js looks at this option at every statement; its type only knows it at the beginning.
  Object.assign(db.options, { debug: receive });
  try {
    await work();
  } finally {
    Object.assign(db.options, { debug: undefined });
  }
  return count;
}

/** Counts the spans that point to the request whose read they share. */
function countLinks(): () => number {
  let links = 0;
  const startSpan = () =>
    Object.assign(trace.wrapSpanContext({ traceId, spanId, traceFlags: 1 }), {
      addLink() {
        links += 1;
      },
    });
  traceWith({ startSpan } as unknown as Tracer);
  return () => links;
}

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const viewers = Array.from({ length: 20 }, () => 'viewer' as const);

for (const screen of screens) {
  const { name, path, table, statement } = screen;
  test(`twenty members who open ${name} at once cost two reads, and their spans say whose`, async (t) => {
    const scene = await makeScene('Quick and friendly', viewers);
    const links = countLinks();
    t.after(() => traceWith(undefined));
    const reads = await countStatements(statement, async () => {
      let pages: Promise<string>[] = [];
      await db.begin(async (tx) => {
        await tx`lock table ${tx(table)} in access exclusive mode`;
        pages = scene.cookies.map((cookie) => read(scene.base + path(scene), cookie));
        await until('all but the first two have joined a read', () => links() === 18);
      });
      await Promise.all(pages);
    });
    assert.equal(reads, 2);
  });
}

test('what is read is shared neither with another organization nor with another role', async () => {
  const ours = await makeScene('Said by ours', ['owner', 'viewer', 'owner', 'viewer']);
  const theirs = await makeScene('Said by theirs', ['owner', 'viewer']);
  const pages = async (scene: Scene) =>
    await Promise.all(
      scene.cookies.flatMap((cookie, at) =>
        screens.map(async (screen) => ({
          name: screen.name,
          isOwner: at % 2 === 0,
          html: await read(scene.base + screen.path(scene), cookie),
        })),
      ),
    );
  const [ofOurs, ofTheirs] = await Promise.all([pages(ours), pages(theirs)]);
  for (const { html, isOwner, name } of ofOurs) {
    assert.ok(!html.includes('Said by theirs'), name);
    assert.ok(html.includes('Said by ours') || name === 'the deliveries', name);
    if (name === 'the responses') assert.equal(html.includes('name="do"'), isOwner, name);
  }
  for (const { html, name } of ofTheirs) {
    assert.ok(!html.includes('Said by ours'), name);
    assert.ok(html.includes('Said by theirs') || name === 'the deliveries', name);
  }
});

test('a member reads what was written before it asked, however many read meanwhile', async () => {
  const scene = await makeScene('Answer 0', viewers.slice(0, 4));
  const { org, survey, base, cookies } = scene;
  const meanwhile: Promise<unknown>[] = [];
  for (let answer = 1; answer <= 15; answer += 1) {
    for (const cookie of cookies) {
      for (const { path } of screens) meanwhile.push(read(base + path(scene), cookie));
    }
    await makeResponse(db, { org_id: org, survey_id: survey }, { comment: `Answer ${answer}` });
    const [home, list] = await Promise.all(
      ['', '/responses'].map((path) => read(base + path, cookies[answer % cookies.length]!)),
    );
    assert.ok(home?.includes(`All ${answer + 1} responses`), `Home after answer ${answer}`);
    assert.ok(list?.includes(`Answer ${answer}<`), `the list after answer ${answer}`);
  }
  await Promise.all(meanwhile);
});
