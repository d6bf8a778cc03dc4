import * as v from 'valibot';
import { commandWriter } from '../audit/acts.ts';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import { type Command, command, createProgress, id, option } from '../lib/cli/command.ts';
import { readTextFile } from '../lib/cli/files.ts';
import { getSurvey } from '../surveys/queries.ts';
import { importContacts } from './import.ts';

const importFile = command({
  name: 'contact import',
  does: 'adds the contacts of a CSV file to a survey: all or none',
  options: {
    survey: id('the survey'),
    file: option(
      v.string(),
      'FILE',
      'CSV with a header row: email, name; others become properties; - is standard input',
    ),
  },
  operands: ['file'],
  run: (tools: CommandTools, { survey, file }) =>
    inDatabase(tools, async (db) => {
      const { text, encoding, name } = await readTextFile(file);
      if (encoding !== 'UTF-8') tools.say(`${name} is read as ${encoding}`);
      const { org_id: orgId } = await getSurvey(db, survey);
      const onProgress = createProgress('contacts');
      const data = await importContacts(
        { db, onProgress },
        { ...commandWriter(orgId), surveyId: survey },
        text,
      );
      return {
        data,
        text: `imported ${data.contacts} ${data.contacts === 1 ? 'contact' : 'contacts'}${leftOut(data.erased)}`,
      };
    }),
});

export const contactCommands: readonly Command<CommandTools>[] = [importFile];

const leftOut = (erased: number) =>
  erased === 0 ? '' : `, and left out ${erased} whose addresses were erased`;
