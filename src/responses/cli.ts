import * as v from 'valibot';
import { commandWriter } from '../audit/acts.ts';
import { databaseCommand, readCsvFile } from '../command-tools.ts';
import { notFound } from '../errors.ts';
import { createProgress, id, option } from '../lib/cli/command.ts';
import { createRedactionWorker } from '../redaction-worker.ts';
import { getSurvey } from '../surveys/queries.ts';
import { findForEvents } from './events.ts';
import { importResponses } from './import.ts';
import { releaseResponse } from './release.ts';

const release = databaseCommand({
  name: 'response release',
  does: 'counts a response that is on hold, and publishes its events',
  options: { id: id('which response') },
  async run(db, { id }) {
    const held = await findForEvents(db, id);
    if (!held) throw notFound('response');
    const tools = { db, excerpt: createRedactionWorker().excerpt };
    const data = await releaseResponse(tools, commandWriter(held.org_id), id);
    return { data, text: `released: the response ${id} counts now` };
  },
});

const importFile = databaseCommand({
  name: 'import responses',
  does: 'imports responses given elsewhere, with their times, from a CSV file: all or none',
  options: {
    survey: id('the survey they belong to'),
    file: option(
      v.string(),
      'FILE',
      'CSV with a header row: score, created at, comment, email, name and properties; - is standard input',
    ),
  },
  operands: ['file'],
  async run(db, { survey, file }, { tools }) {
    const { text } = await readCsvFile(tools, file);
    const { org_id: orgId } = await getSurvey(db, survey);
    const writer = { ...commandWriter(orgId), surveyId: survey };
    const data = await importResponses(
      { db, onProgress: createProgress('responses') },
      writer,
      text,
    );
    return { data, text: importedText(data) };
  },
});

type ImportedCounts = { imported: number; passed_over: number; erased: number };

function importedText({ imported, passed_over, erased }: ImportedCounts) {
  const known = passed_over - erased;
  const before = known === 0 ? '' : `, ${known} ${known === 1 ? 'was' : 'were'} there already`;
  const left = erased === 0 ? '' : `, ${erased} left out: the person was erased`;
  return `imported ${imported} ${imported === 1 ? 'response' : 'responses'}${before}${left}`;
}

export const responseCommands = [release, importFile];
