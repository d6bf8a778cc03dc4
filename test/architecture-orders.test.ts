import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFiles } from './support/walls/sources.ts';
import { statementsIn } from './support/walls/statements.ts';

/** How statements order rows and compare times: what no test of one row more or less can see. */
const statements = [
  ...readFiles('src/**/*.{ts,tsx}').flatMap(({ path, text }) =>
    statementsIn(text).map((statement) => ({ path, statement })),
  ),
  ...readFiles('sql/{migrations,steps}/*.sql').map(({ path, text }) => ({
    path,
    statement: text.replaceAll(/--.*/g, ''),
  })),
];

/** Statements of a file in which a pattern is found. */
const having = (pattern: RegExp) =>
  statements.flatMap(({ path, statement }) =>
    [...statement.matchAll(pattern)].map(([found]) => `${path}: ${found.replaceAll(/\s+/g, ' ')}`),
  );

const nested = String.raw`(?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))`;
const orders = statements.flatMap(({ path, statement }) =>
  [...statement.matchAll(new RegExp(`\\border by (${nested}*?)(?=${ends().source}|$)`, 'g'))].map(
    ([, terms]) => ({ path, terms: terms!.split(/,(?![^(]*\))/).map((term) => term.trim()) }),
  ),
);

function ends() {
  return /\s*(?:\)|;|\b(?:limit|offset|rows|union|for (?:no key )?update|for (?:key )?share)\b)/;
}

const isId = /^(?:\w+\.)?id(?: desc)?$/;
const isTime = /^(?:\w+\.)?(?:at|\w+_at)(?: desc)?$/;
const isDescending = (term: string) => / desc\b/.test(term);

test('an order that has an id ends in it: what came after would decide nothing', () => {
  assert.ok(orders.filter(({ terms }) => terms.some((term) => isId.test(term))).length > 60);
  const beyond = orders.filter(({ terms }) => terms.slice(0, -1).some((term) => isId.test(term)));
  assert.deepEqual(beyond, []);
});

test('a time and the id after it go the same way, as the index and the cursor do', () => {
  const apart = orders.filter(({ terms }) => {
    const [time = '', id = ''] = terms.slice(-2);
    return isTime.test(time) && isId.test(id) && isDescending(time) !== isDescending(id);
  });
  assert.deepEqual(apart, []);
});

/** Some of the newest, with no page after them: which of one moment stands first says nothing to a reader. */
const withoutPages = [
  'src/home/queries.ts: order by active, created_at desc',
  'src/home/queries.ts: order by active, created_at desc',
  'src/operations/operator/queries.ts: order by started_at desc',
  'src/responses/score-sums.queries.ts: order by created_at desc',
  'src/summaries/summary.queries.ts: order by category, created_at desc',
  'src/summaries/summary.queries.ts: order by r.created_at desc',
];

test('a list that is newest first ends in an id: rows of one moment have one order', () => {
  const newestFirst = having(
    /order by [^()]*?_at desc(?!\s+limit \d+\b)(?=\s*(?:limit|offset|\)|;|$))/g,
  );
  assert.deepEqual(newestFirst.sort(), withoutPages);
});

test('what is first in an order is not said: only what is newest first has a word for it', () => {
  assert.deepEqual(having(/ asc\b(?! limit)/g), []);
});

/** Any of the rows does: they are deleted or counted, one of them is enough, or there is one at most. */
const withoutOrder: Record<string, number> = {
  'src/campaigns/retention.queries.ts': 1,
  'src/contacts/delete.queries.ts': 1,
  'src/contacts/many.queries.ts': 1,
  'src/contacts/upload.queries.ts': 2,
  'src/home/queries.ts': 1,
  'src/keys/idempotency.queries.ts': 1,
  'src/keys/rate-windows.queries.ts': 1,
  'src/lib/db/migrate-step-state.ts': 1,
  'src/members/attempts.queries.ts': 1,
  'src/members/handshake.queries.ts': 1,
  'src/members/links.queries.ts': 1,
  'src/members/oidc/queries.ts': 1,
  'src/members/queries.ts': 1,
  'src/notifications/sweep.queries.ts': 1,
  'src/responses/cleanup.queries.ts': 1,
  'src/responses/facet-sets.cte.ts': 2,
  'src/responses/facets.cte.ts': 1,
  'src/sends/cleanup.queries.ts': 1,
  'src/sessions/counts.cte.ts': 1,
  'src/sessions/queries.ts': 1,
  'src/webhooks/history.queries.ts': 1,
  'src/webhooks/screen.queries.ts': 1,
  // The order is in a part of the statement that another function gives, or is that of another select.
  'src/responses/neighbours.queries.ts': 1,
  'src/responses/waiting-analyses.queries.ts': 1,
  'src/webhooks/cleanup.queries.ts': 1,
  'src/webhooks/delivery.queries.ts': 1,
};

