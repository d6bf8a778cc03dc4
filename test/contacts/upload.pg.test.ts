import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { saveContacts } from '../../src/contacts/queries.ts';
import {
  countRejects,
  deleteOldUploads,
  getUpload,
  listRejects,
} from '../../src/contacts/upload.queries.ts';
import {
  deleteUploadedContacts,
  importUpload,
  previewUpload,
  saveUpload,
} from '../../src/contacts/upload.ts';
import { memberActor } from '../../src/sessions/session.ts';
import { lockForContacts } from '../../src/surveys/lifecycle.ts';
import { losingCommits } from '../support/fakes/lost-commit.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';

const { db } = await testDatabase();

async function survey() {
  const orgId = await makeOrganization(db);
  return { orgId, surveyId: await makeSurvey(db, orgId) };
}

type Where = Awaited<ReturnType<typeof survey>>;

const bytesOf = (text: string | Uint8Array) =>
  typeof text === 'string' ? new TextEncoder().encode(text) : text;

const take = ({ orgId, surveyId }: Where, text: string | Uint8Array, by = commandWriter(orgId)) =>
  saveUpload({ db }, by, { surveyId, name: 'list.csv', bytes: bytesOf(text) });

/** Imports a list with the guessed columns. */
async function upload(where: Where, text: string | Uint8Array) {
  const id = await take(where, text);
  const before = await getUpload(db, where.orgId, { id, surveyId: where.surveyId });
  const { columns } = await previewUpload(db, where.orgId, before);
  await importUpload({ db }, commandWriter(where.orgId), {
    upload: before,
    columns,
    hasHeader: before.has_header,
  });
  return await getUpload(db, where.orgId, { id, surveyId: where.surveyId });
}

const contactsOf = async ({ surveyId }: Where) => [
  ...(await db<{ email: string; name: string | null; properties: object; updated_at: Date }[]>`
    select email, name, properties, updated_at from contacts where survey_id = ${surveyId} order by email`),
];

const utf16 = (text: string, mark: number[]) =>
  Uint8Array.from([...mark, ...Buffer.from(text, 'utf16le')]);

const files: [what: string, text: string | Uint8Array][] = [
  ['commas', 'email,name,plan\nann@people.test,Ann Müller,pro\n'],
  ['semicolons', 'Name;E-Mail;plan\nAnn Müller;ann@people.test;pro\n'],
  ['tabs and Windows line ends', 'plan\temail\tname\r\npro\tann@people.test\tAnn Müller\r\n'],
  ['a line that names the separator', 'sep=;\nemail;name;plan\nann@people.test;Ann Müller;pro\n'],
  ['UTF-8 with its mark', '\ufeffemail,name,plan\nann@people.test,Ann Müller,pro\n'],
  ['UTF-16', utf16('email,name,plan\nann@people.test,Ann Müller,pro\n', [0xff, 0xfe])],
  ['Windows-1252', Buffer.from('email,name,plan\nann@people.test,Ann M\xfcller,pro\n', 'latin1')],
  ['quotes', '"email","name","plan"\n"ann@people.test","Ann Müller","pro"\n'],
];

for (const [what, text] of files) {
  test(`upload reads a list with ${what}`, async () => {
    const where = await survey();
    const { added, rows } = await upload(where, text);
    assert.deepEqual([added, rows], [1, 1]);
    const [contact] = await contactsOf(where);
    assert.equal(contact?.email, 'ann@people.test');
    assert.equal(contact?.name, 'Ann Müller');
    assert.deepEqual(contact?.properties, { plan: 'pro' });
  });
}

test('upload reads a list without a header', async () => {
  const where = await survey();
  const { added } = await upload(where, 'Ann,ann@people.test\nBob,bob@people.test\n');
  assert.equal(added, 2);
  const contacts = await contactsOf(where);
  assert.deepEqual(
    contacts.map(({ properties }) => properties),
    [{ 'Column 1': 'Ann' }, { 'Column 1': 'Bob' }],
  );
});

