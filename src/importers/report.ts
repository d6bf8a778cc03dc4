import { columns } from '../lib/cli/command.ts';
import { totalOf } from '../survey-types.ts';
import {
  type Export,
  type FileCounts,
  type ImportCounts,
  type ImportReport,
  sentenceOfCell,
} from './import.ts';
import type { PassReason } from './rows.ts';

export function reportText(opened: Export, report: ImportReport, dryRun: boolean): string {
  return [
    columnsText(opened),
    rowsText(report, dryRun),
    opened.plan.kind === 'responses' ? figuresText(report, dryRun) : '',
    unclearText(opened, report, dryRun),
  ]
    .filter(Boolean)
    .join('\n\n');
}

function columnsText({ name, plan }: Export): string {
  const rows = plan.columns.map((column) => ['', column.name || '(no name)', column.use]);
  return `${name} contains ${plan.kind}. Columns:\n${columns(rows)}`;
}

export const passedFor: Record<PassReason, string> = {
  unanswered: 'without a score',
  'other type': 'of another survey type',
  'without address': 'without an email address',
  inactive: 'inactive people',
};

function rowsText({ file, imported, seconds }: ImportReport, dryRun: boolean): string {
  const counted = [
    ['rows', file.rows, ''],
    [
      'responses',
      totalOf(file.responses),
      dryRun ? '' : `${imported.responses} new, ${knownOf(file, imported)} already imported`,
    ],
    ['people', file.people, dryRun ? '' : `${imported.contacts} new`],
    ['unsubscribed', file.unsubscribed, dryRun ? '' : `${imported.unsubscribed} new`],
    ['bounced', file.bounced, dryRun ? '' : `${imported.bounced} new`],
    ...Object.entries(file.passed).map(([reason, count]) => [
      passedFor[reason as PassReason],
      count,
      `skipped${reason === 'other type' ? `: ${file.otherTypes.join(', ')}` : ''}`,
    ]),
    ['of erased people', imported.erased, 'skipped'],
    ['invalid', file.unclear, 'skipped, see below'],
  ];
  const shown = counted.filter(([name, count]) => name === 'rows' || count !== 0);
  const rate = Math.round(file.rows / Math.max(seconds, 0.001));
  const last = dryRun
    ? 'Dry run: nothing was written.'
    : `Took ${seconds.toFixed(1)} s (${rate} rows per second).`;
  return `${columns(shown.map((row) => row.map(String)))}\n${last}`;
}

const knownOf = (file: FileCounts, { responses, erased }: ImportCounts) =>
  totalOf(file.responses) - responses - erased;

function figuresText({ inFile, before, after, imported }: ImportReport, dryRun: boolean): string {
  const row = (name: string, { responses, promoters, passives, detractors, nps }: typeof after) =>
    [name, responses, promoters, passives, detractors, nps ?? '-'].map(String);
  const table = columns([
    ['', 'responses', 'promoters', 'passives', 'detractors', 'NPS'],
    row('in the file', inFile),
    row('in the survey before', before),
    ...(dryRun ? [] : [row('in the survey after', after)]),
  ]);
  return dryRun ? table : `${table}\n${verdict({ inFile, before, after, imported })}`;
}

type Figures = Pick<ImportReport, 'inFile' | 'before' | 'after' | 'imported'>;

export function verdict({ inFile, before, after, imported }: Figures): string {
  const meanwhile = after.responses - before.responses - imported.responses;
  if (meanwhile !== 0) {
    const change = meanwhile > 0 ? 'arrived' : 'disappeared';
    return `During the import, ${responsesText(Math.abs(meanwhile))} ${change}: the survey now has ${after.responses}.`;
  }
  const others = after.responses - inFile.responses;
  if (others > 0) return `All imported: the survey has ${others} more from elsewhere.`;
  if (isDeepEqual(inFile, after)) return 'All imported: file and survey match.';
  if (others < 0 && -others === imported.erased) {
    return others === -1
      ? '1 was left out, because it belongs to an erased person.'
      : `${-others} were left out, because they belong to erased people.`;
  }
  const erased = imported.erased > 0 ? ` (${imported.erased} of erased people)` : '';
  return `File and survey differ. Missing in the survey: ${responsesText(-others)}${erased}.`;
}

const responsesText = (number: number) => (number === 1 ? '1 response' : `${number} responses`);

const isDeepEqual = (one: object, other: object) => JSON.stringify(one) === JSON.stringify(other);

function unclearText({ name }: Export, { file }: ImportReport, dryRun: boolean): string {
  if (file.unclear === 0) return '';
  const lines = file.shown.map((cell) => `  ${sentenceOfCell(name, cell)}`);
  const more = file.unclear > lines.length ? [`  and ${file.unclear - lines.length} more`] : [];
  const [rows, them] = file.unclear === 1 ? ['row', 'it'] : ['rows', 'them'];
  const then = dryRun ? `, or import the file without ${them}` : ' and import the file again';
  return [`${file.unclear} invalid ${rows}. Fix ${them}${then}:`, ...lines, ...more].join('\n');
}
