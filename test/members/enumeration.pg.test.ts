import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { connect } from '../../src/lib/db/db.ts';
import { hashPassword } from '../../src/members/password.ts';
import { makeMember } from '../support/make/session.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { visitorBrowser } from '../support/probe/visitor.ts';

// Compares the number of hashes and the statements, because times vary on a busy machine.

const { db, url } = await testDatabase();
const password_hash = await hashPassword('glass heron tuesday', { address: 'test' });

let statements: string[] = [];
const watched = connect(url, { connections: 1 });
watched.options.debug = (_, text) => statements.push(text.replace(/\s+/g, ' ').trim());
after(() => watched.end());
await watched`select 1`; // the driver precedes the first statement of a connection with its own query

let hashes = 0;
const hook = createHook({
  init(_, type) {
    if (/argon2/i.test(type)) hashes += 1;
  },
});

type Account = 'unknown' | 'with a password' | 'without a password' | 'with one-time codes';

const rows: Readonly<Record<Exclude<Account, 'unknown'>, object>> = {
  'with a password': { password_hash },
  'without a password': {},
  'with one-time codes': { password_hash, totp_secret: Buffer.from('x'), totp_since: new Date() },
};

/** The work and the response of a request with the email of such an account. */
async function workFor(account: Account, path: string, form: Record<string, string>) {
  const email = `${randomUUID()}@people.test`;
  if (account !== 'unknown') await makeMember(db, { email, ...rows[account] });
  const browser = visitorBrowser(bareApp(watched));
  [statements, hashes] = [[], 0];
  hook.enable();
  const answer = await browser.post(path, { email, ...form });
  hook.disable();
  const page = (await answer.text()).replaceAll(email, 'EMAIL');
  const headers = [...answer.headers.keys()].toSorted();
  return { statements, hashes, status: answer.status, headers, page };
}

const requests: readonly [
  what: string,
  path: string,
  form: Record<string, string>,
  hashes: number,
][] = [
  ['a wrong password', '/sign-in', { password: 'wrong horse wednesday' }, 1],
  ['a link for a new password', '/forgot', {}, 0],
];

for (const [what, path, form, expected] of requests) {
  test(`${what} does not reveal whether the email has an account`, async () => {
    const unknown = await workFor('unknown', path, form);
    assert.equal(unknown.hashes, expected);
    assert.ok(unknown.statements.length > 0);
    for (const account of Object.keys(rows) as (keyof typeof rows)[]) {
      assert.deepEqual(await workFor(account, path, form), unknown, account);
    }
  });
}
