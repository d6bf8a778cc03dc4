import * as v from 'valibot';
import { commandWriter } from '../audit/acts.ts';
import { databaseCommand, readCsvFile, sheetOption } from '../command-tools.ts';
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
      'CSV or .xlsx with a header row: email, name, other columns become properties; - reads stdin',
    ),
    sheet: sheetOption,
  },
  operands: ['file'],
  async run(db, { survey, ...input }, { tools }) {
    const { text } = await readCsvFile(tools, input);
    const { org_id: orgId } = await getSurvey(db, survey);
    const writer = { ...commandWriter(orgId), surveyId: survey };
    const data = await importContacts({ db, onProgress: createProgress('contacts') }, writer, text);
    const noun = data.contacts === 1 ? 'contact' : 'contacts';
    const skipped = data.erased === 0 ? '' : `, skipped ${data.erased} erased`;
    return { data, text: `imported ${data.contacts} ${noun}${skipped}` };
  },
});
