import * as v from 'valibot';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import { createCommentReader } from '../comment-reader.ts';
import { type Command, command } from '../lib/cli/command.ts';
import { id, option } from '../lib/cli/options.ts';
import { createProgress } from '../lib/cli/progress.ts';
import { readTextFile } from '../lib/cli/read-file.ts';
import { getSurvey } from '../surveys/manage.queries.ts';
import { importResponses } from './import.ts';
import { releaseResponse } from './release.ts';

const release = command({
  name: 'response release',
  does: 'counts a response that is on hold, and publishes its events',
  options: { id: id('which response') },
  run: (tools: CommandTools, given) =>
    inDatabase(tools, async (db) => {
      const data = await releaseResponse({ db, excerpt: createCommentReader().excerpt }, given.id);
      return { data, text: `released: the response ${data.id} counts now` };
    }),
});

const importFile = command({
  name: 'import responses',
  does: 'imports responses given elsewhere, with their times, from a CSV file: all or none',
  options: {
    survey: id('the survey they belong to'),
    file: option(
      v.string(),
      'FILE',
      'CSV with a header row: score, created at, comment, email, name; - is standard input',
    ),
  },
  operands: ['file'],
  run: (tools: CommandTools, { survey, file }) =>
    inDatabase(tools, async (db) => {
      const { text, encoding, name } = await readTextFile(file);
      if (encoding !== 'UTF-8') tools.say(`${name} is read as ${encoding}`);
      const { org_id: orgId } = await getSurvey(db, survey);
      const onProgress = createProgress('responses');
      const data = await importResponses({ db, onProgress }, { orgId, surveyId: survey }, text);
      const before = data.passed_over === 0 ? '' : `, ${data.passed_over} were there already`;
      return { data, text: `imported ${data.imported} responses${before}` };
    }),
});

export const responseCommands: readonly Command<CommandTools>[] = [release, importFile];
