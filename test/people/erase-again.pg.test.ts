import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { connect, type Db } from '../../src/lib/db/db.ts';
import { allowErasedAddress } from '../../src/people/erase.ts';
import { fileErasures, openErasureFile, parseErasures } from '../../src/people/receipts-file.ts';
import { erasableScene, erasureFolder } from '../support/make/erasure.ts';
import { makeContact, makeResponse, writeKeyOf } from '../support/make/rows.ts';
import { commandRunner } from '../support/probe/command.ts';
import { emptyDatabase, testDatabase } from '../support/probe/database.ts';
import { assertTalliesHold } from '../support/probe/tallies.ts';
import { secretKey } from '../support/processes/program.ts';

const folder = erasureFolder();
const runner = (url: string) =>
  commandRunner({
    DATABASE_URL: url,
    ASKBACK_SECRET_KEY: secretKey,
    ASKBACK_ERASURES_FILE: join(folder, 'of-the-command.jsonl'),
  });

/** A new deployment with one person who has answered. */
async function deployment() {
  const { db, url } = await testDatabase();
  return { db, url, ...(await erasableScene(db, folder)) };
}

async function run(url: string, ...words: string[]) {
  const { code, stdout, stderr } = await runner(url)('restore', ...words, '--json');
  return { code, stderr, data: stdout ? (JSON.parse(stdout) as Record<string, unknown>) : {} };
}

const contactsIn = async (db: Db) => (await db`select from contacts`).length;

test('restore repeats an erasure with the same receipt', async () => {
  const { url, erase, erasuresFile } = await deployment();
  const backup = join(folder, 'older.backup');
  assert.equal((await runner(url)('backup', backup)).code, 0);
  const receipt = await erase();

  const fresh = await emptyDatabase();
  const { code, data, stderr } = await run(fresh.url, backup, '--erasures', erasuresFile);
  assert.equal(code, 0, stderr);
  assert.deepEqual(
    [data['receipts'], data['erased_again'], data['unknown_organizations']],
    [1, 1, 0],
  );
  const restored = connect(fresh.url, { connections: 1 });
  after(() => restored.end());
  assert.equal(await contactsIn(restored), 0);
  const responses = await restored`select contact_id, comment, score from responses`;
  assert.deepEqual([...responses], [{ contact_id: null, comment: null, score: 10 }]);
  const [kept] = await restored`select id, counts, filed_at is not null as filed from erasures`;
  assert.deepEqual({ ...kept }, { id: receipt.id, counts: receipt.counts, filed: true });
  await assertTalliesHold(restored);

  const said = await runner(fresh.url)('restore', '--erasures', erasuresFile);
  assert.match(said.stdout, /^receipts of erasures: 1; erased again: 0\n$/);
  const again = await run(fresh.url, '--erasures', erasuresFile);
  assert.equal(again.data['erased_again'], 0);
  assert.equal((await restored`select from erasures`).length, 1);
  const acts =
    await restored`select details ->> 'again' as again from audit_events where act = 'person.erased'`;
  assert.deepEqual([...acts], [{ again: 'true' }]);
});

test('restore refuses a file with bad lines', async () => {
  const { db, url, erase, of, erasuresFile } = await deployment();
  await erase();
  await db`delete from erasures`;
  await makeContact(db, of, { email: 'ada@people.test' });
  const good = readFileSync(erasuresFile, 'utf8');
  appendFileSync(erasuresFile, `${good.slice(0, 40)}\n\n{"id": "x"}\n`);
  const { code, stderr } = await run(url, '--erasures', erasuresFile);
  assert.equal(code, 1);
  assert.match(stderr, /nothing was done/);
  assert.match(stderr, /line 2: it is not valid JSON/);
  assert.match(stderr, /line 4: id must be a UUID/);
  assert.equal(await contactsIn(db), 1);
});

