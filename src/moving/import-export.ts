import { Refusal } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import type { ImportWriter } from '../responses/import-batch.ts';
import { readNps } from '../responses/nps.ts';
import { everything } from '../responses/scope.cte.ts';
import type { SurveyType } from '../scores.ts';
import {
  type FileCounts,
  noCounts,
  readExport,
  type ScoredTally,
  scored,
  type UnclearCell,
  understoodOf,
} from './count.ts';
import type { Export } from './open-export.ts';
import { untouched } from './plan.rules.ts';
import { nothingTaken, type TakenOver, takeOver } from './take-over.ts';

export type ImportReport = {
  file: FileCounts;
  inFile: ScoredTally;
  before: ScoredTally;
  after: ScoredTally;
  taken: TakenOver;
  seconds: number;
};

type ImportTools = { db: Db; onProgress: (done: number, total: number) => void };
type ImportOptions = { type: SurveyType; zone: string; dryRun: boolean };

/**
 * Takes over an export of a former service. It is read to its end first: one that is no export, or of which no row is
 * understood, changes nothing.
 */
export async function importExport(
  { db, onProgress }: ImportTools,
  writer: ImportWriter,
  { export: opened, type, zone, dryRun }: ImportOptions & { export: Export },
): Promise<ImportReport> {
  const began = performance.now();
  const rules = { type, zone, now: Date.now() };
  const file = noCounts();
  for await (const _ of readExport(opened, rules, file));
  refuseUseless(opened, file);
  const before = await tallyOf(db, writer);
  const total = understoodOf(file);
  const tools = { db, onProgress: (done: number) => onProgress(done, total) };
  const rows = readExport(opened, rules, noCounts());
  const taken = dryRun ? nothingTaken() : await takeOver(tools, writer, rows);
  const after = await tallyOf(db, writer);
  const seconds = (performance.now() - began) / 1000;
  return { file, inFile: scored(file.responses), before, after, taken, seconds };
}

async function tallyOf(db: Db, { orgId, surveyId }: ImportWriter) {
  return scored(await readNps(db, orgId, { ...everything, survey_id: surveyId }));
}

function refuseUseless({ name }: Export, file: FileCounts) {
  if (understoodOf(file) > 0) return;
  if (file.rows === 0) throw new Refusal('invalid', `${name} has no rows. ${untouched}`);
  const lines = file.shown.map((cell) => `\n  ${sentenceOfCell(name, cell)}`).join('');
  const others = file.otherTypes.map((type) => JSON.stringify(type)).join(', ');
  const types = others && `: its responses are of the type ${others}, not of the survey's`;
  throw new Refusal('invalid', `no row of ${name} can be taken over${types}. ${untouched}${lines}`);
}

export const sentenceOfCell = (file: string, { line, column, complaint }: UnclearCell) =>
  `${file}, line ${line}, column ${JSON.stringify(column)}: ${complaint}`;
