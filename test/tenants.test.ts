import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFiles, statementsIn } from './support/sources.ts';

/**
 * Every statement names the organization for each tenant table that it reads or writes. A statement that serves all
 * organizations (cleanup, sweeps, the operator) or starts from a secret says so in a comment: `-- all organizations`. A part
 * whose caller adds the organization says `-- organization: caller`.
 */
const marked = /--\s*(?:all organizations|organization: caller)/;

const [schema] = readFiles('sql/schema.sql');
const tables = new Set(
  [...schema!.text.matchAll(/create (?:unlogged )?table (?:\w+\.)?(\w+) \(([\s\S]*?)\n\)/gi)]
    .filter(([, , body]) => /^\s*org_id /m.test(body!))
    .map(([, table]) => table!),
);
for (const [, view] of schema!.text.matchAll(/create view (\w+) \(\s*org_id /g)) tables.add(view!);
const tie =
  /\borg_id (?:=|in|is not distinct from) |\((?:\w+\.)?org_id, [\w., ]+\) (?:=|in) |using \(org_id/;

test('every statement on tenant data names its organization', () => {
  assert.ok(tables.has('surveys') && tables.has('responses') && tables.has('mails'));
  const open = readFiles('src/**/*.{ts,tsx}').flatMap(({ path, text }) =>
    statementsIn(text)
      .filter((statement) => !marked.test(statement) && openTables(statement) > 0)
      .map((statement) => `${path}: ${statement.trim()}`),
  );
  assert.equal(open.length, 0, open.join('\n\n'));
});

test('no statement has an unnecessary organization comment', () => {
  const needless = readFiles('src/**/*.{ts,tsx}').flatMap(({ path, text }) =>
    statementsIn(text)
      .filter(
        (statement) => marked.test(statement) && openTables(statement.replace(/--.*/g, '')) === 0,
      )
      .map((statement) => `${path}: ${statement.trim()}`),
  );
  assert.equal(needless.length, 0, needless.join('\n\n'));
});

test('finds a statement that omits or misuses the organization', () => {
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

test('each alternative and each upsert names the organization', () => {
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

test('a condition in one select does not count for another', () => {
  const inner = 'select from contacts where org_id = $ union select from mails where org_id = $';
  const whole = `with found as (${inner}) select from found f join tags t on t.org_id = f.org_id where f.org_id = $`;
  assert.equal(openTables(whole), 0);
  assert.equal(openTables(whole.replace('where org_id = $', '')), 1);
  assert.equal(openTables(whole.replace('mails where org_id = $', 'mails')), 1);
});

/** The number of tables without a condition on the organization. Conditions only count within their own select. */
function openTables(statement: string): number {
  return selectsIn(statement).reduce((sum, select) => sum + openTablesOf(select), 0);
}

/** The selects and writes of a statement, each without nested ones. */
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

/** Each table of a select needs its own condition on the organization or on another table's organization. */
function openTablesOf(select: string): number {
  const read = select.matchAll(
    /(?:\b(?:from|join|using|(?<!for |do |key )update)\s+(?:only )?|^\s*(?=\w+(?: \w+)? where ))(\w+)/g,
  );
  const ties = select.matchAll(new RegExp(tie, 'g'));
  const own = [...read].filter(([, table]) => tables.has(table!)).length;
  return Math.max(own + countAlternatives(select) + countMet(select) - [...ties].length, 0);
}

/** The number of additional alternatives of `or` that each need such a condition. */
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

/** The number of upserts whose conflict key does not contain the organization. */
function countMet(select: string): number {
  return [
    ...select.matchAll(
      /\binsert into (\w+)(?:(?!\binsert into\b).)*?\bon conflict \((?![^)]*\borg_id\b)[^)]*\)[^()]*? do update\b/gs,
    ),
  ].filter(([, table]) => tables.has(table!)).length;
}
