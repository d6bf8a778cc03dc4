import * as v from 'valibot';
import { commandWriter } from '../audit/acts.ts';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import {
  type Command,
  command,
  createProgress,
  flag,
  id,
  OneOf,
  option,
  optional,
} from '../lib/cli/command.ts';
import { openText } from '../lib/cli/files.ts';
import { TimeZone } from '../organizations/manage.ts';
import { getSurvey } from '../surveys/queries.ts';
import { importExport, openExport } from './import.ts';
import { reportText } from './report.ts';
import { askNicely, delighted, type FormerService, fileKinds } from './rows.ts';

const importOf = (service: FormerService) =>
  command({
    name: `import ${service.name.toLowerCase()}`,
    does: `imports an export of ${service.name} as it is: responses, people, unsubscribes or bounces`,
    options: {
      survey: id('the survey they belong to'),
      as: optional(OneOf(fileKinds), fileKinds.join('|'), 'what the file holds (by its columns)'),
      'time-zone': optional(TimeZone, 'ZONE', 'of times that name none (UTC)'),
      'dry-run': flag('only says what it would do'),
      file: option(v.string(), 'FILE', 'CSV; - is standard input'),
    },
    operands: ['file'],
    run: (
      tools: CommandTools,
      { survey, file, as, 'dry-run': dryRun, 'time-zone': zone = 'UTC' },
    ) =>
      inDatabase(tools, async (db) => {
        const { org_id: orgId, type } = await getSurvey(db, survey);
        const source = await openText(file);
        if (source.encoding !== 'UTF-8') tools.say(`${source.name} is read as ${source.encoding}`);
        const opened = await openExport(service, source, as);
        const writer = { ...commandWriter(orgId), surveyId: survey, author: service.name };
        const given = { export: opened, type, zone, dryRun };
        const report = await importExport(
          { db, onProgress: createProgress('rows') },
          writer,
          given,
        );
        const { columns, kind } = opened.plan;
        return {
          data: { kind, columns, dry_run: dryRun, ...jsonOf(report) },
          text: reportText(opened, report, dryRun),
          exitCode: report.file.unclear > 0 ? 1 : 0,
        };
      }),
  });

function jsonOf({
  file,
  inFile,
  before,
  after,
  taken,
  seconds,
}: Awaited<ReturnType<typeof importExport>>) {
  return {
    rows: file.rows,
    found: {
      responses: inFile.responses,
      people: file.people,
      unsubscribed: file.unsubscribed,
      bounced: file.bounced,
    },
    new: taken,
    left_out: file.passed,
    not_understood: file.unclear,
    unclear: file.shown,
    figures: { file: inFile, before, after },
    seconds,
  };
}

export const movingCommands: readonly Command<CommandTools>[] = [
  importOf(delighted),
  importOf(askNicely),
];