test('upload lists skipped rows by line', async () => {
  const where = await survey();
  const text =
    'email,name\nann@people.test,Ann\nbob@people,Bob\n,Cid\n"dan@people.test","Dan\nof two lines"\nANN@people.test,Again\n';
  const { added, known, repeated, rejected } = await upload(where, text);
  assert.deepEqual([added, known, repeated, rejected], [2, 0, 1, 2]);
  assert.deepEqual(
    (await listRejects(db, where, { atMost: 10 })).map(({ line, value }) => [line, value]),
    [
      [3, 'bob@people'],
      [4, ''],
    ],
  );
  const [, dan] = await contactsOf(where);
  assert.equal(dan?.name, 'Dan of two lines');
});

test('upload replaces only the waiting list of the same member', async () => {
  const where = await survey();
  const other = {
    ...commandWriter(where.orgId),
    actor: memberActor({ id: randomUUID(), name: 'Ann' }),
  };
  const elsewhere = { ...where, surveyId: await makeSurvey(db, where.orgId) };
  const first = await take(where, 'ann@people.test');
  const stays = [
    await take(where, 'ann@people.test', other),
    await take(elsewhere, 'ann@people.test'),
    await take(where, 'bob@people.test'),
  ];
  const waiting = await db<{ id: string }[]>`
    select id from contact_uploads where org_id = ${where.orgId}`;
  assert.deepEqual(waiting.map(({ id }) => id).toSorted(), stays.toSorted());
  assert.ok(!stays.includes(first));
});

test('upload is refused when 200 MB of the organization wait', async () => {
  const where = await survey();
  const waiting = await take({ ...where, surveyId: await makeSurvey(db, where.orgId) }, 'a@b.test');
  await db`update contact_uploads set bytes = 200 * 1024 * 1024 - 10 where id = ${waiting}`;
  await take(where, 'a@b.test\n');
  await assert.rejects(take(where, 'ann@b.test\n'), { code: 'too_many_lists' });
  await deleteUploadedContacts(
    { db },
    commandWriter(where.orgId),
    await listOf(where.orgId, waiting),
  );
  await take(where, 'ann@b.test\n');
});

const listOf = async (orgId: string, id: string) => {
  const [row] = await db<{ survey_id: string }[]>`
    select survey_id from contact_uploads where id = ${id}`;
  return await getUpload(db, orgId, { id, surveyId: row!.survey_id });
};

test('upload of line ends does not block other work', async () => {
  const where = await survey();
  const text = Buffer.alloc(8 * 1024 * 1024, '\r');
  text.write('email\rann@people.test\r');
  const cpuMs = () => process.cpuUsage().user / 1000;
  let [longest, last, isOn] = [0, cpuMs(), true];
  const turn = () => {
    longest = Math.max(longest, cpuMs() - last);
    last = cpuMs();
    if (isOn) setImmediate(turn);
  };
  turn();
  await take(where, text);
  isOn = false;
  assert.ok(longest < 150, `${longest} ms of the processor in one turn`);
});

test('upload without a valid address keeps waiting', async () => {
  const where = await survey();
  const id = await take(where, 'email,other\nno,ann@people.test\n');
  const waiting = await listOf(where.orgId, id);
  const importBy = (...uses: ('email' | 'skip')[]) =>
    importUpload({ db }, commandWriter(where.orgId), {
      upload: waiting,
      columns: uses.map((use) => ({ name: use, use })),
      hasHeader: true,
    });
  await assert.rejects(importBy('email', 'skip'), { code: 'no_addresses' });
  assert.equal((await listOf(where.orgId, id)).imported_at, null);
  await importBy('skip', 'email');
  assert.equal((await contactsOf(where)).length, 1);
});

test('deleting an imported list deletes the contacts that it added', async () => {
  const where = await survey();
  await upload(where, 'known@people.test');
  const { id } = await upload(where, 'known@people.test\nann@people.test\nbob@people.test\n');
  await db`
    update contacts set status = 'sent', sent_at = now()
    where survey_id = ${where.surveyId} and email = 'bob@people.test'`;
  const list = await listOf(where.orgId, id);
  assert.equal(await deleteUploadedContacts({ db }, commandWriter(where.orgId), list), 1);
  assert.deepEqual(
    (await contactsOf(where)).map(({ email }) => email),
    ['bob@people.test', 'known@people.test'],
  );
  const [act] = await db`
    select details from audit_events where org_id = ${where.orgId} and act = 'contacts.deleted'`;
  assert.equal(act?.['details'].deleted, 1);
});

