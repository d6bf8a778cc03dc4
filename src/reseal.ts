import type { Secrets } from './lib/crypto/secrets.ts';
import type { Db } from './lib/db/db.ts';
import type { Log } from './lib/log/log.ts';

type Sealed = {
  table: keyof typeof names;
  column: string;
  key: string;
  owner: string;
  id: string;
  sealed: Buffer;
};

const names = {
  webhooks: 'webhook secrets',
  members: 'secrets of two-step verification',
  slack_hooks: 'Slack webhook URLs',
};

/**
 * Key rotation: encrypts secrets of the previous key with the current one. Secrets that change meanwhile and secrets that
 * no key opens stay as they are.
 */
export async function resealSecrets({ db, log, secrets }: { db: Db; log: Log; secrets: Secrets }) {
  const rows = await db<Sealed[]>`
    -- all organizations
    select *
    from (
      select 'webhooks' as table, 'secret' as column, 'id' as key, org_id::text as owner, id::text, secret as sealed
      from webhooks
      union all
      select 'webhooks', 'previous_secret', 'id', org_id::text, id::text, previous_secret from webhooks
      union all
      select 'members', 'totp_secret', 'id', 'member', id::text, totp_secret from members
      union all
      select 'slack_hooks', 'url', 'org_id', org_id::text, 'slack', url from slack_hooks
    ) secrets
    where substring(sealed from 1 for ${secrets.keyId.length}) <> ${secrets.keyId}`;
  const unreadable: Sealed['table'][] = [];
  for (const { table, column, key, owner, id, sealed } of rows) {
    let resealed: Buffer;
    try {
      resealed = secrets.seal({ owner, id }, secrets.openBytes({ owner, id }, sealed));
    } catch {
      unreadable.push(table);
      continue;
    }
    await db`
      update ${db(table)}
      set ${db(column)} = ${resealed}
      where ${db(key)} = ${key === 'id' ? id : owner} and ${db(column)} = ${sealed}`;
  }
  for (const [table, { length: count }] of Map.groupBy(unreadable, (table) => table)) {
    log.error({ count }, `${names[table]} cannot be opened`);
  }
}
