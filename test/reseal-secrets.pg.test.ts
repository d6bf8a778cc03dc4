import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createSecrets } from '../src/lib/crypto/secrets.ts';
import { resealSecrets } from '../src/reseal.ts';
import { makeOrganization, makeWebhook } from './support/make/rows.ts';
import { testDatabase } from './support/probe/database.ts';
import { keptLog } from './support/probe/log.ts';

const { db } = await testDatabase();
const [before, today] = [randomBytes(32), randomBytes(32)];
const { lines, log } = keptLog();

const [old, changing, current] = [
  createSecrets([before]),
  createSecrets([today, before]),
  createSecrets([today]),
];

const rotate = (id: string, secret: Buffer) =>
  db`update webhooks set previous_secret = secret, secret = ${secret} where id = ${id}`;

async function webhooks(count: number, seal = old) {
  const orgId = await makeOrganization(db);
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const id = crypto.randomUUID();
    await makeWebhook(db, orgId, { id, secret: seal.seal({ owner: orgId, id }, `hush ${n}`) });
    ids.push(id);
  }
  const stored = async (id: string) => {
    const [row] = await db<{ secret: Buffer; previous_secret: Buffer | null }[]>`
      select secret, previous_secret from webhooks where id = ${id}`;
    return row!;
  };
  const opened = async (id: string, by = current) =>
    by.open({ owner: orgId, id }, (await stored(id)).secret);
  return { orgId, ids, stored, opened };
}

test('a secret of the previous key is resealed with the current key', async () => {
  const { orgId, ids, stored, opened } = await webhooks(3);
  const [first] = ids as [string];
  await rotate(first, old.seal({ owner: orgId, id: first }, 'newer'));

  await resealSecrets({ db, log, secrets: changing });

  assert.equal(await opened(first), 'newer');
  const { previous_secret } = await stored(first);
  assert.equal(current.open({ owner: orgId, id: first }, previous_secret!), 'hush 0');
  assert.deepEqual([await opened(ids[1]!), await opened(ids[2]!)], ['hush 1', 'hush 2']);
  assert.deepEqual(lines, []);
});

test('a secret that neither key opens stays as it is and is reported', async () => {
  for (const count of [1, 2]) {
    const { ids, opened } = await webhooks(1, createSecrets([before]));
    await resealSecrets({ db, log, secrets: current });
    const line = ['error', 'webhook secrets cannot be opened', { count }];
    assert.deepEqual(lines.splice(0), [line]);
    assert.equal(await opened(ids[0]!, old), 'hush 0');
  }
});

test('a lost previous secret does not keep the current one from resealing', async () => {
  const { orgId, ids, opened, stored } = await webhooks(1, createSecrets([randomBytes(32)]));
  const [id] = ids as [string];
  await rotate(id, old.seal({ owner: orgId, id }, 'newer'));
  const { previous_secret } = await stored(id);

  await resealSecrets({ db, log, secrets: changing });

  assert.equal(await opened(id), 'newer');
  assert.deepEqual((await stored(id)).previous_secret, previous_secret);
});
