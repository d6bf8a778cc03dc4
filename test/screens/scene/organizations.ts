import { createHash } from 'node:crypto';
import type { Db, Sql } from '../../../src/lib/db/db.ts';
import { hashToken } from '../../../src/sessions/cookie.ts';
import { ago, ahead, id, word } from './names.ts';

export const full = { id: id('larkspur'), slug: 'larkspur' };
export const empty = { id: id('northgate'), slug: 'northgate-clinic' };

/** Who reads the screens. */
export const readers = ['owner', 'editor', 'viewer', 'operator'] as const;
/** The owner too, long after the last proof, and between password and code. */
export type Reader = (typeof readers)[number] | 'owner of old' | 'owner without code';

const members = {
  owner: { name: 'Hana Moreau', email: 'hana@larkspur.example' },
  editor: { name: 'Lena Dahl', email: 'lena@larkspur.example' },
  viewer: { name: 'Viktor Lind', email: 'viktor@larkspur.example' },
  operator: { name: 'Olu Grant', email: 'olu@askback.example' },
};

/** An organization that has all settings, one that has none, and their members. */
export async function addOrganizations(sql: Sql) {
  await sql`insert into organizations ${sql({
    ...{ ...full, name: 'Larkspur & Söhne', color: '#7a3e9d', time_zone: 'Europe/Berlin' },
    ...{ logo: 'abc123.png', language: 'de', postal_address: 'Hauptstraße 5, 10115 Berlin' },
    ...{ mail_foot: 'Registered in Berlin', contact_email: 'hello@larkspur.example' },
    ...{ people: ['Jana', 'Otto'], monthly_send_limit: 1000, frequency_days: 30 },
    ...{ ai_enabled: true, keep_comments_days: 730, keep_contacts_days: 1095 },
    ...{ keep_openings_days: 60, keep_mails_days: 365, created_at: ago(400), updated_at: ago(3) },
  })}`;
  await sql`
    insert into organizations ${sql({ ...empty, name: 'Northgate Clinic', created_at: ago(20) })}`;
  await sql`insert into organization_logos ${sql({
    ...{ org_id: full.id, type: 'image/png', width: 120, height: 40, bytes: Buffer.from('png') },
    changed_at: ago(3),
  })}`;
  await sql`insert into former_slugs ${sql({ org_id: full.id, slug: 'larkspur-old' })}`;
  const month = '2026-05-01';
  await sql`insert into mail_usage ${sql({ org_id: full.id, month, used: 873 })}`;
  await sql`
    insert into mail_usage ${sql({ org_id: full.id, month: '2026-04-01', used: 412 })}`;
  for (const reader of readers) await addReader(sql, reader);
  await addOtherMembers(sql);
}

async function addReader(sql: Sql, reader: (typeof readers)[number]) {
  const member = id(`member-${reader}`);
  await sql`insert into members ${sql({
    ...{ id: member, ...members[reader], is_operator: reader === 'operator' },
    created_at: ago(300),
  })}`;
  if (reader !== 'operator') {
    for (const org_id of [full.id, empty.id]) {
      await sql`
        insert into memberships ${sql({ org_id, member_id: member, role: reader, created_at: ago(200) })}`;
    }
  }
  await sql`insert into sessions ${sql({
    ...{ token_hash: hashToken(word(`session ${reader}`)), member_id: member },
    ...{ id: id(`session-${reader}`), address: '192.0.2.1', created_at: ago(1) },
    user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  })}`;
}

/** What the browser of a reader sends. */
export const cookieOf = (reader: Reader) => ({
  Cookie: `__Host-askback=${word(`session ${reader}`)}`,
});

async function addOtherMembers(sql: Sql) {
  const member_id = id('member-ines');
  await sql`insert into members ${sql({
    ...{ id: member_id, name: 'Inês Almeida', email: 'ines@larkspur.example' },
    ...{ sso_issuer: 'https://login.example', sso_subject: 'ines', totp_since: ago(9) },
    ...{ email_proved_at: ago(30), created_at: ago(90) },
  })}`;
  await sql`insert into memberships ${sql({
    ...{ org_id: full.id, member_id, role: 'editor', group_role: 'editor', created_at: ago(80) },
  })}`;
  const links = [
    ...[{ name: 'invited-editor', email: 'tomas@larkspur.example', role: 'editor' }],
    ...[{ name: 'invited-lena', email: 'lena@larkspur.example', role: 'viewer' }],
  ];
  for (const [at, { name, email, role }] of links.entries()) {
    await sql`insert into member_links ${sql({
      ...{ token_hash: hashToken(word(name)), id: id(name), kind: 'invitation', email, role },
      ...{ org_id: full.id, expires_at: ahead(6 - at), created_at: ago(1 + at) },
    })}`;
  }
  await sql`insert into member_links ${sql({
    ...{ token_hash: hashToken(word('operator invited')), id: id('invited-operator') },
    ...{ kind: 'invitation', email: 'night@askback.example', is_operator: true },
    ...{ expires_at: ahead(3), created_at: ago(4) },
  })}`;
  await sql`insert into member_links ${sql({
    ...{ token_hash: hashToken(word('reset')), id: id('reset'), kind: 'reset' },
    ...{ member_id: id('member-viewer'), expires_at: ahead(1), created_at: ago(0, 1) },
  })}`;
}

/** Passkeys, one-time codes and another browser: all that an account can have. */
export async function addProofs(db: Db) {
  const member_id = id('member-owner');
  await db`
    update members
    set totp_secret = ${Buffer.alloc(60, 7)}, totp_since = ${ago(40)}, password_hash = 'x'
    where id = ${member_id}`;
  const passkeys = [
    ...[{ id: 'passkey-laptop', name: 'Work laptop', used_at: ago(0, 2), created_at: ago(60) }],
    ...[{ id: 'passkey-key', name: 'مفتاح الأمان', used_at: null, created_at: ago(50) }],
  ];
  for (const passkey of passkeys) {
    const public_key = Buffer.alloc(77, 1);
    await db`insert into passkeys ${db({ ...passkey, member_id, public_key })}`;
  }
  for (let n = 0; n < 3; n++) {
    const code_hash = createHash('sha256').update(`code ${n}`).digest();
    await db`
      insert into recovery_codes ${db({ member_id, code_hash, used_at: n === 0 ? ago(5) : null })}`;
  }
  await db`insert into sessions ${db({
    ...{ token_hash: hashToken(word('session owner of old')), id: id('session-old'), member_id },
    ...{ address: '192.0.2.2', proved_at: ago(0, 3), used_at: ago(0, 1), created_at: ago(8) },
  })}`;
  await db`insert into sessions ${db({
    ...{ token_hash: hashToken(word('session owner without code')), id: id('session-code') },
    ...{ member_id, awaits_code: true, address: '192.0.2.3', created_at: ago(0) },
  })}`;
  await db`insert into sessions ${db({
    ...{ token_hash: hashToken(word('phone')), id: id('session-phone'), member_id },
    ...{ address: '2001:db8:3f:91::/64', used_at: ago(3), created_at: ago(12) },
    user_agent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0) Version/18.0 Safari/604.1',
  })}`;
}
