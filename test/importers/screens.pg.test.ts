import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkImport, runImport } from '../../src/importers/import-files.ts';
import { deleteImportsMentioning, deleteOldImports } from '../../src/importers/queries.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { makeZip, workbookParts } from '../support/make/workbook.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';
import * as samples from './samples.ts';

const { db } = await testDatabase();
const app = bareApp(db);

const delightedFiles = {
  'people.csv': samples.delightedPeople,
  'responses.csv': samples.delightedResponses,
  'unsubscribes.csv': samples.delightedUnsubscribes,
  'bounces.csv': samples.delightedBounces,
};

type Files = Readonly<Record<string, string | Uint8Array<ArrayBuffer>>>;

/** An editor's browser, and the jobs that would run in the background. */
async function scene() {
  const org = await makeOrganization(db);
  const { home, request, get, post } = await memberBrowser(db, { app, org, role: 'editor' });
  const list = `${home}/settings/import`;

  function upload(files: Files, fields: Record<string, string> = {}) {
    const body = new FormData();
    const all = { service: 'delighted', survey: 'new', time_zone: 'UTC', ...fields };
    for (const [name, value] of Object.entries(all)) body.append(name, value);
    for (const [name, content] of Object.entries(files)) {
      body.append('files', new File([content], name));
    }
    return request(list, { method: 'POST', body });
  }
  async function check(files: Files, fields: Record<string, string> = {}) {
    const answer = await upload(files, fields);
    assert.equal(answer.status, 303, await answer.text());
    const path = answer.headers.get('Location')!;
    const id = path.split('/').at(-1)!;
    await checkImport({ db }, { org_id: org, import_id: id });
    return { id, path };
  }
  async function start({ id, path }: { id: string; path: string }) {
    assert.equal((await post(path)).status, 303);
    await runImport({ db }, { org_id: org, import_id: id }, { attempt: 1 });
  }
  const show = async (path: string) => textOf(await (await get(path)).text());
  return { org, home, list, get, post, upload, check, start, show };
}

const textOf = (html: string) =>
  html
    .replaceAll(/<(style|script|select)[\s\S]*?<\/\1>/g, '')
    .replaceAll(/<[^>]*>/g, '|')
    .replaceAll(/[|\s]*\|[|\s]*/g, '|');

const countIn = async (org: string) => {
  const [row] = await db`
    select (select count(*)::int from responses where org_id = ${org}) as responses,
           (select count(*)::int from contacts where org_id = ${org}) as contacts,
           (select count(*)::int from suppressions where org_id = ${org}) as suppressions,
           (select count(*)::int from import_chunks where org_id = ${org}) as chunks`;
  return { ...row };
};

test('import shows its rows before anything changes, then imports them', async () => {
  const { org, check, start, get, show, list } = await scene();
  const it = await check(delightedFiles);
  assert.match(await (await get(it.path)).text(), />Unsubscribes \(detected\)</);
  const before = await show(it.path);
  for (const text of [
    '|responses.csv|5|4|1|0|',
    '|people.csv|3|2|1|0|',
    '|1 row skipped: of another survey type (csat)|',
    '|All|4|+25|',
    '|March 2024|3|0|',
    '|March 2025|1|+100|',
  ]) {
    assert.ok(before.includes(text), `${text} is not in ${before}`);
  }
  assert.deepEqual(await countIn(org), { responses: 0, contacts: 0, suppressions: 0, chunks: 4 });

  await start(it);
  const after = await show(it.path);
  for (const text of [
    '|1 row merged into existing contacts|',
    '|All|4|+25|4|+25|Equal|',
    '|March 2024|3|0|3|0|Equal|',
  ]) {
    assert.ok(after.includes(text), `${text} is not in ${after}`);
  }
  assert.deepEqual(await countIn(org), { responses: 4, contacts: 3, suppressions: 3, chunks: 0 });
  const [survey] = await db`select name, status, type from surveys where org_id = ${org}`;
  assert.deepEqual({ ...survey }, { name: 'Delighted history', status: 'draft', type: 'nps' });
  assert.ok((await show(list)).includes('|Delighted history|Imported|'));
});

test('importing the same files twice adds nothing', async () => {
  const { org, check, start, show } = await scene();
  await start(await check(delightedFiles));
  const first = await countIn(org);
  const [survey] = await db<{ id: string }[]>`select id from surveys where org_id = ${org}`;
  const again = await check(delightedFiles, { survey: survey!.id });
  await start(again);
  assert.deepEqual(await countIn(org), first);
  const shown = await show(again.path);
  assert.ok(shown.includes('New: 0 responses.'));
  assert.ok(shown.includes('|4 rows skipped: imported before|'));
});

