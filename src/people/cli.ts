import * as v from 'valibot';
import { commandActor, commandWriter } from '../audit/acts.ts';
import { recordExport } from '../audit/export.ts';
import {
  type CommandTools,
  databaseCommand,
  listCommand,
  organizationOf,
  orgOption,
  readCsvFile,
  sheetOption,
} from '../command-tools.ts';
import {
  columns,
  createProgress,
  Email,
  id,
  OneOf,
  option,
  optional,
  Whole,
} from '../lib/cli/command.ts';
import { readList } from '../lib/paging/page.ts';
import { addressKey } from '../lib/smtp/address.ts';
import { Uuid } from '../lib/validation/parse.ts';
import { type Config, configuredSecrets } from '../settings.ts';
import { exportPeople, importPeople } from './directory.ts';
import { type ErasureReceipt, listErasures } from './erase.queries.ts';
import { allowErasedAddress, erasePerson } from './erase.ts';
import { openErasureFile } from './receipts-file.ts';
import { getSegment } from './segments.ts';

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

const importFile = databaseCommand({
  name: 'people import',
  does: 'imports people from a CSV file into the directory, all or none',
  options: {
    org: orgOption('the organization'),
    file: option(
      v.string(),
      'FILE',
      'CSV or .xlsx with a header row: email, name, language, other columns become properties; - reads stdin',
    ),
    sheet: sheetOption,
  },
  operands: ['file'],
  async run(db, { org, ...input }, { tools }) {
    const { text } = await readCsvFile(tools, input);
    const data = await importPeople(
      { db, onProgress: createProgress('people') },
      commandWriter(org),
      text,
    );
    const noun = data.people === 1 ? 'person' : 'people';
    const skipped = data.erased === 0 ? '' : `, skipped ${data.erased} erased`;
    return { data, text: `imported ${data.people} ${noun}${skipped}` };
  },
});

const exportFile = databaseCommand({
  name: 'people export',
  does: 'prints the people of the directory, newest first',
  options: {
    org: orgOption('the organization'),
    format: optional(
      OneOf(['csv', 'jsonl']),
      'csv|jsonl',
      'csv, or one JSON object per line (csv)',
    ),
    segment: optional(Uuid, 'ID', 'only people of this segment'),
  },
  async run(db, { org, format = 'csv', segment }, { tools }) {
    const filter = segment ? (await getSegment(db, org, segment)).filter : { all: [] };
    await recordExport(db, { orgId: org, actor: commandActor() }, 'people.exported');
    for await (const lines of exportPeople({ db }, org, { search: '', filter, format })) {
      tools.print(String(typeof lines === 'string' ? lines : Buffer.from(lines)).trimEnd());
    }
    return undefined;
  },
});

export const peopleCommands = [importFile, exportFile];

/** If a command cannot append a line, the service appends it later. */
const openFile = (tools: CommandTools, config: Config) =>
  openErasureFile(config, config.dataDir, (sentence) => tools.say(`warning: ${sentence}`));
