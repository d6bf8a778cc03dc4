import * as v from 'valibot';
import { commandWriter } from '../audit/acts.ts';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import { notFound } from '../errors.ts';
import {
  type Command,
  columns,
  command,
  Email,
  id,
  OneOf,
  option,
  optional,
  Whole,
} from '../lib/cli/command.ts';
import { readList } from '../lib/paging/page.ts';
import { addressKey } from '../lib/smtp/address.ts';
import { getOrganization } from '../organizations/queries.ts';
import { type Config, configuredSecrets } from '../settings.ts';
import { type ErasureReceipt, findErasureOrganization, listErasures } from './erase.queries.ts';
import { allowErasedAddress, erasePerson } from './erase.ts';
import { openErasureFile } from './receipts-file.ts';

const mostListed = 200;

const erase = command({
  name: 'person erase',
  does: 'erases all that an organization knows of an address, and prints the receipt',
  options: {
    org: id('the organization'),
    email: option(Email, 'E', 'the address'),
    scores: {
      schema: v.optional(OneOf(['keep', 'delete']), 'keep'),
      value: 'keep|delete',
      does: 'keep scores as those of anonymous responses, or delete them too (keep)',
    },
  },
  run: (tools: CommandTools, { org, email, scores }) =>
    inDatabase(tools, async (db, config) => {
      await getOrganization(db, org);
      const erasureFile = openFile(tools, config);
      const secrets = configuredSecrets(config, config.dataDir);
      const wish = { email, scores: scores === 'keep' ? 'kept' : 'deleted' } as const;
      const eraseTools = { db, secrets, erasureFile, settings: config };
      const receipt = await erasePerson(eraseTools, commandWriter(org), wish);
      return { data: receipt, text: `erased, receipt ${receipt.id}\n\n${countsOf(receipt)}` };
    }),
});

const list = command({
  name: 'erasure list',
  does: 'lists the receipts of erased persons, newest first',
  options: {
    org: id('the organization'),
    email: optional(Email, 'E', 'only those of this address'),
    limit: optional(Whole(1, mostListed), 'N', `how many, at most ${mostListed} (50)`),
  },
  run: (tools: CommandTools, { org, email, limit = 50 }) =>
    inDatabase(tools, async (db) => {
      await getOrganization(db, org);
      const page = { page: 1, limit, ignored: [], email: email && addressKey(email) };
      const { data } = await readList<ErasureReceipt>(db, listErasures(db, org, page));
      const rows = data.map((one) => [
        one.id,
        one.erased_at,
        one.scores,
        one.allowed_at ?? 'suppressed',
        one.address_hash,
      ]);
      const head = ['id', 'erased', 'scores', 'allowed again', 'hash of the address'];
      return { data, text: columns([head, ...rows]) };
    }),
});

const allow = command({
  name: 'erasure allow',
  does: 'lets the address of an erased person be added and mailed again',
  options: { id: id('the receipt') },
  run: (tools: CommandTools, given) =>
    inDatabase(tools, async (db, config) => {
      const orgId = await findErasureOrganization(db, given.id);
      if (!orgId) throw notFound('erasure');
      const erasureFile = openFile(tools, config);
      const data = await allowErasedAddress({ db, erasureFile }, commandWriter(orgId), given.id);
      return { data, text: 'the address may be added again' };
    }),
});

export const erasureCommands: readonly Command<CommandTools>[] = [erase, list, allow];

/** What a command cannot append to the file, the service appends to it later. */
const openFile = (tools: CommandTools, config: Config) =>
  openErasureFile(config, config.dataDir, (sentence) => tools.say(`warning: ${sentence}`));

const countsOf = ({ counts }: ErasureReceipt) =>
  columns(Object.entries(counts).map(([kind, count]) => [kind.replaceAll('_', ' '), count]));