const manyRows = (count: number) =>
  `Score,Created At,Comment\n${Array.from({ length: count }, (_, at) => `${at % 11},2025-01-${String((at % 28) + 1).padStart(2, '0')},c${at % 700}`).join('\n')}\n`;

test('interrupted import continues after its last batch', async () => {
  const { org, check, post, show } = await scene();
  const it = await check({ 'responses.csv': manyRows(1700) });
  await post(it.path);
  // A failing batch stands for a process that dies.
  await db`
    create function refuse_late() returns trigger language plpgsql as
    $$ begin if new.done > tg_argv[0]::int then raise 'stop here'; end if; return new; end $$`;
  await db`
    create trigger refuse_late before update on import_files for each row execute function refuse_late(1000)`;
  const job = { org_id: org, import_id: it.id };
  await assert.rejects(runImport({ db }, job, { attempt: 1 }), /stop here/);
  assert.ok((await show(it.path)).includes('|1,000 of 1,700 rows imported.|'));
  await db`drop trigger refuse_late on import_files`;
  await runImport({ db }, job, { attempt: 2 });
  assert.equal((await countIn(org))['responses'], 1700);
  assert.ok((await show(it.path)).includes('New: 1,700 responses'));
});

test('long import continues in another job', async () => {
  const { org, check, post } = await scene();
  const it = await check({ 'responses.csv': manyRows(1200) });
  await post(it.path);
  const job = { org_id: org, import_id: it.id };
  const counts: unknown[] = [];
  for (const attempt of [9, 1, 1]) {
    await runImport({ db, importTurnMs: -1 }, job, { attempt });
    counts.push((await countIn(org))['responses']);
  }
  assert.deepEqual(counts, [500, 1000, 1200]);
  const [jobs] = await db`
    select count(*)::int from test.jobs where task = 'imports.run' and payload ->> 'import_id' = ${it.id}`;
  assert.equal(jobs!['count'], 3);
});

test('import reports an error that repeats, and can continue', async () => {
  const { org, check, post, show } = await scene();
  const survey = await makeSurvey(db, org);
  const it = await check({ 'responses.csv': manyRows(10) }, { survey });
  await post(it.path);
  await db`create trigger refuse before update on import_files for each row execute function refuse_late(0)`;
  const job = { org_id: org, import_id: it.id };
  await assert.rejects(runImport({ db }, job, { attempt: 5 }));
  assert.ok((await show(it.path)).includes('An unexpected error stopped it.'));
  await db`drop trigger refuse on import_files`;
  assert.equal((await post(it.path)).status, 303);
  await runImport({ db }, job, { attempt: 1 });
  assert.equal((await countIn(org))['responses'], 10);
});

test('import names a file without scores and imports the others', async () => {
  const { org, check, start, show } = await scene();
  const it = await check({ 'notes.csv': 'Colour\nred\n', 'responses.csv': manyRows(3) });
  assert.match(
    await show(it.path),
    /notes\.csv\|: This is not a Delighted export: line 1 has no column/,
  );
  await start(it);
  assert.equal((await countIn(org))['responses'], 3);
});

test('a member can choose the kind of a file', async () => {
  const { org, check, post, start, show } = await scene();
  const it = await check({ 'Unsubscribed.csv': 'Email\nann@people.test\n' });
  assert.match(await show(it.path), /Choose the kind of data: unsubscribed if all of them did/);
  assert.equal((await post(`${it.path}/kinds`, { kind_0: 'unsubscribed' })).status, 303);
  await checkImport({ db }, { org_id: org, import_id: it.id });
  await start(it);
  assert.equal((await countIn(org))['suppressions'], 1);
});

for (const [name, files, fields, sentence] of [
  ['no file', {}, {}, 'Choose one or more files.'],
  ['an unknown service', { 'a.csv': 'x' }, { service: 'x' }, 'Choose where the files come from.'],
  [
    'a damaged workbook',
    { 'a.xlsx': new Uint8Array([0x50, 0x4b, 3, 4]) },
    {},
    'The file a.xlsx cannot be read',
  ],
  [
    'too many files',
    Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`${at}.csv`, 'x'])),
    {},
    'Choose at most 20 files.',
  ],
] as const) {
  test(`upload with ${name} is refused and stores nothing`, async () => {
    const { org, upload } = await scene();
    const answer = await upload(files, fields);
    assert.equal(answer.status, 422);
    assert.ok((await answer.text()).includes(sentence));
    const rows = await db`select from imports where org_id = ${org}`;
    assert.equal(rows.length, 0);
  });
}

const cellsOf = (csv: string) =>
  csv
    .trim()
    .split('\n')
    .map(
      (row) =>
        `<row>${row
          .split(',')
          .map((cell) => `<c t="str"><v>${cell}</v></c>`)
          .join('')}</row>`,
    )
    .join('');

