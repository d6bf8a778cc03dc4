import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
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