test('deleting a list keeps the person of a contact that is being added', async () => {
  const where = await survey();
  const list = await upload(where, 'ann@people.test');
  const other = { ...where, surveyId: await makeSurvey(db, where.orgId) };
  let running: Promise<unknown> | undefined;
  await db.begin(async (tx) => {
    await lockForContacts(tx, other);
    await saveContacts(tx, other, [{ email: 'ann@people.test', name: null, properties: {} }]);
    running = deleteUploadedContacts({ db }, commandWriter(where.orgId), list);
    await Promise.race([running, untilLockWaits(db)]);
  });
  await running;
  assert.equal((await db`select from people where org_id = ${where.orgId}`).length, 1);
});

test('deleting the contacts of a list does not block other surveys', async () => {
  const where = await survey();
  const list = await upload(where, 'ann@people.test\nbob@people.test');
  const other = { ...where, surveyId: await makeSurvey(db, where.orgId) };
  let running: Promise<unknown> | undefined;
  await db.begin(async (tx) => {
    await tx`select from contacts where survey_id = ${where.surveyId} limit 1 for update`;
    running = deleteUploadedContacts({ db }, commandWriter(where.orgId), list);
    await untilLockWaits(db);
    await db.begin(async (sending) => {
      await sending`select set_config('lock_timeout', '1000', true)`;
      await lockForContacts(sending, other);
    });
  });
  assert.equal(await running, 2);
});

test('deleting a list again finishes a deletion that was interrupted', async () => {
  const where = await survey();
  const list = await upload(where, 'ann@people.test\nbob@people.test');
  const deleteBy = (own: typeof db) =>
    deleteUploadedContacts({ db: own }, commandWriter(where.orgId), list);
  const crash = losingCommits(db, async () => {});
  await assert.rejects(deleteBy(crash), { code: 'CONNECTION_CLOSED' });
  assert.deepEqual(await contactsOf(where), []);
  const lists = () => db`select from contact_uploads where id = ${list.id}`;
  assert.equal((await lists()).length, 1);
  assert.equal(await deleteBy(db), 0);
  assert.equal((await lists()).length, 0);
  assert.equal((await db`select from people where org_id = ${where.orgId}`).length, 0);
  const acts = await db<{ details: { deleted: number } }[]>`
    select details from audit_events where org_id = ${where.orgId} and act = 'contacts.deleted'`;
  assert.deepEqual(
    acts.map(({ details }) => details.deleted),
    [2],
  );
});

test('uploading the same list again writes nothing', async () => {
  const where = await survey();
  const text = 'email,name,plan\nann@people.test,Ann,pro\nbob@people.test,,free\n';
  await upload(where, text);
  const before = await contactsOf(where);
  const { added, known } = await upload(where, text);
  assert.deepEqual([added, known], [0, 2]);
  assert.deepEqual(await contactsOf(where), before);
});

test('upload looks for an address in the first thousand rows', async () => {
  const where = await survey();
  const list = (rows: number) => `${'a,b\n'.repeat(rows)}ann@people.test,b\n`;
  await take(where, list(999));
  await assert.rejects(take(where, list(1000)), /no column contains email addresses/);
});

test('upload that is imported twice is imported once', async () => {
  const where = await survey();
  const id = await take(where, 'email\nann@people.test\n');
  const before = await getUpload(db, where.orgId, { id, surveyId: where.surveyId });
  const { columns } = await previewUpload(db, where.orgId, before);
  const again = () =>
    importUpload({ db }, commandWriter(where.orgId), {
      upload: before,
      columns,
      hasHeader: true,
    });
  await Promise.all([again(), again()]);
  assert.equal((await contactsOf(where)).length, 1);
  const acts =
    await db`select from audit_events where org_id = ${where.orgId} and act = 'contacts.imported'`;
  assert.equal(acts.length, 1);
});

const addresses = (many: number) =>
  Array.from({ length: many }, (_, n) => `p${n}@people.test`).join('\n');