test('each sheet of a workbook is imported as a file', async () => {
  const { org, check, start, show } = await scene();
  const sheets = [
    { name: 'Scores', rows: cellsOf('Score,Created At,Comment\n9,2025-01-01,Größe\n') },
    { name: 'People', rows: cellsOf('Email,Vorname,Nachname\nann@people.test,Ann,Böhm\n') },
    { name: 'Notes', rows: cellsOf('Ask Ann first') },
  ];
  const it = await check({ 'all.xlsx': makeZip(workbookParts({ sheets })) }, { service: 'csv' });
  const page = await show(it.path);
  assert.match(
    page,
    /\|all\.xlsx, sheet Scores\|1\|1\|0\|0\|all\.xlsx, sheet People\|1\|1\|0\|0\|/,
  );
  assert.match(page, /\|all\.xlsx, sheet Notes\|Cannot be imported\|/);
  await start(it);
  const [response] = await db`select score, comment from responses where org_id = ${org}`;
  assert.deepEqual({ ...response }, { score: 9, comment: 'Größe' });
  const [contact] = await db`select name from contacts where org_id = ${org}`;
  assert.equal(contact?.['name'], 'Ann Böhm');
});

test('an import reads a file by its bytes when its name is wrong', async () => {
  const { org, check, start } = await scene();
  const sheets = [{ name: 'Scores', rows: cellsOf('Score,Created At\n9,2025-01-01\n') }];
  const files = {
    'book.csv': makeZip(workbookParts({ sheets })),
    'text.xlsx': 'Score,Created At\n3,2025-01-02\n',
  };
  await start(await check(files, { service: 'csv' }));
  assert.equal((await countIn(org))['responses'], 2);
});

test('a workbook with too many sheets is refused', async () => {
  const { org, upload } = await scene();
  const sheets = Array.from({ length: 12 }, (_, at) => ({ name: `S${at}`, rows: cellsOf('a') }));
  const book = makeZip(workbookParts({ sheets }));
  const answer = await upload({ 'one.xlsx': book, 'two.xlsx': book });
  assert.match(
    await answer.text(),
    /Each sheet of a workbook counts as a file\. Nothing was imported/,
  );
  assert.equal((await db`select from imports where org_id = ${org}`).length, 0);
});

test('upload that ends early is refused and stores nothing', async () => {
  const org = await makeOrganization(db);
  const { home, request } = await memberBrowser(db, { app, org, role: 'editor' });
  const answer = await request(`${home}/settings/import`, {
    method: 'POST',
    headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
    body: '--x\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\nScore,Da',
  });
  assert.equal(answer.status, 422);
  assert.equal((await db`select from imports where org_id = ${org}`).length, 0);
});

test('erasure deletes waiting files that mention the person', async () => {
  const { org, check, post, show } = await scene();
  const it = await check(delightedFiles);
  await db.begin((tx) => deleteImportsMentioning(tx, org, 'bob@people.test'));
  assert.equal((await countIn(org))['chunks'], 0);
  assert.match(await show(it.path), /A person in these files was erased/);
  await post(it.path);
  await runImport({ db }, { org_id: org, import_id: it.id }, { attempt: 1 });
  assert.equal((await countIn(org))['responses'], 0);
});

test('files that are not imported are deleted after a day', async () => {
  const { org, check } = await scene();
  await check(delightedFiles);
  await db`update imports set created_at = now() - interval '25 hours' where org_id = ${org}`;
  await deleteOldImports({ db });
  assert.equal((await countIn(org))['chunks'], 0);
});

test('files in UTF-16 and Windows-1252 keep their letters', async () => {
  const { org, check, start } = await scene();
  const row = 'Score,Created At,Comment\n9,2025-01-01,Größe\n';
  const utf16 = new Uint8Array([0xff, 0xfe, ...Buffer.from(row.replace('9', '8'), 'utf16le')]);
  const windows = new Uint8Array(Buffer.from(row, 'latin1'));
  await start(await check({ 'one.csv': utf16, 'two.csv': windows }));
  const rows = await db`select comment from responses where org_id = ${org}`;
  assert.deepEqual(
    rows.map(({ comment }) => comment),
    ['Größe', 'Größe'],
  );
});

test('import of another organization is not found', async () => {
  const { check } = await scene();
  const { path } = await check(delightedFiles);
  const other = await scene();
  const own = `${other.list}/${path.split('/').at(-1)}`;
  assert.equal((await other.get(own)).status, 404);
  assert.equal((await other.post(own)).status, 404);
  assert.equal((await other.post(`${own}/delete`)).status, 404);
});
