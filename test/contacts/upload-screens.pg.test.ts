import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { makeZip, workbookParts } from '../support/make/workbook.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const app = bareApp(db);

test('contact screen shows a refusal as a sentence', async () => {
  const org = await makeOrganization(db);
  const closed = { status: 'completed', completed_by: 'hand', completed_at: new Date() };
  const survey = await makeSurvey(db, org, closed);
  const { home, post } = await memberBrowser(db, { app, org, role: 'editor' });
  const answer = await post(`${home}/surveys/${survey}/contacts`, { email: 'ann@people.test' });
  assert.equal(answer.status, 422);
  const html = (await answer.text()).replaceAll(/<[^>]*>/g, '|');
  assert.ok(html.includes('|The survey is closed, so you cannot add contacts.|'), html);
});

test('an Excel workbook becomes contacts with names and languages', async () => {
  const org = await makeOrganization(db);
  const survey = await makeSurvey(db, org);
  const { home, get, post } = await memberBrowser(db, { app, org, role: 'editor' });
  const cells = (row: number, values: readonly string[]) =>
    `<row r="${row}">${values.map((value) => `<c t="inlineStr"><is><t>${value}</t></is></c>`).join('')}</row>`;
  const rows =
    cells(1, ['E-Mail', 'Vor- und Nachname', 'Sprache']) +
    cells(2, ['ann@people.test', 'Ann Böhm', 'de']) +
    cells(4, ['no address', 'Bob', 'en']);
  const book = makeZip(workbookParts({ sheets: [{ name: 'Kunden', rows }] }));
  const path = `${home}/surveys/${survey}/contacts/uploads`;
  const uploaded = await post(path, { file: new File([book], 'november.xlsx') });
  const mapping = uploaded.headers.get('Location')!;
  assert.match(await (await get(mapping)).text(), /november\.xlsx, sheet Kunden/);
  const uses = { column_0: 'email', column_1: 'name', column_2: 'language', header: 'on' };
  assert.equal((await post(mapping, uses)).status, 303);
  const contacts =
    await db`select email, name, properties from contacts where survey_id = ${survey}`;
  const ann = { email: 'ann@people.test', name: 'Ann Böhm', properties: { language: 'de' } };
  assert.deepEqual([...contacts], [ann]);
  const rejects = await db`select line from contact_upload_rejects where org_id = ${org}`;
  assert.deepEqual([...rejects], [{ line: 4 }]);
});

const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
const line = (...values: string[]) =>
  `<row>${values.map((value) => `<c t="inlineStr"><is><t>${value}</t></is></c>`).join('')}</row>`;

