import * as v from 'valibot';
import { commandWriter } from '../audit/acts.ts';
import { databaseCommand, listCommand, organizationOf, orgOption } from '../command-tools.ts';
import { id, Moment, Name, OneOf, option, optional } from '../lib/cli/command.ts';
import { createKey, revokeKey } from './manage.ts';
import { type ListedKey, listKeys } from './queries.ts';

const Future = v.pipe(
  Moment,
  v.check((at) => at.getTime() > Date.now(), 'must be in the future'),
);

const create = databaseCommand({
  name: 'key create',
  does: 'creates an API key and prints it once',
  options: {
    org: orgOption('the organization of the key'),
    name: option(Name, 'N', 'where you will use it'),
    permission: optional(OneOf(['read', 'write']), 'read|write', 'its permission (read)'),
    'expires-at': optional(Future, 'ISO', 'when it expires (never)'),
  },
  async run(db, { org, name, permission = 'read', 'expires-at': expires_at = null }) {
    const key = await createKey(db, commandWriter(org), { name, permission, expires_at });
    const text = `${key.key}\n\nCreated the ${permission} key ${key.id}. You won't see it again.`;
    return { data: key, text };
  },
});

const list = listCommand({
  name: 'key list',
  does: 'lists API keys without their secrets, newest first',
  options: { org: orgOption('the organization of the keys') },
  run: (db, { org }) => listKeys(db, org),
  head: ['id', 'begins with', 'permission', 'state', 'last used', 'name'],
  cells: (key) => [
    key.id,
    key.public_id,
    key.permission,
    state(key),
    key.last_used_at?.toISOString() ?? 'never',
    key.name,
  ],
});

const revoke = databaseCommand({
  name: 'key revoke',
  does: 'revokes an API key immediately',
  options: { id: id('the key') },
  async run(db, { id }) {
    const orgId = await organizationOf(db, { table: 'api_keys', id, noun: 'key' });
    const key = await revokeKey(db, commandWriter(orgId), id);
    return { data: key, text: `revoked the key ${key.name}: ${key.id}` };
  },
});

export const keyCommands = [create, list, revoke];

function state({ revoked_at, expires_at }: ListedKey): string {
  if (revoked_at) return 'revoked';
  if (!expires_at) return 'live';
  const over = expires_at.getTime() <= Date.now();
  return `${over ? 'expired' : 'live until'} ${expires_at.toISOString()}`;
}
