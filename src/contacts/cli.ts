import * as v from 'valibot';
import { commandWriter } from '../audit/acts.ts';
import { databaseCommand, readCsvFile } from '../command-tools.ts';
import { createProgress, id, option } from '../lib/cli/command.ts';
import { getSurvey } from '../surveys/queries.ts';
import { importContacts } from './import.ts';

export const importContactsCommand = databaseCommand({
  name: 'contact import',
  does: 'imports the contacts of a CSV file into a survey, all or none',
  options: {
    survey: id('the survey'),
    file: option(
      v.string(),
      'FILE',
      'CSV with a header row: email, name, other columns become properties; - reads stdin',
    ),
  },
  operands: ['file'],
  async run(db, { survey, file }, { tools }) {
    const { text } = await readCsvFile(tools, file);
    const { org_id: orgId } = await getSurvey(db, survey);
    const writer = { ...commandWriter(orgId), surveyId: survey };
    const data = await importContacts({ db, onProgress: createProgress('contacts') }, writer, text);
    const noun = data.contacts === 1 ? 'contact' : 'contacts';
    const skipped = data.erased === 0 ? '' : `, skipped ${data.erased} erased`;
    return { data, text: `imported ${data.contacts} ${noun}${skipped}` };
  },
});
