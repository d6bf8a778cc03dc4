import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFiles } from './support/walls/sources.ts';
import { statementsIn } from './support/walls/statements.ts';

/**
 * How many tables of organizations the queries of a file read or write without naming the organization. All else is
 * tied to one: by its id, or by a row that is.
 */
const overOrganizations: Record<string, number> = {
  // Jobs that clean up or sweep the whole service.
  'src/campaigns/batch.queries.ts': 4,
  'src/campaigns/by-itself.queries.ts': 4,
  'src/campaigns/campaign.queries.ts': 2,
  'src/campaigns/retention.queries.ts': 2,
  'src/contacts/upload.queries.ts': 1,
  'src/notifications/sweep.queries.ts': 6,
  'src/people/erasure/file.queries.ts': 2,
  'src/responses/cleanup.queries.ts': 2,
  'src/responses/waiting-analyses.queries.ts': 2,
  'src/sends/queries.ts': 4,
  'src/webhooks/cleanup.queries.ts': 7,
  'src/webhooks/delivery.queries.ts': 2,
  // The operator looks at the whole service, and finds a row by its id alone.
  'src/campaigns/list.queries.ts': 1,
  'src/keys/queries.ts': 4,
  'src/notifications/slack.queries.ts': 1,
  'src/observations/queries.ts': 3,
  'src/operations/operator/queries.ts': 3,
  'src/operations/queries.ts': 2,
  'src/people/erasure/queries.ts': 1,
  'src/reporters/queries.ts': 2,
  'src/responses/release.queries.ts': 1,
  'src/suppressions/queries.ts': 2,
  'src/surveys/manage.queries.ts': 1,
  'src/tags/queries.ts': 1,
  'src/webhooks/queries.ts': 1,
  'src/webhooks/reseal-secrets.queries.ts': 1,
  // A secret or a name of the whole service leads to the organization; members belong to several.
  'src/members/account-acts.queries.ts': 1,
  'src/members/links.queries.ts': 9,
  'src/members/member-list.queries.ts': 1,
  'src/organizations/change.queries.ts': 1,
  'src/organizations/queries.ts': 2,
  'src/responses/link.queries.ts': 6,
  'src/sessions/queries.ts': 4,
  // The organization is in a part of the condition that another function gives, or in the row that leads here.
  'src/audit/queries.ts': 6,
  'src/campaigns/results.queries.ts': 1,
  'src/contacts/retention.queries.ts': 3,
  'src/responses/answer.queries.ts': 1,
  'src/responses/erase.queries.ts': 2,
  'src/responses/filter.cte.ts': 2,
  'src/responses/queries.ts': 3,
  'src/sends/history.queries.ts': 1,
  'src/surveys/queries.ts': 2,
  'src/surveys/screen.queries.ts': 1,
  'src/webhooks/missed.cte.ts': 2,
};