const refused: [what: string, text: string | Uint8Array, complaint: RegExp][] = [
  ['has no address', 'email,name\nann,bob\n', /line 1: no column contains email addresses/],
  ['is empty', '', /empty/],
  ['has a quote out of place', 'email,name\nann@people.test,"a"b\n', /line 2: .*quote/],
  ['has an open quote', 'email\n"ann@people.test\n', /never closed/],
  [
    'has a row that is too long',
    'email\nann@people.test\nbob@people.test,x\n',
    /line 3: .*more values/,
  ],
  ['has too many columns', `ann@people.test${',x'.repeat(200)}\n`, /line 1: .*200 columns/],
  ['has a row without end', `ann@people.test,${'x'.repeat(1_100_000)}\n`, /row is too long/],
  ['is a workbook', Uint8Array.from([0x50, 0x4b, 3, 4, 0, 0]), /workbook/],
  [
    'has too many rows below a header',
    `email\n${addresses(100_001)}`,
    /line 100002: .*100000 rows/,
  ],
  ['has too many rows without a header', addresses(100_001), /line 100001: .*100000 rows/],
  ['has many rows too many', addresses(100_100), /line 100001: .*100000 rows/],
];

for (const [what, text, complaint] of refused) {
  test(`upload that ${what} is refused with the line`, async () => {
    const where = await survey();
    await assert.rejects(take(where, text), complaint);
    assert.equal((await db`select from contact_uploads where org_id = ${where.orgId}`).length, 0);
  });
}

for (const character of ['\u{10000}', '😀', '\u{10ffff}']) {
  test(`upload keeps a character across chunks: ${character}`, async () => {
    const where = await survey();
    const length = 256 * 1024;
    const head = 'email,name,rest\nann@people.test,Ann,';
    const rest = 'x'.repeat(length - head.length - 1);
    const id = await take(where, `${head}${rest}${character}yyy\n`);
    const chunks = await db<{ chunk: string }[]>`
      select chunk from contact_upload_chunks where upload_id = ${id} order by place`;
    assert.equal(chunks.length, 2);
    assert.ok(chunks.every(({ chunk }) => chunk.isWellFormed() && !chunk.includes('\ufffd')));
    assert.ok(
      chunks
        .map(({ chunk }) => chunk)
        .join('')
        .endsWith(`x${character}yyy\n`),
    );
  });
}

test('skipped rows are listed for the newest import only', async () => {
  const where = await survey();
  await upload(where, 'email\nann@people.test\nbob@people\n');
  await upload(where, 'email\nann@people.test\n\ncid@people\n');
  const values = async () =>
    (await listRejects(db, where, { atMost: 10 })).map(({ value }) => value);
  await upload(
    { ...where, surveyId: await makeSurvey(db, where.orgId) },
    'dan@people.test\neve@people\n',
  );
  assert.deepEqual(await values(), ['cid@people']);
  assert.equal(await countRejects(db, where), 1);
});

test('upload of several batches saves all rows and lists skipped ones', async () => {
  const where = await survey();
  const rows = Array.from({ length: 4100 }, (_, n) =>
    n % 41 === 0 ? `bad ${n}` : `p${n}@people.test`,
  );
  const { added, known, repeated } = await upload(
    where,
    `email\n${[...rows, rows[1]].join('\n')}\n`,
  );
  assert.deepEqual([added, known, repeated], [4000, 0, 1]);
  const rejects = await listRejects(db, where, { atMost: 1000 });
  assert.equal(rejects.length, 100);
  assert.deepEqual(
    { ...rejects[1] },
    {
      line: 43,
      value: 'bad 41',
      reason: '"bad 41" is not an email address',
    },
  );
  const again = await upload(where, `email\n${rows.join('\n')}\nnew@people.test\n`);
  assert.deepEqual([again.added, again.known], [1, 4000]);
});

