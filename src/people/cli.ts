import { commandWriter } from '../audit/acts.ts';
import {
  type CommandTools,
  databaseCommand,
  listCommand,
  organizationOf,
  orgOption,
} from '../command-tools.ts';
import { columns, Email, id, OneOf, option, optional, Whole } from '../lib/cli/command.ts';
import { readList } from '../lib/paging/page.ts';
import { addressKey } from '../lib/smtp/address.ts';
import { type Config, configuredSecrets } from '../settings.ts';
import { type ErasureReceipt, listErasures } from './erase.queries.ts';
import { allowErasedAddress, erasePerson } from './erase.ts';
import { openErasureFile } from './receipts-file.ts';

const maxListed = 200;

const erase = databaseCommand({
  name: 'person erase',
  does: 'erases a person and prints the receipt',
  options: {
    org: orgOption('the organization'),
    email: option(Email, 'E', 'the address'),
    scores: optional(
      OneOf(['keep', 'delete']),
      'keep|delete',
      'keep scores as anonymous responses, or delete them (keep)',
    ),
  },
  async run(db, { org, email, scores }, { tools, config }) {
    const erasureFile = openFile(tools, config);
    const secrets = configuredSecrets(config, config.dataDir);
    const receipt = await erasePerson(
      { db, secrets, erasureFile, settings: config },
      commandWriter(org),
      { email, scores: scores === 'delete' ? 'deleted' : 'kept' },
    );
    const counts = Object.entries(receipt.counts);
    const table = columns(counts.map(([kind, count]) => [kind.replaceAll('_', ' '), count]));
    return { data: receipt, text: `erased, receipt ${receipt.id}\n\n${table}` };
  },
});

const list = listCommand({
  name: 'erasure list',
  does: 'lists erasure receipts, newest first',
  options: {
    org: orgOption('the organization'),
    email: optional(Email, 'E', 'only receipts of this address'),
    limit: optional(Whole(1, maxListed), 'N', `how many, at most ${maxListed} (50)`),
  },
  async run(db, { org, email, limit = 50 }) {
    const page = { page: 1, limit, ignored: [], email: email && addressKey(email) };
    return (await readList<ErasureReceipt>(db, listErasures(db, org, page))).data;
  },
  head: ['id', 'erased', 'scores', 'unblocked', 'address hash'],
  cells: (receipt) => [
    receipt.id,
    receipt.erased_at,
    receipt.scores,
    receipt.allowed_at ?? 'no',
    receipt.address_hash,
  ],
});

const allow = databaseCommand({
  name: 'erasure allow',
  does: 'unblocks the address of an erased person',
  options: { id: id('the receipt') },
  async run(db, { id }, { tools, config }) {
    const orgId = await organizationOf(db, { table: 'erasures', id, noun: 'erasure' });
    const erasureFile = openFile(tools, config);
    const data = await allowErasedAddress({ db, erasureFile }, commandWriter(orgId), id);
    return { data, text: 'the address can be added again' };
  },
});

export const erasureCommands = [erase, list, allow];

/** The service appends later what a command cannot append. */
const openFile = (tools: CommandTools, config: Config) =>
  openErasureFile(config, config.dataDir, (sentence) => tools.say(`warning: ${sentence}`));
