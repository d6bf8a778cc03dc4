import * as v from 'valibot';
import { commandWriter } from '../audit/acts.ts';
import { databaseCommand, orgOption, readCsvFile, sheetOption } from '../command-tools.ts';
import { columns, createProgress, Email, OneOf, option, optional } from '../lib/cli/command.ts';
import { configuredSecrets } from '../settings.ts';
import { importPeople } from './directory.ts';
import { erasePerson } from './erase.ts';
import { openErasureFile } from './receipts-file.ts';

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
    // If the command cannot append a line, the service appends it later.
    const erasureFile = openErasureFile(config, config.dataDir, (sentence) =>
      tools.say(`warning: ${sentence}`),
    );
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

export const peopleCommands = [importFile, erase];
