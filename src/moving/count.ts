import { Refusal } from '../errors.ts';
import { type Category, netPromoterScore, type SurveyType, type Tally } from '../scores.ts';
import type { Export } from './open-export.ts';
import { untouched } from './plan.rules.ts';
import { type PassReason, type ReadRow, readRow } from './row.rules.ts';

export type UnclearCell = { line: number; column: string; complaint: string };

/** What a file says, by counts; the first of the cells that are not understood. */
export type FileCounts = {
  rows: number;
  responses: Tally;
  people: number;
  unsubscribed: number;
  bounced: number;
  passed: Partial<Record<PassReason, number>>;
  /** Names of the other types of surveys. */
  otherTypes: string[];
  unclear: number;
  shown: UnclearCell[];
};

const unclearShown = 20;
const mostRows = 1_000_000;

export type ReadRules = { type: SurveyType; zone: string; now: number };

/** Reads every row of an export; those that are to be taken over are given to the caller as they come. */
export async function* readExport(
  { plan, rows }: Export,
  rules: ReadRules,
  counts: FileCounts,
): AsyncGenerator<ReadRow> {
  for await (const { line, cells } of rows()) {
    counts.rows += 1;
    if (counts.rows > mostRows) throw tooMany(line);
    const row = readRow(cells, { plan, ...rules });
    count(counts, row, line);
    if (row.kind !== 'passed' && row.kind !== 'unclear') yield row;
  }
}

const tooMany = (line: number) =>
  new Refusal(
    'invalid',
    `line ${line}: a file has at most ${mostRows} rows: cut it into several. ${untouched}`,
  );

export const noCounts = (): FileCounts => ({
  rows: 0,
  responses: { promoters: 0, passives: 0, detractors: 0 },
  people: 0,
  unsubscribed: 0,
  bounced: 0,
  passed: {},
  otherTypes: [],
  unclear: 0,
  shown: [],
});

const places = { promoter: 'promoters', passive: 'passives', detractor: 'detractors' } as const;

function count(counts: FileCounts, row: ReadRow, line: number) {
  if (row.kind === 'response') countResponse(counts, row.response.category);
  else if (row.kind === 'person') counts.people += 1;
  else if (row.kind === 'suppression') counts[row.suppression.kind] += 1;
  else if (row.kind === 'passed') {
    counts.passed[row.reason] = (counts.passed[row.reason] ?? 0) + 1;
    if (row.word && !counts.otherTypes.includes(row.word)) counts.otherTypes.push(row.word);
  } else {
    counts.unclear += 1;
    const { column, complaint } = row;
    if (counts.shown.length < unclearShown) counts.shown.push({ line, column, complaint });
  }
}

function countResponse({ responses }: FileCounts, category: Category) {
  responses[places[category]] += 1;
}

export const totalOf = ({ promoters, passives, detractors }: Tally) =>
  promoters + passives + detractors;

/** How many rows there are to take over. */
export const understoodOf = ({ responses, people, unsubscribed, bounced }: FileCounts) =>
  totalOf(responses) + people + unsubscribed + bounced;

export const scored = (tally: Tally) => ({
  responses: totalOf(tally),
  promoters: tally.promoters,
  passives: tally.passives,
  detractors: tally.detractors,
  nps: netPromoterScore(tally),
});
export type ScoredTally = ReturnType<typeof scored>;
