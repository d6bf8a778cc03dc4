import { createHash } from 'node:crypto';
import { acts } from '../../../src/audit/acts.ts';
import type { Secrets } from '../../../src/lib/crypto/secrets.ts';
import { json, type Sql } from '../../../src/lib/db/db.ts';
import { hookPlace } from '../../../src/notifications/slack.ts';
import { ago, ahead, id } from './names.ts';
import { full } from './organizations.ts';

/** Keys, the audit trail, notifications, receipts of erasures and the processes of the service. */
export async function addSettings(sql: Sql, { secrets }: { secrets: Pick<Secrets, 'seal'> }) {
  await addKeys(sql);
  await addAudit(sql);
  await sql`insert into notification_choices ${sql({
    ...{ org_id: full.id, member_id: id('member-owner'), digest: 'week' },
    ...{ events: ['detractor', 'webhook_off'], time_zone: 'Europe/Berlin' },
  })}`;
  await sql`
    insert into notification_contents ${sql({ org_id: full.id, people: true, unedited: false })}`;
  const url = secrets.seal(hookPlace(full.id), 'https://hooks.slack.example/services/T0/B0/secret');
  await sql`insert into slack_hooks ${sql({
    ...{ org_id: full.id, url, events: ['detractor', 'limit_near'], digest: 'day' },
  })}`;
  await addReceipts(sql);
  await sql`insert into worker_pools ${sql({
    ...{ pool_id: 'pool-1', lock_key: 1, program: 'askback 1.0.0 on host-1', started_at: ago(2) },
  })}`;
}

async function addKeys(sql: Sql) {
  const keys = [
    { name: 'crm sync', permission: 'write', expires_at: ahead(9), last_used_at: ago(0, 4) },
    { name: 'dashboard', permission: 'read', expires_at: null, last_used_at: null },
    { name: 'last year', permission: 'read', expires_at: ago(30), last_used_at: ago(31) },
    { name: 'leaked', permission: 'write', revoked_at: ago(12), last_used_at: ago(12, 1) },
  ];
  for (const [at, key] of keys.entries()) {
    await sql`insert into api_keys ${sql({
      ...{ ...key, id: id(`key-${at + 1}`), org_id: full.id, public_id: `public0${at + 1}` },
      secret_hash: createHash('sha256').update(key.name).digest(),
      created_at: ago(200 - at),
    })}`;
  }
}

const actors = [
  ...[{ actor_kind: 'member', actor_id: id('member-owner'), actor: 'Hana Moreau' }],
  ...[{ actor_kind: 'key', actor_id: id('key-1'), actor: 'crm sync' }],
  ...[
    { actor_kind: 'command', actor: 'root' },
    { actor_kind: 'job', actor: 'summaries.month' },
  ],
  ...[{ actor_kind: 'visitor', actor: 'visitor' }],
];
const targets = ['key', 'survey', 'contact', 'webhook', 'member', 'response', null];

/** Each act once. */
async function addAudit(sql: Sql) {
  for (const [at, act] of Object.keys(acts).entries()) {
    const target = targets[at % targets.length]!;
    await sql`insert into audit_events ${sql({
      ...{ id: id(`event-${act}`), org_id: full.id, at: ago(0, at), act },
      ...actors[at % actors.length],
      ...{ target, target_id: target && id(`${target}-${at}`) },
      details: json(sql, at % 3 ? {} : { name: `Thing ${at}`, count: at }),
      request_id: at % 2 ? `request-${at}` : null,
    })}`;
  }
}

async function addReceipts(sql: Sql) {
  const counts = json(sql, { contacts: 2, mails: 3, openings: 4, responses: 2, comments: 1 });
  const receipts = [
    ...[{ name: 'first', scores: 'kept', allowed_at: null }],
    ...[{ name: 'other', scores: 'deleted', allowed_at: ago(1) }],
  ];
  for (const [at, { name, ...receipt }] of receipts.entries()) {
    const address_hash = createHash('sha256').update(name).digest();
    await sql`insert into erasures ${sql({
      ...{ ...receipt, id: id(`receipt-${name}`), org_id: full.id, address_hash, counts },
      erased_at: ago(5 + at),
    })}`;
  }
}