test('upload preview shows five rows and guesses columns', async () => {
  const where = await survey();
  const shown = async (text: string) => {
    const id = await take(where, text);
    const list = await getUpload(db, where.orgId, { id, surveyId: where.surveyId });
    const { columns, rows } = await previewUpload(db, where.orgId, list);
    return [rows.length, ...columns.map(({ name, use }) => `${name}: ${use}`)];
  };
  const seven = (row: (n: number) => string) =>
    Array.from({ length: 7 }, (_, n) => row(n)).join('\n');
  assert.deepEqual(
    await shown(`Mail,Nom,Contact Email,,Name\n${seven((n) => `,N${n},p${n}@people.test,,x`)}`),
    [
      5,
      'Mail: property',
      'Nom: name',
      'Contact Email: email',
      'Column 4: property',
      'Name: property',
    ],
  );
  const long = 'x'.repeat(17_000);
  assert.deepEqual(
    await shown(`Mail,Note\n${seven((n) => `${n % 2 ? `p${n}@people.test` : ''},${n}${long}`)}`),
    [5, 'Mail: email', 'Note: property'],
  );
});

test('list of another organization or survey is not found', async () => {
  const [one, other] = [await survey(), await survey()];
  const id = await take(one, 'ann@people.test');
  await assert.rejects(getUpload(db, other.orgId, { id, surveyId: one.surveyId }), /not found/);
  const surveyId = await makeSurvey(db, one.orgId);
  await assert.rejects(getUpload(db, one.orgId, { id, surveyId }), /not found/);
});

test('upload merges with a contact that is added concurrently', async () => {
  const where = await survey();
  const id = await take(where, 'email,name\nann@people.test,Ann\nbob@people.test,Bob\n');
  const before = await getUpload(db, where.orgId, { id, surveyId: where.surveyId });
  const { columns } = await previewUpload(db, where.orgId, before);
  const { promise: added, resolve: commit } = Promise.withResolvers<void>();
  const { promise: inserted, resolve: begun } = Promise.withResolvers<void>();
  const other = db.begin(async (tx) => {
    await tx`
      insert into contacts (org_id, survey_id, email, token, properties)
      values (${where.orgId}, ${where.surveyId}, 'ann@people.test', ${id}, '{"plan": "pro"}')`;
    begun();
    await added;
  });
  await inserted;
  const importing = importUpload({ db }, commandWriter(where.orgId), {
    upload: before,
    columns,
    hasHeader: true,
  });
  await untilLockWaits(db);
  commit();
  await Promise.all([other, importing]);
  const [ann] = await contactsOf(where);
  assert.deepEqual([ann?.name, ann?.properties], ['Ann', { plan: 'pro' }]);
  const after = await getUpload(db, where.orgId, { id, surveyId: where.surveyId });
  assert.deepEqual([after.added, after.known], [1, 1]);
});

test('upload stores the first thousand skipped rows and counts all', async () => {
  const where = await survey();
  const { rejected } = await upload(where, `ann@people.test\n${'no\n'.repeat(4100)}`);
  assert.equal(rejected, 4100);
  assert.equal((await listRejects(db, where, { atMost: 5000 })).length, 1000);
});

test('waiting list is deleted after a day', async () => {
  const where = await survey();
  const id = await take(where, 'email\nann@people.test\n');
  for (const [hours, left] of [
    [23, 1],
    [25, 0],
  ] as const) {
    await db`update contact_uploads set created_at = now() - make_interval(hours => ${hours}) where id = ${id}`;
    await deleteOldUploads({ db });
    const lists = await db`select from contact_uploads where org_id = ${where.orgId}`;
    assert.equal(lists.length, left);
  }
});

test('imported list is deleted after a week with its skipped rows', async () => {
  const where = await survey();
  const ages = [24 * 7 + 1, 24 * 7 - 1];
  for (const hours of ages) {
    const { id } = await upload(where, 'email\nann@people.test\nbad\n');
    await db`update contact_uploads set created_at = now() - make_interval(hours => ${hours}) where id = ${id}`;
  }
  await deleteOldUploads({ db });
  const [left] = await db`
    select count(*)::int as lists, min(round(extract(epoch from now() - created_at) / 3600))::int as hours,
           (select count(*)::int from contact_upload_rejects where org_id = ${where.orgId}) as rejects
    from contact_uploads where org_id = ${where.orgId}`;
  assert.deepEqual({ ...left }, { lists: 1, hours: ages[1], rejects: 1 });
});
