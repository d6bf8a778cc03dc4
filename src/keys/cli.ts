import * as v from 'valibot';
import { commandWriter } from '../audit/acts.ts';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import { notFound } from '../errors.ts';
import {
  type Command,
  columns,
  command,
  id,
  Moment,
  Name,
  OneOf,
  option,
  optional,
} from '../lib/cli/command.ts';
import { getOrganization } from '../organizations/queries.ts';
import { createKey, revokeKey } from './manage.ts';
import { findOrganizationOfKey, type ListedKey, listKeys } from './queries.ts';

const Future = v.pipe(
  Moment,
  v.check((at) => at.getTime() > Date.now(), 'must be in the future'),
);

const create = command({
  name: 'key create',
  does: 'makes an API key of an organization and shows it, once',
  options: {
    org: id('whose key it is'),
    name: option(Name, 'N', 'what it is for'),
    permission: {
      schema: v.optional(OneOf(['read', 'write']), 'read'),
      value: 'read|write',
      does: 'what it may do (read)',
    },
    'expires-at': optional(Future, 'ISO', 'when it stops working (never)'),
  },
  run: (tools: CommandTools, { org, name, permission, 'expires-at': expires_at = null }) =>
    inDatabase(tools, async (db) => {
      const issued = await createKey(db, commandWriter(org), { name, permission, expires_at });
      const text = `${issued.key}\n\nThe ${permission} key ${issued.id}. It is not shown again.`;
      return { data: issued, text };
    }),
});

const list = command({
  name: 'key list',
  does: "lists an organization's keys, newest first, without their secrets",
  options: { org: id('whose keys') },
  run: (tools: CommandTools, { org }) =>
    inDatabase(tools, async (db) => {
      await getOrganization(db, org);
      const keys = await listKeys(db, org);
      const rows = keys.map((key) => [
        key.id,
        key.public_id,
        key.permission,
        state(key),
        key.last_used_at?.toISOString() ?? 'never',
        key.name,
      ]);
      const head = ['id', 'begins with', 'permission', 'state', 'last used', 'name'];
      return { data: keys, text: columns([head, ...rows]) };
    }),
});

const revoke = command({
  name: 'key revoke',
  does: 'makes a key stop working, from its very next request',
  options: { id: id('which key') },
  run: (tools: CommandTools, given) =>
    inDatabase(tools, async (db) => {
      const orgId = await findOrganizationOfKey(db, given.id);
      if (orgId === undefined) throw notFound('key');
      const key = await revokeKey(db, commandWriter(orgId), given.id);
      return { data: key, text: `revoked the key ${key.name}: ${key.id}` };
    }),
});

export const keyCommands: readonly Command<CommandTools>[] = [create, list, revoke];

function state({ revoked_at, expires_at }: ListedKey): string {
  if (revoked_at) return 'revoked';
  if (!expires_at) return 'live';
  const over = expires_at.getTime() <= Date.now();
  return `${over ? 'expired' : 'live until'} ${expires_at.toISOString()}`;
}
