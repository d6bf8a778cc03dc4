import * as v from 'valibot';
import { commandWriter } from '../audit/acts.ts';
import { databaseCommand, readCsvFile, sheetOption } from '../command-tools.ts';
import { notFound } from '../errors.ts';
import { createProgress, id, option } from '../lib/cli/command.ts';
import { createRedactionWorker } from '../redaction-worker.ts';
import { getSurvey } from '../surveys/queries.ts';
import { findForEvents } from './events.ts';
import { importResponses } from './import.ts';
import { releaseResponse } from './release.ts';

const release = databaseCommand({
  name: 'response release',
  does: 'releases a response on hold, so that it counts and its events are delivered',
  options: { id: id('the response') },
  async run(db, { id }) {
    const held = await findForEvents(db, id);
    if (!held) throw notFound('response');
    const tools = { db, excerpt: createRedactionWorker().excerpt };
    const data = await releaseResponse(tools, commandWriter(held.org_id), id);
    return { data, text: `released the response ${id}` };
  },
});

const importFile = databaseCommand({
  name: 'import responses',
  does: 'imports past responses with their times from a CSV file, all or none',
  options: {
    survey: id('the survey'),
    file: option(
      v.string(),
      'FILE',
      'CSV or .xlsx with a header row: score, created at, comment, email, name, question:TEXT and properties; - is standard input',
    ),
    sheet: sheetOption,
  },
  operands: ['file'],
  async run(db, { survey, ...input }, { tools }) {
    const { text } = await readCsvFile(tools, input);
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
  const existing = passed_over - erased;
  const skipped = existing === 0 ? '' : `, skipped ${existing} existing`;
  const ofErased = erased === 0 ? '' : `, skipped ${erased} of erased people`;
  return `imported ${imported} ${imported === 1 ? 'response' : 'responses'}${skipped}${ofErased}`;
}

export const responseCommands = [release, importFile];
