import * as v from 'valibot';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import { type Command, command } from '../lib/cli/command.ts';
import { id, option } from '../lib/cli/options.ts';
import { createProgress } from '../lib/cli/progress.ts';
import { readTextFile } from '../lib/cli/read-file.ts';
import { redactedExcerpt } from '../lib/redact/redact.ts';
import { getSurvey } from '../surveys/find.ts';
import { importResponses } from './import.ts';
import { releaseAnswer } from './release.ts';

const release = command({
  name: 'response release',
  does: 'lets a held answer count after all: its events are told now',
  options: { id: id('which answer') },
  run: (tools: CommandTools, given) =>
    inDatabase(tools, async (db) => {
      const data = await releaseAnswer({ db, excerpt: redactedExcerpt }, given.id);
      return { data, text: `released: the answer ${data.id} counts now` };
    }),
});

const importAnswers = command({
  name: 'import responses',
  does: 'takes over answers given elsewhere, with their times, from a CSV file: all or none',
  options: {
    survey: id('whose answers they are'),
    file: option(
      v.string(),
      'FILE',
      'CSV with a header row: score, created at, comment, email, name',
    ),
  },
  operands: ['file'],
  run: (tools: CommandTools, { survey, file }) =>
    inDatabase(tools, async (db) => {
      const text = readTextFile(file);
      const { org_id: orgId } = await getSurvey(db, survey);
      const onProgress = createProgress('answers');
      const data = await importResponses({ db, onProgress }, { orgId, surveyId: survey }, text);
      const before = data.passed_over === 0 ? '' : `, ${data.passed_over} were here before`;
      return { data, text: `imported ${data.imported} answers${before}` };
    }),
});

export const responseCommands: readonly Command<CommandTools>[] = [release, importAnswers];