test('of what is cut off an order says which rows are left', () => {
  const cut = partsBefore(/\blimit [$\d(]/g, 'select');
  assert.ok(cut.length > 100);
  const loose = cut.filter(({ part }) => !/\border by\b/.test(part)).map(({ path }) => path);
  assert.deepEqual(countEach(loose), withoutOrder);
});

/** No other transaction inserts the same rows: they are of rows that this one has locked or made. */
const ownRows: Record<string, number> = {
  'src/campaigns/contacts.queries.ts': 1,
  'src/contacts/upload.queries.ts': 1,
  'src/notifications/sweep.queries.ts': 2,
  'src/organizations/change.queries.ts': 1,
  'src/responses/answer.queries.ts': 1,
  'src/responses/import.queries.ts': 1,
  'src/responses/waiting-analyses.cte.ts': 2,
  'src/responses/waiting-analyses.queries.ts': 1,
  'src/summaries/queries.ts': 1,
  'src/webhooks/outcome.queries.ts': 1,
};

test('rows that others may insert too are inserted in an order: two that do would wait in a circle', () => {
  const loose = partsBefore(/\bon conflict\b/g, 'insert into')
    .filter(({ part }) => /\bselect\b/.test(part))
    .filter(({ part }) => !/\border by\b|\bselect distinct on\b/.test(part));
  assert.deepEqual(countEach(loose.map(({ path }) => path)), ownRows);
});

/** Of every statement of `src` what stands between the words and the last `beginning` before them. */
function partsBefore(words: RegExp, beginning: string) {
  return statements
    .filter(({ path }) => path.startsWith('src/'))
    .flatMap(({ path, statement }) =>
      [...statement.matchAll(words)].map(({ index }) => {
        const before = statement.slice(0, index);
        return { path, part: before.slice(Math.max(before.lastIndexOf(beginning), 0)) };
      }),
    );
}

const countEach = (paths: readonly string[]) =>
  Object.fromEntries(
    [...new Set(paths)].map((path) => [path, paths.filter((each) => each === path).length]),
  );

test('a position in a list is passed, and newest first means before it', () => {
  assert.deepEqual(having(/_at, (?:\w+\.)?id\) <= /g), []);
  const ways = statements.flatMap(({ path, statement }) =>
    [...statement.matchAll(positionThenOrder)].map(([found, than, order]) => ({
      ...{ path, found, agrees: (than === '<') === isDescending(order!) },
    })),
  );
  assert.ok(ways.length >= 3);
  assert.deepEqual(
    ways.filter(({ agrees }) => !agrees),
    [],
  );
});

const positionThenOrder =
  /_at, (?:\w+\.)?id\) ([<>]) \$[^()]*?(order by (?:\w+\.)?\w+_at(?: desc)?)/g;

test('what is due now is due, and what is older than something is so by more than nothing', () => {
  assert.ok(having(/<= now\(\)(?! [-+])/g).length > 5);
  assert.deepEqual(having(/<= now\(\) [-+].*/g), []);
  assert.deepEqual(having(/\S+ < now\(\)(?! [-+])/g), []);
  assert.deepEqual(having(/\S+ >= now\(\)(?! -)/g), []);
});

test('rows that are locked together are locked in an order: two that do would wait in a circle', () => {
  const locking = statements
    .filter(({ path }) => path.startsWith('src/'))
    .flatMap(({ path, statement }) =>
      [...statement.matchAll(/for (?:no key )?update\b(?! skip)(?!(?: of \w+)? skip)/g)].map(
        ({ index }) => {
          const before = statement.slice(0, index);
          return { path, select: before.slice(before.lastIndexOf('select')) };
        },
      ),
    );
  assert.ok(locking.length > 30);
  const loose = locking.filter(
    ({ select }) =>
      !/\border by\b|\b(?:id|month|name) = \$|\b(?:name|email_key) = lower/.test(select),
  );
  assert.deepEqual(loose, []);
});
