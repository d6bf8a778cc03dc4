import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { importContacts } from '../../src/contacts/import.ts';
import { importExport, openExport } from '../../src/importers/import.ts';
import {
  askNicely,
  delighted,
  type FormerService,
  otherService,
} from '../../src/importers/rows.ts';
import { importPeople } from '../../src/people/directory.ts';
import { findSubscriber } from '../../src/suppressions/queries.ts';
import { suppressByHand, unsubscribe } from '../../src/suppressions/suppress.ts';
import { makeClient, makeContact, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { dumpTables } from '../support/probe/dump.ts';
import { untilLockWaits } from '../support/probe/locks.ts';
import { memberBrowser } from '../support/probe/member.ts';

/** Sends an erased address through everything that stores addresses, names and texts. */
const { db } = await testDatabase();
const app = testApp(db);
let people = 0;

/** An organization that has erased a person. */
async function scene() {
  const client = await makeClient(db);
  const survey = await makeSurvey(db, client.id, { share_id: randomUUID() });
  const of = { org_id: client.id, survey_id: survey };
  const email = `ada.${++people}@erased.test`;
  const written = email.replace('ada', 'Ada');
  const contact = await makeContact(db, of, { email: written, name: 'Ada' });
  const [{ token } = { token: '' }] = await db<{ token: string }[]>`
    select token from contacts where id = ${contact}`;
  const subscriber = (await findSubscriber(db, token))!;
  const stays = await makeContact(db, of, { email: `bob.${people}@people.test` });
  const call = async (method: string, path: string, body?: unknown) => {
    const headers = { ...client.write, 'Content-Type': 'application/json' };
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await app.request(`/api${path}`, { method, headers, ...init });
    return { status: answer.status, json: (await answer.json()) as Record<string, never> };
  };
  const erase = async () =>
    assert.equal((await call('DELETE', `/v1/people/${written}`)).status, 200);
  const [shared] = await db<
    { share_id: string }[]
  >`select share_id from surveys where id = ${survey}`;
  return {
    client,
    survey,
    of,
    email,
    written,
    contact,
    stays,
    token,
    subscriber,
    call,
    erase,
    shareId: shared!.share_id,
    browser: await memberBrowser(db, { org: client.id, role: 'editor' }),
    where: { ...commandWriter(client.id), surveyId: survey },
  };
}

type Scene = Awaited<ReturnType<typeof scene>>;
type Source = (scene: Scene) => Promise<void>;

const tools = { db, onProgress: () => {} };
const encoded = (text: string) => new TextEncoder().encode(text);

/** Imports an export and returns the number of rows of erased people. */
async function moves({ where }: Scene, service: FormerService, text: string) {
  const opened = await openExport(service, { name: 'export.csv', pieces: () => [text] }, undefined);
  const options = { export: opened, type: 'nps', zone: 'UTC', dryRun: false } as const;
  const report = await importExport(tools, { ...where, author: service.name }, options);
  return report.imported.erased;
}

const sources: Record<string, Source> = {
  'POST /contacts': async ({ call, survey, written }) => {
    const { status, json } = await call('POST', '/v1/contacts', {
      survey_id: survey,
      email: written,
    });
    assert.deepEqual([status, json['code']], [409, 'erased']);
  },
  'POST /send': async ({ call, survey, written }) => {
    const contacts = [{ email: written, name: 'Ada' }];
    const { json } = await call('POST', `/v1/surveys/${survey}/send`, { contacts });
    const { sent, duplicates, results } = json['data']!;
    assert.deepEqual([sent, duplicates], [0, 1]);
    assert.equal(results[0]['reason_code'], 'erased');
  },
  'the form of the app': async ({ browser, survey, written }) => {
    const path = `${browser.home}/surveys/${survey}/contacts`;
    const answer = await browser.post(path, { email: written, name: 'Ada' });
    assert.equal(answer.status, 422);
    assert.match(await answer.text(), /this person was erased/i);
  },
  'an uploaded list': async ({ browser, survey, written }) => {
    const text = `email,name,plan\n${written},Ada,pro\nnew@people.test,New,pro\n`;
    const path = `${browser.home}/surveys/${survey}/contacts/uploads`;
    const asked = await browser.post(path, { file: new File([encoded(text)], 'list.csv') });
    const uploaded = asked.headers.get('Location')!;
    const uses = { column_0: 'email', column_1: 'name', column_2: 'property', header: 'on' };
    const said = await (await browser.submit(uploaded, uses)).text();
    assert.match(said, /1 contact (was )?added/);
    assert.match(said, /this person was erased/);
  },
  'contact import': async ({ where, written }) => {
    const imported = await importContacts(tools, where, `email\n${written}\nnew@people.test\n`);
    assert.deepEqual(imported, { contacts: 1, erased: 1 });
  },
  'people import': async ({ where, written }) => {
    const imported = await importPeople({ db }, where, `email\n${written}\nnew@people.test\n`);
    assert.deepEqual(imported, { people: 1, erased: 1 });
  },
  'PUT /people': async ({ call, written }) => {
    const { status, json } = await call('PUT', `/v1/people/${encodeURIComponent(written)}`, {});
    assert.deepEqual([status, json['code']], [409, 'erased']);
  },
  'responses of another service': async (scene) => {
    const text = `score,date,email,comment\n9,2024-01-01,${scene.written},mine\n`;
    assert.equal(await moves(scene, otherService, text), 1);
  },
  'responses of Delighted': async (scene) => {
    const text = `Score,Comment,Created At,Person Name,Person Email\n9,mine,2024-07-01,Ada,${scene.written}\n`;
    assert.equal(await moves(scene, delighted, text), 1);
  },
  'people of Delighted': async (scene) => {
    const text = `ID,Name,Email,Phone Number,Created At,Last Sent At,Last Responded At,Next Survey Scheduled At\n1,Ada,${scene.written},,,,,\n`;
    assert.equal(await moves(scene, delighted, text), 1);
  },
  'unsubscribes of Delighted': async (scene) => {
    const text = `Person ID,Name,Email,Unsubscribed At\n1,Ada,${scene.written},2024-05-01 08:00:00 UTC\n`;
    assert.equal(await moves(scene, delighted, text), 1);
  },
  'bounces of Delighted': async (scene) => {
    const text = `Person ID,Name,Email,Bounced At\n1,Ada,${scene.written},2024-05-01 08:00:00 UTC\n`;
    assert.equal(await moves(scene, delighted, text), 1);
  },
  'contacts of AskNicely': async (scene) => {
    const text = `id,active,name,email,unsubscribetime,status\n1,1,Ada,${scene.written},,Active\n2,0,Ada,${scene.written},1452219376,Unsubscribed\n`;
    assert.equal(await moves(scene, askNicely, text), 2);
  },
  'a suppression by hand': async ({ where, written }) => {
    await assert.rejects(suppressByHand({ db }, where, written), { code: 'erased' });
  },
  'an unsubscribe link that was open': async ({ subscriber }) => {
    await unsubscribe({ db }, subscriber);
  },
  'an unsubscribe link': async ({ token }) => {
    assert.equal((await app.request(`/u/${token}`, { method: 'POST' })).status, 404);
  },
  'a comment through the shareable link': async ({ shareId, written }) => {
    const body = new URLSearchParams({ score: '3', comment: `ask\n${written}. He knows.` });
    assert.equal((await app.request(`/f/${shareId}`, { method: 'POST', body })).status, 200);
    const [row] = await db`select comment from responses order by created_at desc limit 1`;
    assert.equal(row?.['comment'], 'ask\n[email]. He knows.');
  },
  'a comment of another contact': async ({ stays, written }) => {
    const [of] = await db<{ token: string }[]>`select token from contacts where id = ${stays}`;
    const body = new URLSearchParams({ score: '3', comment: `<${written}> said so` });
    assert.equal((await app.request(`/s/${of!.token}`, { method: 'POST', body })).status, 200);
  },
  'a comment and a note that are imported, once': async (scene) => {
    const text = `Score,Comment,Created At,Notes\n9,"by ${scene.written}",2024-07-01,"see mailto:${scene.written}"\n`;
    for (let times = 0; times < 2; times++) await moves(scene, delighted, text);
    const rows = await db`
      select r.comment, n.text
      from responses r join response_notes n on n.response_id = r.id
      where r.survey_id = ${scene.survey}`;
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      [{ comment: 'by [email]', text: 'see mailto:[email]' }],
    );
  },
  'a note': async ({ call, of, stays, written }) => {
    const id = await makeResponse(db, of, { contact_id: stays });
    const { status, json } = await call('POST', `/v1/responses/${id}/notes`, {
      text: `call ${written}`,
    });
    assert.equal(status, 201);
    assert.equal(json['data']!['text'], 'call [email]');
  },
  'properties and a name that the API adds': async ({ call, of, written }) => {
    const properties = { referred_by: `${written}`, [written]: true, lines: [`see\n${written}`] };
    const contact = { survey_id: of.survey_id, email: 'carl@people.test', name: `c/o ${written}` };
    assert.equal((await call('POST', '/v1/contacts', { ...contact, properties })).status, 201);
    const [row] = await db`
      select name, properties from contacts where survey_id = ${of.survey_id} and email = 'carl@people.test'`;
    assert.deepEqual(
      { ...row },
      {
        name: 'c/o [email]',
        properties: { referred_by: '[email]', '[email]': true, lines: ['see\n[email]'] },
      },
    );
  },
  'properties that are sent': async ({ client, call, survey, written }) => {
    await db`insert into suppressions (org_id, email, kind) values (${client.id}, 'dan@people.test', 'bounced')`;
    const contacts = [{ email: 'dan@people.test', properties: { boss: written } }];
    assert.equal((await call('POST', `/v1/surveys/${survey}/send`, { contacts })).status, 200);
  },
  'properties of a file': async ({ where, written }) => {
    const file = `email,boss\neve@people.test,${written}\n`;
    assert.deepEqual(await importContacts(tools, where, file), { contacts: 1, erased: 0 });
  },
};