const [schema] = readFiles('sql/schema.sql');
const columns = schema!.text.matchAll(
  /create (?:unlogged )?table (?:\w+\.)?(\w+) \(([\s\S]*?)\n\)/gi,
);
const tables = new Set(
  [...columns].filter(([, , body]) => /^\s*org_id /m.test(body!)).map(([, table]) => table!),
);
for (const [, view] of schema!.text.matchAll(/create view (\w+) \(\s*org_id /g)) tables.add(view!);
const tie =
  /\borg_id (?:=|in|is not distinct from) |\((?:\w+\.)?org_id, [\w., ]+\) (?:=|in) |using \(org_id/;
const queries = readFiles('src/**/*.{ts,tsx}').filter(({ path }) =>
  /queries\.ts$|\.cte\.ts$/.test(path),
);

for (const { path, text } of queries) {
  test(`${path} names the organization for each table that it reads`, () => {
    const loose = statementsIn(text).map((statement) => ({
      statement,
      open: openTables(statement),
    }));
    const found = loose.reduce((sum, { open }) => sum + open, 0);
    const shown = loose.filter(({ open }) => open > 0).map(({ statement }) => statement.trim());
    const advice =
      'add org_id to the condition of each; a statement of the whole service is counted in this test';
    assert.equal(
      found,
      overOrganizations[path] ?? 0,
      `${path}: ${advice}:\n\n${shown.join('\n\n')}`,
    );
  });
}

test('every exception has its file', () => {
  const paths = new Set(queries.map(({ path }) => path));
  assert.deepEqual(
    Object.keys(overOrganizations).filter((path) => !paths.has(path)),
    [],
  );
});

test('what is read from the schema are the tables of organizations', () => {
  for (const table of ['surveys', 'responses', 'mails', 'webhooks', 'api_keys']) {
    assert.ok(tables.has(table), table);
  }
});

test('a statement that leaves out an organization, or compares it otherwise, is seen', () => {
  const [part, whole] = statementsIn(
    `db<Row[]>\`select from responses r join contacts c on c.org_id = r.org_id
                where r.org_id = \${id} \${id ? sql\`and org_id = '}'\` : ''}\``,
  );
  assert.equal(part, "and org_id = '}'");
  assert.equal(openTables(whole!), 0);
  for (const tie of ['c.org_id = r.org_id', 'r.org_id = $']) {
    assert.equal(openTables(whole!.replace(tie, 'true')), 1, `without ${tie}`);
    assert.equal(openTables(whole!.replace(tie, tie.replace('=', '>='))), 1, `by order: ${tie}`);
  }
});

test('each alternative names the organization, and so does a row that is met', () => {
  const either =
    'select from mails where org_id = $ and id = $ or org_id = $ and token = $ limit 1';
  assert.equal(openTables(either), 0);
  assert.equal(openTables(either.replace('or org_id = $', 'or true')), 1);
  assert.equal(openTables(either.replace('where org_id = $', 'where true')), 1);
  const met = 'insert into contacts as c (id) values ($) on conflict (id) do update set name = $';
  assert.equal(openTables(`${met} where c.org_id = $`), 0);
  assert.equal(openTables(met), 1);
  assert.equal(openTables(met.replace('(id) do', '(org_id, id) do')), 0, 'by its key');
});

test('a condition to spare in one select makes up for none that another lacks', () => {
  const inner = 'select from contacts where org_id = $ union select from mails where org_id = $';
  const whole = `with found as (${inner}) select from found f join tags t on t.org_id = f.org_id where f.org_id = $`;
  assert.equal(openTables(whole), 0);
  assert.equal(openTables(whole.replace('where org_id = $', '')), 1);
  assert.equal(openTables(whole.replace('mails where org_id = $', 'mails')), 1);
});

/** A condition ties tables of its own select only, so that none to spare makes up for one that another lacks. */
function openTables(statement: string): number {
  return selectsIn(statement).reduce((sum, select) => sum + openTablesOf(select), 0);
}

/** The selects and changes in a statement, each without those within it. */
function selectsIn(statement: string): string[] {
  const ended: string[] = [];
  const open = [{ text: '', depth: 0 }];
  for (const { 0: token, index } of statement.matchAll(/[()]|\bunion\b|[^()u]+|u/g)) {
    const current = open.at(-1)!;
    if (/^\(\s*(?:select|with|insert|update|delete)\b/.test(statement.slice(index))) {
      current.text += '()';
      open.push({ text: '', depth: 0 });
    } else if (token === ')' && current.depth === 0 && open.length > 1) {
      ended.push(open.pop()!.text);
    } else if (token === 'union') {
      ended.push(current.text);
      current.text = '';
    } else {
      current.text += token;
      current.depth += token === '(' ? 1 : token === ')' ? -1 : 0;
    }
  }
  return [...ended, ...open.map(({ text }) => text)];
}

/** As many tables as a select has, so many conditions of its own tie them to each other and to an organization. */
function openTablesOf(select: string): number {
  const read = select.matchAll(
    /(?:\b(?:from|join|using|(?<!for |do |key )update)\s+(?:only )?|^\s*(?=\w+(?: \w+)? where ))(\w+)/g,
  );
  const ties = select.matchAll(new RegExp(tie, 'g'));
  const own = [...read].filter(([, table]) => tables.has(table!)).length;
  return Math.max(own + countAlternatives(select) + countMet(select) - [...ties].length, 0);
}

/** Conditions that an `or` adds to one that names the organization. */
function countAlternatives(select: string): number {
  const innermost = /\(([^()]*)\)/g;
  const outer = select.replaceAll(innermost, (all) => (all.match(tie) ? 'org_id = $' : '$'));
  return outer === select ? also(select) : countAlternatives(outer);
}

function also(part: string): number {
  const conditions = part.matchAll(
    /\bwhere\b(.*?)(?=\b(?:where|order by|group by|limit|union|for|returning)\b|$)/gs,
  );
  return [...conditions]
    .map(([, condition]) => condition!.split(/\bor\b/))
    .filter((alternatives) => alternatives.some((one) => one.match(tie)))
    .reduce((sum, { length }) => sum + length - 1, 0);
}

/** Inserts that change the row they meet, by a key without the organization. */
function countMet(select: string): number {
  return [
    ...select.matchAll(
      /\binsert into (\w+)(?:(?!\binsert into\b).)*?\bon conflict \((?![^)]*\borg_id\b)[^)]*\)[^()]*? do update\b/gs,
    ),
  ].filter(([, table]) => tables.has(table!)).length;
}
