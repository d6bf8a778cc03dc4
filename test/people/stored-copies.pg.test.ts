import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerStore } from '../../src/keys/idempotency.ts';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { finishErasure } from '../../src/people/erase.ts';
import { erasableScene, erasureFolder } from '../support/make/erasure.ts';
import { makeClient, makeContact, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { secretKey } from '../support/processes/program.ts';

const { db } = await testDatabase();
const folder = erasureFolder();
const secrets = createSecrets([Buffer.from(secretKey, 'base64')]);

/** An organization with stored API responses, and the names of the remaining ones. */
async function storing(org: string) {
  const [key] = await db<{ id: string }[]>`
    insert into api_keys (org_id, name, public_id, secret_hash, permission)
    values (${org}, 'stores', gen_random_uuid(), sha256('x'), 'write') returning id`;
  const add = async (name: string, text: string) => {
    const store = answerStore(secrets, { owner: org, id: `${key!.id} ${name}` });
    const row = { key_id: key!.id, name, request_hash: Buffer.alloc(32), status: 200 };
    await db`insert into idempotency_keys ${db({ ...row, answer: await store.pack(text) })}`;
  };
  const left = async () =>
    (
      await db<{ name: string }[]>`
        select name from idempotency_keys where key_id = ${key!.id} order by name`
    ).map(({ name }) => name);
  return { add, left };
}

const note = async (org_id: string, response_id: string) => {
  const row = { org_id, response_id, text: 'called', author: 'Bo', author_kind: 'member' };
  const [made] = await db<{ id: string }[]>`
    insert into response_notes ${db(row)} returning id`;
  return made!.id;
};

test('erasure deletes stored API responses that mention the person', async () => {
  const { org, of, erase } = await erasableScene(db, folder);
  const { add, left } = await storing(org);
  const [contact] = await db<{ id: string; token: string; response: string }[]>`
    select c.id, c.token, r.id as response
    from contacts c join responses r on r.contact_id = c.id
    where c.org_id = ${org}`;
  const properties = db.json({ by: 'ADA@people.test' });
  const embedded = await makeResponse(db, of, { properties });
  const ofOther = await makeResponse(db, of, {
    contact_id: await makeContact(db, of, { email: 'bob@people.test' }),
    properties: db.json({ by: 'bob@people.test' }),
  });
  const theirs = await makeClient(db);
  const elsewhere = { org_id: theirs.id, survey_id: await makeSurvey(db, theirs.id) };
  const texts: Record<string, string> = {
    'the address': 'to Ada@PEOPLE.test.',
    'its contact': contact!.id,
    'its link': contact!.token,
    'its response': contact!.response,
    'a note about it': await note(org, contact!.response),
    'what a website handed in': embedded,
    'a note about that': await note(org, embedded),
    'z: another response': ofOther,
    'z: a note about that': await note(org, ofOther),
    'z: another address': 'bada@people.test',
    'z: what another organization was handed': await makeResponse(db, elsewhere, { properties }),
  };
  for (const [name, text] of Object.entries(texts)) await add(name, text);
  const other = await storing(theirs.id);
  await other.add('the address', 'to ada@people.test');

  const { counts } = await erase();
  const others = Object.keys(texts).filter((name) => name.startsWith('z: '));
  assert.deepEqual(await left(), others.toSorted());
  assert.equal(counts.stored_answers, Object.keys(texts).length - others.length);
  assert.deepEqual(await other.left(), ['the address']);
});

test('erasure deletes what running requests stored after it', async () => {
  const { org, tools, erase } = await erasableScene(db, folder);
  const { add, left } = await storing(org);
  const began = Date.now();
  const { id } = await erase();
  const ended = Date.now();
  const [job] = await db<{ run_at: Date }[]>`
    select run_at from test.jobs
    where task = 'people.finish_erasure' and payload ->> 'erasure_id' = ${id}`;
  const waitMs = (tools.settings.sendDeadlineSeconds + 60) * 1000;
  assert.ok(job!.run_at.getTime() >= began + waitMs && job!.run_at.getTime() <= ended + waitMs);

  await add('late', 'sent to <ADA@people.test>, bob@people.test');
  await add('of another', 'sent to bob@people.test');
  await add('of none', 'done');
  await finishErasure(tools, { org_id: org, erasure_id: id });
  assert.deepEqual(await left(), ['of another', 'of none']);
});