for (const [source, come] of Object.entries(sources)) {
  test(`erased address is not stored again: ${source}`, async () => {
    const came = await scene();
    await came.erase();
    await come(came);
    await assertNowhere(came);
  });
}

/** A bounce report and an unsubscribe that wait for the erasure to commit. */
const meanwhile: Record<string, Source> = {
  'a bounce report': async ({ client, of, contact, email }) => {
    const [mail] = await db<{ id: string }[]>`
      insert into mails (org_id, survey_id, contact_id, email, request_id, status, month)
      values (${client.id}, ${of.survey_id}, ${contact}, ${email}, gen_random_uuid(), 'sent', '2026-03-01')
      returning id`;
    const body = readFileSync('test/suppressions/reports/postfix-unknown.eml', 'utf8')
      .replaceAll('{SEND}', mail!.id)
      .replaceAll('{EMAIL}', email);
    const headers = { ...client.write, 'Content-Type': 'message/rfc822' };
    const answer = await app.request('/api/bounces', { method: 'POST', headers, body });
    assert.deepEqual(await answer.json(), { data: { matched: false, action: 'none' } });
  },
  'an unsubscribing': async ({ subscriber }) => unsubscribe({ db }, subscriber),
};

for (const [source, come] of Object.entries(meanwhile)) {
  test(`address that is erased meanwhile is not stored: ${source}`, async () => {
    const came = await scene();
    let coming: Promise<void> | undefined;
    let erasing: Promise<void> | undefined;
    await db.begin(async (tx) => {
      await tx`select begin_erasure(${came.client.id})`;
      erasing = came.erase();
      await untilLockWaits(db);
      coming = come(came);
      await untilLockWaits(db, 2);
    });
    await Promise.all([erasing, coming]);
    await assertNowhere(came);
  });
}

async function assertNowhere({ email }: Scene) {
  const tables = [...(await dumpTables(db))];
  const found = tables.filter(([, rows]) => rows.toLowerCase().includes(email));
  assert.deepEqual(
    found.map(([table]) => table),
    [],
  );
}
