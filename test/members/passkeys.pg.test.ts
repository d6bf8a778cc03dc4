import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { commandActor } from '../../src/audit/acts.ts';
import {
  addPasskey,
  checkPasskey,
  createAuthenticationOptions,
  createRegistrationOptions,
  findRelyingParty,
  listPasskeys,
  recordPasskeyUse,
  removePasskey,
} from '../../src/members/passkeys.ts';
import type { OidcSettings, SignInSettings } from '../../src/settings.ts';
import { createAuthenticator } from '../support/fakes/authenticator.ts';
import { makeMember } from '../support/make/session.ts';
import { testSettings } from '../support/make/settings.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const relyingParty = findRelyingParty('https://askback.test')!;
const tools = { db, relyingParty };
const removing = { db, settings: testSettings };

type Spoil = Parameters<ReturnType<typeof createAuthenticator>['get']>[1];

async function memberWithPasskey(over: Record<string, unknown> = {}) {
  const id = await makeMember(db, over);
  const own = { memberId: id, actor: commandActor() };
  const key = createAuthenticator(relyingParty.origin);
  const options = await createRegistrationOptions(tools, {
    id,
    email: 'ann@acme.test',
    name: 'Ann',
  });
  const credential = key.create(options);
  const { challenge } = options;
  assert.ok(await addPasskey(tools, own, { credential, challenge, name: 'Laptop' }));
  return { id, own, key };
}

/** Answers a new challenge and returns the member, or undefined if the passkey was refused. */
async function prove(key: ReturnType<typeof createAuthenticator>, spoil: Spoil = {}) {
  const options = await createAuthenticationOptions(relyingParty);
  const credential = key.get(options, spoil);
  const proved = await checkPasskey(tools, { credential, challenge: options.challenge });
  return proved && (await recordPasskeyUse(db, proved)) ? proved.passkey.member_id : undefined;
}

test('a passkey proves its member repeatedly', async () => {
  const { id, key } = await memberWithPasskey();
  assert.equal(await prove(key), id);
  assert.equal(await prove(key), id);
  const [listed] = await listPasskeys(db, id);
  assert.ok(listed?.used_at);
});

const spoiled: [what: string, spoil: Spoil][] = [
  ['from another origin', { origin: 'https://evil.test' }],
  ['for another site', { rpId: 'evil.test' }],
  ['without user verification', { userVerified: false }],
  ['to a registration', { type: 'webauthn.create' }],
  ['for another account', { userHandle: 'AAAA' }],
];
for (const [what, spoil] of spoiled) {
  test(`checkPasskey rejects an answer ${what}`, async () => {
    const { key } = await memberWithPasskey();
    assert.equal(await prove(key, spoil), undefined);
  });
}

test('checkPasskey rejects an answer to another challenge', async () => {
  const { key } = await memberWithPasskey();
  const [asked, other] = [
    await createAuthenticationOptions(relyingParty),
    await createAuthenticationOptions(relyingParty),
  ];
  const credential = key.get(asked);
  assert.equal(await checkPasskey(tools, { credential, challenge: other.challenge }), undefined);
});

test('a cloned authenticator is refused by its counter', async () => {
  const { key } = await memberWithPasskey();
  assert.ok(await prove(key, { counter: 9 }));
  assert.equal(await prove(key, { counter: 9 }), undefined);
  assert.equal(await prove(key, { counter: 8 }), undefined);
  assert.equal(await prove(key, { counter: 0 }), undefined);
});

test('only one of two concurrent uses with the same counter succeeds', async () => {
  const { key } = await memberWithPasskey();
  const options = await createAuthenticationOptions(relyingParty);
  const credential = key.get(options, { counter: 5 });
  const given = { credential, challenge: options.challenge };
  const proofs = await Promise.all([1, 2, 3, 4].map(() => checkPasskey(tools, given)));
  const noted = await Promise.all(proofs.map((proof) => recordPasskeyUse(db, proof!)));
  assert.deepEqual(noted.filter(Boolean), [true]);
});

test('a member cannot add the passkey of another', async () => {
  const { key } = await memberWithPasskey();
  const other = await makeMember(db);
  const options = await createRegistrationOptions(tools, {
    id: other,
    email: 'bob@acme.test',
    name: 'Bob',
  });
  const credential = key.create(options);
  const own = { memberId: other, actor: commandActor() };
  const added = await addPasskey(tools, own, {
    credential,
    challenge: options.challenge,
    name: 'X',
  });
  assert.equal(added, false);
  assert.equal((await listPasskeys(db, other)).length, 0);
});