test('a member reviews a list and chooses other columns before the import', async () => {
  const org = await makeOrganization(db);
  const survey = await makeSurvey(db, org);
  const { home, get, post } = await memberBrowser(db, { app, org, role: 'editor' });
  const known = { org_id: org, survey_id: survey };
  const properties = db.json({ 'Private Mail': 'ann@home.test' });
  await makeContact(db, known, { email: 'ann@people.test', name: 'Ann Böhm', properties });
  await makeContact(db, known, { email: 'bob@people.test', name: 'Robert' });
  const list = [
    'Vorname;Nachname;Mail;Private Mail',
    'Ann;Böhm;ann@people.test;ann@home.test',
    'Bob;Smith;bob@people.test;bob@home.test',
    'Cid;;cid@people.test;cid@home.test',
    'Dan;;dan@people;dan@home.test',
    'Cid;;CID@people.test;cid2@home.test',
  ].join('\n');
  const uploads = `${home}/surveys/${survey}/contacts/uploads`;
  const path = (await post(uploads, { list })).headers.get('Location')!;
  const reviewed = await (await get(path)).text();
  assert.match(reviewed, /id="review"[^>]* data-says="1 contact will be added"/);
  const review = textOf(reviewed);
  assert.match(review, /1 contact will be added New 1 Already known 2 Skipped 2/);
  assert.match(
    review,
    /Skipped rows 2 rows .*Line 5 &quot;dan@people&quot; is not an email address/,
  );
  assert.match(review, /Line 6 CID@people\.test : same address as line 4/);

  const uses = { column_0: 'first_name', column_1: 'last_name', column_2: 'skip' };
  const other = new URLSearchParams({ ...uses, column_3: 'email', header: 'on' });
  const html = await (await get(`${path}?${other}`)).text();
  assert.match(textOf(html), /5 contacts will be added New 5 Already known 0 Skipped 0/);
  assert.match(html, /id="column_3"[^>]*>\s*<option value="email" selected/);
  const none = new URLSearchParams({ ...uses, column_3: 'skip', header: 'on' });
  assert.match(await (await get(`${path}?${none}`)).text(), /Choose the column that contains/);
  const headless = textOf(await (await get(`${path}?${new URLSearchParams(uses)}`)).text());
  assert.match(headless, /Columns 6 rows .*Column 1 Vorname · Ann · Bob .*Column 4 Private Mail/);
  assert.equal((await db`select from contacts where survey_id = ${survey}`).length, 2);

  const guessed = { column_0: 'first_name', column_1: 'last_name', column_2: 'email' };
  assert.equal((await post(path, { ...guessed, header: 'on' })).status, 303);
  const names = await db`select name from contacts where survey_id = ${survey} order by email`;
  assert.deepEqual(
    names.map(({ name }) => name),
    ['Ann Böhm', 'Bob Smith', 'Cid'],
  );

  const [, file = ''] = /href="([^"]+\.csv)">\s*Download all rows/.exec(
    await (await get(path)).text(),
  )!;
  const csv = await (await get(file)).text();
  assert.equal(
    csv,
    'line,value,reason\r\n5,dan@people,"""dan@people"" is not an email address"\r\n',
  );
});

test('an upload takes the first sheet with addresses', async () => {
  const org = await makeOrganization(db);
  const survey = await makeSurvey(db, org);
  const { home, get, post } = await memberBrowser(db, { app, org, role: 'editor' });
  const sheets = [
    { name: 'Notes', rows: line('Ask Ann before sending') },
    { name: 'Berlin', rows: line('Email') + line('ann@people.test') },
    { name: 'Kyoto', rows: line('メール') + line('ken@people.test') },
  ];
  const file = new File([makeZip(workbookParts({ sheets }))], 'all.xlsx');
  const uploads = `${home}/surveys/${survey}/contacts/uploads`;
  const path = (await post(uploads, { file })).headers.get('Location')!;
  const first = textOf(await (await get(path)).text());
  assert.match(first, /all\.xlsx, sheet Berlin/);
  assert.equal((await post(path, { column_0: 'email', header: 'on' })).status, 303);
  assert.match(await (await get(path)).text(), /Imported all\.xlsx, sheet Berlin/);
  const contacts = await db`select email from contacts where survey_id = ${survey}`;
  assert.deepEqual([...contacts], [{ email: 'ann@people.test' }]);
});

test('rejects an unreadable workbook and says why', async () => {
  const org = await makeOrganization(db);
  const survey = await makeSurvey(db, org);
  const { home, post } = await memberBrowser(db, { app, org, role: 'editor' });
  const file = new File([makeZip({ 'a.txt': 'a' })], 'a.xlsx');
  const answer = await post(`${home}/surveys/${survey}/contacts/uploads`, { file });
  assert.equal(answer.status, 422);
  assert.match(await answer.text(), /Cannot read the file: it is not an Excel workbook/);
});

for (const [bytes, status] of [
  [33 * 1024 * 1024, 303],
  [33 * 1024 * 1024 + 1, 413],
] as const) {
  test(`upload of ${bytes} bytes is answered ${status}`, async () => {
    const org = await makeOrganization(db);
    const survey = await makeSurvey(db, org);
    const { home, request } = await memberBrowser(db, { app, org, role: 'editor' });
    const path = `${home}/surveys/${survey}/contacts/uploads`;
    const type = 'application/x-www-form-urlencoded';
    const headers = { 'Content-Type': type, 'Content-Length': String(bytes) };
    const answer = await request(path, { method: 'POST', headers, body: 'list=ann%40people.test' });
    assert.equal(answer.status, status);
  });
}
