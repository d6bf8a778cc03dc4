import * as v from 'valibot';
import { commandWriter } from '../audit/acts.ts';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import { notFound } from '../errors.ts';
import {
  type Command,
  columns,
  command,
  createProgress,
  flag,
  id,
  OneOf,
  option,
  optional,
  Whole,
} from '../lib/cli/command.ts';
import { readTextFile } from '../lib/cli/files.ts';
import { readList } from '../lib/paging/page.ts';
import { oneLine, Uuid } from '../lib/validation/parse.ts';
import { getOrganization } from '../organizations/queries.ts';
import { createRedactionWorker } from '../redaction-worker.ts';
import { categories } from '../survey-types.ts';
import { getSurvey } from '../surveys/queries.ts';
import { allResponses } from './filter.queries.ts';
import { importResponses } from './import.ts';
import { listResponses } from './queries.ts';
import { findHeld, releaseResponse } from './release.ts';
import type { Response } from './schemas.ts';

const mostListed = 200;

const list = command({
  name: 'response list',
  does: "lists an organization's newest responses",
  options: {
    org: id('the organization'),
    survey: optional(Uuid, 'ID', 'only those of this survey'),
    category: optional(OneOf(categories), categories.join('|'), 'only those of this category'),
    held: flag('those on hold, which do not count, in place of the others'),
    limit: {
      schema: v.optional(Whole(1, mostListed), '20'),
      value: 'N',
      does: `how many, at most ${mostListed} (20)`,
    },
  },
  run: (tools: CommandTools, { org, survey = null, category = null, held, limit }) =>
    inDatabase(tools, async (db) => {
      await getOrganization(db, org);
      const filter = { ...allResponses, survey_id: survey, category, held };
      const page = { page: 1, limit, ignored: [] };
      const { data } = await readList<v.InferOutput<typeof Response>>(
        db,
        listResponses(db, org, { filter, page }),
      );
      const rows = data.map((row) => [
        row.created_at,
        row.survey_type,
        row.score,
        row.category,
        row.held ? 'on hold' : 'counted',
        row.contact_email,
        row.comment && oneLine(row.comment),
      ]);
      const head = ['time', 'type', 'score', 'category', 'state', 'contact', 'comment'];
      return { data, text: columns([head, ...rows]) };
    }),
});

const release = command({
  name: 'response release',
  does: 'counts a response that is on hold, and publishes its events',
  options: { id: id('which response') },
  run: (tools: CommandTools, given) =>
    inDatabase(tools, async (db) => {
      const held = await findHeld(db, given.id);
      if (!held) throw notFound('response');
      const release = { db, excerpt: createRedactionWorker().excerpt };
      const data = await releaseResponse(release, commandWriter(held.org_id), held.id);
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
      const data = await importResponses(
        { db, onProgress },
        { ...commandWriter(orgId), surveyId: survey },
        text,
      );
      return { data, text: importedText(data) };
    }),
});

type ImportedCounts = { imported: number; passed_over: number; erased: number };

export function importedText({ imported, passed_over, erased }: ImportedCounts) {
  const known = passed_over - erased;
  const before = known === 0 ? '' : `, ${known} ${known === 1 ? 'was' : 'were'} there already`;
  const left = erased === 0 ? '' : `, ${erased} left out: the person was erased`;
  return `imported ${imported} ${imported === 1 ? 'response' : 'responses'}${before}${left}`;
}

export const responseCommands: readonly Command<CommandTools>[] = [list, release, importFile];