test('restore keeps data from after the address was unblocked', async () => {
  const { db, url, org, of, tools, erase, erasuresFile } = await deployment();
  const { id } = await erase();
  await allowErasedAddress(tools, writeKeyOf(org), id);
  await makeContact(db, of, { email: 'ada@people.test' });
  await db`
    insert into suppressions (org_id, email, kind) values (${org}, 'ada@people.test', 'unsubscribed')`;
  assert.equal(readFileSync(erasuresFile, 'utf8').trimEnd().split('\n').length, 2);
  assert.equal(parseErasures(readFileSync(erasuresFile, 'utf8')).length, 1);
  await db`delete from erasures`;
  const { data } = await run(url, '--erasures', erasuresFile);
  assert.equal(data['erased_again'], 0);
  assert.equal(await contactsIn(db), 1);
  assert.equal((await db`select from suppressions`).length, 1);
  const [receipt] = await db`select allowed_at is not null as allowed from erasures`;
  assert.equal(receipt?.['allowed'], true);
});

test('restore counts receipts of unknown organizations', async () => {
  const { url, db, erase, org, erasuresFile } = await deployment();
  await erase();
  await db`delete from organizations where id = ${org}`;
  const { data } = await run(url, '--erasures', erasuresFile);
  assert.deepEqual(data, { receipts: 0, erased_again: 0, unknown_organizations: 1 });
  const said = await runner(url)('restore', '--erasures', erasuresFile);
  assert.match(said.stdout, /erased again: 0; of unknown organizations: 1\n$/);
  assert.equal((await run(url)).code, 2);
  assert.equal((await run(url, '--erasures', join(folder, 'nothing'))).code, 1);
});

test('receipt waits in the database while the file cannot be written', async () => {
  const { db, tools, erase } = await deployment();
  const said: string[] = [];
  const report = (sentence: string) => said.push(sentence);
  const erasuresFile = join(folder, 'no-such-folder', 'erasures.jsonl');
  tools.erasureFile = openErasureFile({ erasuresFile }, folder, report);
  const { id } = await erase();
  assert.match(said.join(), /^cannot write erasure receipts to /);
  const later = join(folder, 'later.jsonl');
  writeFileSync(later, '');
  const erasureFile = openErasureFile({ erasuresFile: later }, folder, report);
  await fileErasures({ db, erasureFile });
  await fileErasures({ db, erasureFile });
  const [line, ...others] = readFileSync(later, 'utf8').split('\n');
  assert.equal((JSON.parse(line!) as { id: string }).id, id);
  assert.deepEqual(others, [''], 'where nothing waits, nothing is written');
});

test('receipts of several batches are filed in order', async () => {
  const { db, org } = await deployment();
  await db`
    insert into erasures (org_id, address_hash, scores, counts, erased_at)
    select ${org}, sha256(n::text::bytea), 'kept', '{}', now() - make_interval(mins => n)
    from generate_series(1, 1001) n`;
  const path = join(folder, 'many.jsonl');
  const erasureFile = openErasureFile({ erasuresFile: path }, folder, assert.fail);
  await fileErasures({ db, erasureFile });
  const times = parseErasures(readFileSync(path, 'utf8')).map(({ erased_at }) => erased_at);
  assert.equal(times.length, 1001);
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a.getTime() - b.getTime()),
  );
});

test('restore redacts an address that only others mention', async () => {
  const { db, url, org, of, erase, erasuresFile } = await deployment();
  await erase();
  // An older backup in which the contact was deleted but not erased.
  const [erasure] = await db`delete from erasures returning id`;
  const properties = db.json({ referred_by: 'Ada@people.test' });
  await makeContact(db, of, { email: 'bob@people.test', properties });
  await makeResponse(db, of, { comment: 'ask ada@people.test' });
  const { data, stderr } = await run(url, '--erasures', erasuresFile);
  assert.equal(data['erased_again'], 1, stderr);
  const [row] = await db`
    select (select properties ->> 'referred_by' from contacts where org_id = ${org}) as referred_by,
           (select comment from responses where org_id = ${org} and comment is not null) as comment,
           (select id from erasures) as erasure`;
  assert.deepEqual(
    { ...row },
    { referred_by: '[email]', comment: 'ask [email]', erasure: erasure?.['id'] },
  );
});
