import * as v from 'valibot';
import { commandWriter } from '../audit/acts.ts';
import { databaseCommand, readCsvFile, sheetOption } from '../command-tools.ts';
import { createProgress, flag, id, OneOf, option, optional } from '../lib/cli/command.ts';
import { TimeZone } from '../organizations/manage.ts';
import { totalOf } from '../survey-types.ts';
import { getSurvey } from '../surveys/queries.ts';
import { importExport, openExport } from './import.ts';
import { reportText } from './report.ts';
import { askNicely, delighted, type FormerService, fileKinds, otherService } from './rows.ts';

const importOf = (service: FormerService) =>
  importCommand(service, {
    name: `import ${service.name.toLowerCase()}`,
    does: `imports responses, people, unsubscribes or bounces from an export of ${service.name}`,
    allOrNone: false,
  });

type ImportCommand = { name: string; does: string; allOrNone: boolean };

const importCommand = (service: FormerService, { name, does, allOrNone }: ImportCommand) =>
  databaseCommand({
    name,
    does,
    options: {
      survey: id('the survey'),
      as: optional(
        OneOf(fileKinds),
        fileKinds.join('|'),
        'kind of data (detected from the columns)',
      ),
      'time-zone': optional(TimeZone, 'ZONE', 'time zone of times without one (UTC)'),
      'dry-run': flag('reports what would be imported, and writes nothing'),
      file: option(v.string(), 'FILE', 'CSV or .xlsx; - reads stdin'),
      sheet: sheetOption,
    },
    operands: ['file'],
    async run(db, { survey, as, ...options }, { tools }) {
      const { 'dry-run': dryRun, 'time-zone': zone = 'UTC' } = options;
      const { org_id: orgId, type } = await getSurvey(db, survey);
      const { name: fileName, text: content } = await readCsvFile(tools, options);
      const source = { name: fileName, pieces: () => [content] };
      const opened = await openExport(service, source, as);
      const writer = { ...commandWriter(orgId), surveyId: survey, author: service.name };
      const report = await importExport({ db, onProgress: createProgress('rows') }, writer, {
        export: opened,
        type,
        zone,
        dryRun,
        allOrNone,
      });
      const { file, inFile, before, after, imported, seconds } = report;
      const data = {
        kind: opened.plan.kind,
        columns: opened.plan.columns,
        dry_run: dryRun,
        rows: file.rows,
        found: {
          responses: inFile.responses,
          people: file.people,
          unsubscribed: file.unsubscribed,
          bounced: file.bounced,
        },
        new: imported,
        imported: imported.responses,
        passed_over: totalOf(file.responses) - imported.responses,
        erased: imported.erased,
        left_out: file.passed,
        not_understood: file.unclear,
        unclear: file.shown,
        figures: { file: inFile, before, after },
        seconds,
      };
      const text = reportText(opened, report, dryRun);
      return { data, text, exitCode: file.unclear > 0 ? 1 : 0 };
    },
  });

export const importCommands = [
  importCommand(otherService, {
    name: 'import responses',
    does: 'imports past responses with their times from a CSV file, all or none',
    allOrNone: true,
  }),
  importOf(delighted),
  importOf(askNicely),
];
