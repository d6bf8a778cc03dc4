import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ask } from './support/probe/ask.ts';
import { commandRunner } from './support/probe/command.ts';
import { testDatabase } from './support/probe/database.ts';
import { askback, secretKey } from './support/processes/program.ts';

const { db, url } = await testDatabase();
const environment = { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey };
const run = commandRunner(environment);

const folder = mkdtempSync(join(tmpdir(), 'imports-'));
after(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Uint8Array) {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const contactsOf = async (survey: string) => [
  ...(await db`select email, name, properties from contacts where survey_id = ${survey}
    and email not like '%@people.test' order by email`),
];

test('contact import reads a spreadsheet file', async () => {
  const { survey } = await ask(db);
  const path = file(
    'people.csv',
    '\ufeffEmail,Name,Plan\r\nann@acme.test,"Ann, B.",gold\r\nbob@acme.test,,\r\n',
  );
  const { code, stdout, stderr } = await run('contact', 'import', '--survey', survey, path);
  assert.deepEqual([code, stdout, stderr], [0, 'imported 2 contacts\n', '']);
  assert.deepEqual(await contactsOf(survey), [
    { email: 'ann@acme.test', name: 'Ann, B.', properties: { Plan: 'gold' } },
    { email: 'bob@acme.test', name: null, properties: {} },
  ]);
});

test('contact import reads stdin and refuses other encodings', async () => {
  const { survey } = await ask(db);
  const words = ['contact', 'import', '--survey', survey, '-'];
  const input = Buffer.from('E-Mail;Name;Ort\r\nann@acme.test;Zo\xeb;K\xf6ln\r\n', 'latin1');
  const { code, stdout, stderr } = await askback(words, environment, { input });
  assert.deepEqual(
    [code, stdout, stderr],
    [0, 'imported 1 contact\n', 'standard input is read as Windows-1252\n'],
  );
  assert.deepEqual(await contactsOf(survey), [
    { email: 'ann@acme.test', name: 'Zoë', properties: { Ort: 'Köln' } },
  ]);
});

test('import refuses a missing file or a folder', async () => {
  const { survey } = await ask(db);
  for (const command of [
    ['contact', 'import'],
    ['import', 'responses'],
  ]) {
    for (const [path, why] of [
      [join(folder, 'none.csv'), 'no such file'],
      [folder, 'it is a folder'],
    ] as const) {
      const { code, stderr } = await run(...command, '--survey', survey, path);
      assert.deepEqual([code, stderr], [1, `askback: ${path} cannot be read: ${why}\n`]);
    }
  }
});

test('import responses adds all rows or none, and nothing twice', async () => {
  const { survey, events } = await ask(db);
  const invalid = 'Score,Comment,Created At\n9,Great,2024-03-01\n11,,2024-03-02\n';
  const refused = await run('import', 'responses', '--survey', survey, file('bad.csv', invalid));
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /bad\.csv has an invalid row\. .*\n.*line 3, column "Score"/);

  const valid = file('good.csv', invalid.replace('11', '0'));
  const words = ['import', 'responses', '--survey', survey, valid, '--json'];
  const { imported, passed_over } = JSON.parse((await run(...words)).stdout);
  assert.deepEqual([imported, passed_over], [2, 0]);
  const again = JSON.parse((await run(...words)).stdout);
  assert.deepEqual([again.imported, again.passed_over], [0, 2]);
  assert.deepEqual(await events(), []);
});

/** The sample files of a guide, by the heading above them. */
const samplesOf = (guide: string) =>
  [...readFileSync(guide, 'utf8').matchAll(/^## (From .*)$|^```csv\n([\s\S]*?)^```/gm)].reduce<
    [string, string][]
  >((samples, [, heading, csv]) => {
    const [last] = samples.slice(-1);
    if (heading) samples.push([heading, '']);
    else if (last) last[1] = csv!;
    return samples;
  }, []);

for (const [heading, csv] of samplesOf('ops/moving-forms.md')) {
  test(`the sample "${heading}" of the guide is imported as it is`, async () => {
    const type = csv.includes('+01:00') ? 'star5' : 'nps';
    const { survey } = await ask(db, { type });
    const path = file('sample.csv', csv);
    const { code, stderr } = await run('import', 'responses', '--survey', survey, path);
    assert.deepEqual([code, stderr], [0, '']);
    const [made] = await db`
      select count(*)::int as responses, count(comment)::int as comments,
             (select count(*)::int from response_answers a join responses x on x.id = a.response_id
              where x.survey_id = ${survey}) as answered
      from responses where survey_id = ${survey} and source = 'import'`;
    const rows = csv.trim().split('\n').length - 1;
    assert.equal(made!['responses'], rows);
    assert.ok(made!['comments'] > 1 && made!['answered'] > 1);
  });
}

for (const [service, heading] of [
  ['delighted', 'From Delighted'],
  ['asknicely', 'From AskNicely'],
] as const) {
  test(`the sample "${heading}" of the guide is imported as it is`, async () => {
    const { survey } = await ask(db);
    const [, csv] = samplesOf('ops/moving.md').find(([name]) => name === heading)!;
    const path = file('sample.csv', csv);
    const { code } = await run('import', service, '--survey', survey, path);
    assert.equal(code, 0);
    const [made] = await db`
      select count(*)::int as responses from responses where survey_id = ${survey} and source = 'import'`;
    assert.equal(made!['responses'], 2);
  });
}
