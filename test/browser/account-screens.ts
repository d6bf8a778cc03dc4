import { randomBytes } from 'node:crypto';
import { insertLink } from '../../src/members/queries.ts';
import { hashToken, newToken } from '../../src/sessions/session.ts';
import type { BrowserScene, ScreenEntry } from './scene.ts';

export const accountEntries: readonly ScreenEntry[] = [
  { name: 'account', as: 'owner', path: withProofs },
  { name: 'account-none', as: 'viewer', path: '/account' },
  { name: 'account-email', as: 'owner', path: '/account/email' },
  { name: 'account-email-confirm', as: 'owner', path: confirmationPage },
  { name: 'account-codes-renew', as: 'owner', path: '/account/codes/renew' },
  { name: 'account-codes-off', as: 'owner', path: '/account/codes/off' },
  { name: 'account-passkey-remove', as: 'owner', path: passkeyRemoval },
  { name: 'account-prove', as: 'owner', path: '/account/prove' },
  { name: 'sign-in-code-none', as: null, path: '/sign-in/code' },
];

const owner = 'owner@members.test';

/** Passkeys, recovery codes and a second session, as in an account that was used for a while. */
async function withProofs({ db }: BrowserScene) {
  await addOwner(db);
  await db`
    update members
    set totp_secret = ${randomBytes(60)}, totp_since = now() - interval '40 days', password_hash = 'x'
    where email = ${owner}`;
  await addPasskey(db, 'Work laptop');
  await addPasskey(db, 'مفتاح الأمان');
  await db`
    insert into sessions (token_hash, member_id, user_agent, address, used_at)
    select ${randomBytes(32)}, id, 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0) Version/18.0 Safari/604.1',
           '2001:db8:3f:91::/64', now() - interval '3 days'
    from members
    where email = ${owner}`;
  return '/account';
}

async function confirmationPage({ db }: BrowserScene) {
  await addOwner(db);
  const token = newToken();
  const [member] = await db<{ id: string }[]>`select id from members where email = ${owner}`;
  const link = { memberId: member!.id, email: 'hana.moreau@example.com' };
  await insertLink(db, { ...link, kind: 'email', validFor: '1 day', tokenHash: hashToken(token) });
  return `/account/email/${token}`;
}

async function passkeyRemoval({ db }: BrowserScene) {
  return `/account/passkeys/${await addPasskey(db, 'Phone')}/remove`;
}

async function addPasskey(db: BrowserScene['db'], name: string): Promise<string> {
  await addOwner(db);
  const id = randomBytes(32).toString('base64url');
  await db`
    insert into passkeys (id, member_id, name, public_key, used_at)
    select ${id}, id, ${name}, ${randomBytes(77)}, now() - interval '2 hours'
    from members
    where email = ${owner}`;
  return id;
}

/** The member of the browser's session, if no earlier screen added one. */
async function addOwner(db: BrowserScene['db']) {
  await db`
    insert into members (email, name) values (${owner}, 'Hana Moreau') on conflict do nothing`;
}
