import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import * as v from 'valibot';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { proveByIdentity } from '../../src/members/oidc.ts';
import { consumeHandshake, setHandshake } from '../../src/members/sign-in.ts';
import { makeMember } from '../support/make/session.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const publicUrl = 'https://askback.test';
const tools = { db, secrets: createSecrets([Buffer.alloc(32, 1)]), publicUrl };
const app = new Hono()
  .get('/ask', (c) => {
    setHandshake(c, tools, { kind: 'oidc', data: { state: 'asked' } });
    return c.text('asked');
  })
  .get('/return', async (c) => {
    const data = v.object({ state: v.string() });
    const kept = await consumeHandshake(c, tools, { kind: 'oidc', data });
    return c.text(kept?.state ?? 'nothing');
  });

const waits: [seconds: number, found: string][] = [
  [600, 'asked'],
  [601, 'nothing'],
];
for (const [seconds, found] of waits) {
  test(`a handshake is ${found === 'asked' ? 'valid' : 'expired'} after ${seconds} seconds`, async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const asked = (await app.request('/ask')).headers.get('Set-Cookie')!;
    assert.match(asked, /; Max-Age=600;/);
    t.mock.timers.tick(seconds * 1000);
    const headers = { Cookie: asked.split(';')[0]! };
    assert.equal(await (await app.request('/return', { headers })).text(), found);
    assert.equal(await (await app.request('/return', { headers })).text(), 'nothing');
  });
}

const proofs: [what: string, secondsAgo: number | null, isTaken: boolean][] = [
  ['299.999 seconds ago', 299.999, true],
  ['five minutes ago', 300, false],
  ['without a time', null, true],
];
for (const [what, secondsAgo, isTaken] of proofs) {
  test(`a provider sign-in ${what} is ${isTaken ? '' : 'not '}accepted as proof`, async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const subject = `subject-${secondsAgo}`;
    const issuer = 'https://login.test';
    const id = await makeMember(db, { sso_issuer: issuer, sso_subject: subject });
    const identity = {
      issuer,
      subject,
      email: null,
      isEmailVerified: false,
      name: null,
      groups: [],
      authenticatedAt: secondsAgo === null ? null : new Date(Date.now() - secondsAgo * 1000),
    };
    const member = { id, sessionId: '00000000-0000-4000-8000-000000000000' } as never;
    assert.equal(await proveByIdentity(db, member, identity), isTaken);
  });
}