for (const spoil of [
  { origin: 'https://evil.test' },
  { rpId: 'evil.test' },
  { userVerified: false },
]) {
  test(`addPasskey rejects a passkey with ${JSON.stringify(spoil)}`, async () => {
    const id = await makeMember(db);
    const options = await createRegistrationOptions(tools, {
      id,
      email: 'ann@acme.test',
      name: 'Ann',
    });
    const credential = createAuthenticator(relyingParty.origin).create(options, spoil);
    const own = { memberId: id, actor: commandActor() };
    const { challenge } = options;
    assert.equal(await addPasskey(tools, own, { credential, challenge, name: 'X' }), false);
  });
}

test('addPasskey refuses another passkey when the account has twenty', async () => {
  const id = await makeMember(db);
  await db`
    insert into passkeys (id, member_id, name, public_key)
    select 'key-' || n || ${id}, ${id}, 'Key ' || n, '\\x00' from generate_series(1, 20) n`;
  const options = await createRegistrationOptions(tools, {
    id,
    email: 'ann@acme.test',
    name: 'Ann',
  });
  const credential = createAuthenticator(relyingParty.origin).create(options);
  const own = { memberId: id, actor: commandActor() };
  const added = addPasskey(tools, own, { credential, challenge: options.challenge, name: 'Phone' });
  await assert.rejects(added, { kind: 'conflict', code: 'too_many_passkeys' });
});

test('only its member can remove a passkey', async () => {
  const { id, own, key } = await memberWithPasskey({ password_hash: 'a hash' });
  const memberId = await makeMember(db, { password_hash: 'a hash' });
  const stranger = { memberId, actor: commandActor() };
  await assert.rejects(removePasskey(removing, stranger, key.id), { kind: 'not_found' });
  await removePasskey(removing, own, key.id);
  assert.equal(await prove(key), undefined);

  const events = await db<{ act: string }[]>`
    select act from audit_events where target_id = ${id} order by at`;
  const acts = events.map(({ act }) => act);
  assert.deepEqual(acts, ['member.passkey_added', 'member.passkey_removed']);
});

const oidc = {} as OidcSettings;
const linked = () => ({ sso_issuer: 'https://login.acme.test', sso_subject: randomUUID() });
const waysIn: [
  what: string,
  over: Record<string, unknown>,
  signIn: SignInSettings,
  removes: boolean,
][] = [
  ['nothing else', {}, { byPassword: true, oidc: null }, false],
  ['a password', { password_hash: 'x' }, { byPassword: true, oidc: null }, true],
  ['a password that is turned off', { password_hash: 'x' }, { byPassword: false, oidc }, false],
  ['single sign-on', linked(), { byPassword: false, oidc }, true],
  ['a removed provider', linked(), { byPassword: true, oidc: null }, false],
];
for (const [what, over, signIn, removes] of waysIn) {
  test(`a member with ${what} ${removes ? 'can' : 'cannot'} remove the last passkey`, async () => {
    const { id, own, key } = await memberWithPasskey(over);
    const removal = removePasskey({ db, settings: { signIn } }, own, key.id);
    if (removes) await removal;
    else await assert.rejects(removal, { kind: 'conflict', code: 'last_way_in' });
    assert.equal((await listPasskeys(db, id)).length, removes ? 0 : 1);
  });
}

test('removing the last two passkeys at once keeps one', async () => {
  const { id, own, key } = await memberWithPasskey();
  await db`
    insert into passkeys (id, member_id, name, public_key)
    values (${`second-${id}`}, ${id}, 'Second', '\\x00')`;
  const both = [key.id, `second-${id}`].map((each) => removePasskey(removing, own, each));
  const results = await Promise.allSettled(both);
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  assert.equal((await listPasskeys(db, id)).length, 1);
});

const places: [url: string, rpId: string | undefined][] = [
  ['https://feedback.acme.test', 'feedback.acme.test'],
  ['https://feedback.acme.test:8443', 'feedback.acme.test'],
  ['http://localhost:8080', 'localhost'],
  ['http://feedback.acme.test', undefined],
  ['http://127.0.0.1:8080', undefined],
  ['https://192.0.2.1', undefined],
  ['https://[2001:db8::1]', undefined],
];
for (const [url, rpId] of places) {
  test(`${url} ${rpId ? 'supports' : 'does not support'} passkeys`, () => {
    assert.equal(findRelyingParty(url)?.rpId, rpId);
  });
}
