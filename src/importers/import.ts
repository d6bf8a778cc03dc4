import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { recordAct } from '../audit/acts.ts';
import { listErased } from '../contacts/erase.ts';
import { saveContacts } from '../contacts/queries.ts';
import type { CheckedContact } from '../contacts/rules.ts';
import { validateMerges } from '../contacts/save.ts';
import { Refusal } from '../errors.ts';
import { inBatches } from '../lib/async/batch.ts';
import { type CsvRow, csvRows, detectForm } from '../lib/cli/csv.ts';
import { type Db, inRetriedTransaction, type Sql } from '../lib/db/db.ts';
import { addSamples, ensureQuestions, type Samples } from '../questions/import.ts';
import { everything } from '../responses/filter.queries.ts';
import { type ImportWriter, importBatch } from '../responses/import.ts';
import { readNps } from '../responses/trend.ts';
import { suppressMany } from '../suppressions/suppress.ts';
import {
  type Counted,
  netPromoterScore,
  type SurveyType,
  type Tally,
  totalOf,
} from '../survey-types.ts';
import { lockForContacts } from '../surveys/lifecycle.ts';
import { holdOffErasures, reopenSurvey } from '../surveys/queries.ts';
import {
  type FileKind,
  type FilePlan,
  type FormerService,
  type ImportedResponse,
  type PassReason,
  planFile,
  type ReadRow,
  readRow,
  untouched,
} from './rows.ts';

export type ImportReport = {
  file: FileCounts;
  inFile: ScoredTally;
  before: ScoredTally;
  after: ScoredTally;
  imported: ImportCounts;
  seconds: number;
};

type ImportTools = { db: Db; onProgress: (done: number, total: number) => void };
type ImportOptions = {
  type: SurveyType;
  zone: string;
  dryRun: boolean;
  /** Refuses a file with an invalid row, and imports in one transaction. */
  allOrNone?: boolean;
};

/**
 * Imports an export of a former service. The first pass only reads the whole file, so that a file without a usable row
 * changes nothing.
 */
export async function importExport(
  { db, onProgress }: ImportTools,
  writer: ImportWriter,
  { export: opened, type, zone, dryRun, allOrNone = false }: ImportOptions & { export: Export },
): Promise<ImportReport> {
  const began = performance.now();
  const rules = { type, zone, now: Date.now() };
  const { counts: file, samples } = await checkExport(opened, rules);
  if (allOrNone && !dryRun) refuseUnclear(opened, file);
  const before = await tallyOf(db, writer);
  const total = countUnderstood(file);
  async function load() {
    const questions = await ensureQuestions(db, writer, samples);
    const loadRows = (steps: ImportSteps = {}) =>
      importRows(db, { ...writer, questions }, readExport(opened, rules, zeroFileCounts()), {
        ...steps,
        onProgress: (done) => onProgress(done, total),
      });
    if (!allOrNone) return await loadRows();
    return await inRetriedTransaction(db, (tx) => loadRows({ transact: (work) => work(tx) }));
  }
  const imported = dryRun ? noneImported : await load();
  const after = await tallyOf(db, writer);
  const seconds = (performance.now() - began) / 1000;
  return { file, inFile: scored(file.responses), before, after, imported, seconds };
}

/** Reads a whole export without importing it. Refuses an export without a usable row. */
export async function checkExport(opened: Export, rules: ReadRules) {
  const counts = zeroFileCounts();
  const samples: Samples = new Map();
  for await (const row of readExport(opened, rules, counts)) {
    if (row.kind === 'response') addSamples(samples, row.response.answers);
  }
  refuseUnusable(opened, counts);
  return { counts, samples };
}

async function tallyOf(db: Db, { orgId, surveyId }: ImportWriter) {
  return scored(await readNps(db, orgId, { ...everything, survey_id: surveyId }));
}

function refuseUnusable({ name }: Export, file: FileCounts) {
  if (countUnderstood(file) > 0) return;
  if (file.rows === 0) throw new Refusal('invalid', `${name} has no rows. ${untouched}`);
  const others = file.otherTypes.map((type) => JSON.stringify(type)).join(', ');
  const types = others && `: its responses have the type ${others}, which differs from the survey`;
  throw new Refusal(
    'invalid',
    `no row of ${name} can be imported${types}. ${untouched}${unclearLines(name, file)}`,
  );
}

function refuseUnclear({ name }: Export, file: FileCounts) {
  if (file.unclear === 0) return;
  const rows = file.unclear === 1 ? 'an invalid row' : `${file.unclear} invalid rows`;
  throw new Refusal('invalid', `${name} has ${rows}. ${untouched}${unclearLines(name, file)}`);
}

const unclearLines = (name: string, { shown }: FileCounts) =>
  shown.map((cell) => `\n  ${sentenceOfCell(name, cell)}`).join('');

export const sentenceOfCell = (file: string, { line, column, complaint }: UnclearCell) =>
  `${file}, line ${line}, column ${JSON.stringify(column)}: ${complaint}`;

type UnclearCell = { line: number; column: string; complaint: string };

export type FileCounts = ReturnType<typeof zeroFileCounts>;

const maxUnclearShown = 20;
const maxRows = 1_000_000;

export type ReadRules = { type: SurveyType; zone: string; now: number };

/** Reads and counts every row of an export, and yields the ones to import. */
export async function* readExport(
  { plan, rows }: Export,
  rules: ReadRules,
  counts: FileCounts,
): AsyncGenerator<ReadRow> {
  for await (const { line, cells } of rows()) {
    counts.rows += 1;
    if (counts.rows > maxRows) {
      throw new Refusal(
        'invalid',
        `line ${line}: a file can have at most ${maxRows} rows, so split it. ${untouched}`,
      );
    }
    const row = readRow(cells, { plan, ...rules });
    count(counts, row, { line, zone: rules.zone });
    if (row.kind !== 'passed' && row.kind !== 'unclear') yield row;
  }
}

export const zeroFileCounts = () => ({
  rows: 0,
  responses: { promoters: 0, passives: 0, detractors: 0 } satisfies Tally,
  /** The responses by month, such as `2026-11`, in the time zone of the import. */
  months: {} as Record<string, Counted>,
  people: 0,
  unsubscribed: 0,
  bounced: 0,
  passed: {} as Partial<Record<PassReason, number>>,
  otherTypes: [] as string[],
  unclear: 0,
  shown: [] as UnclearCell[],
});

const places = { promoter: 'promoters', passive: 'passives', detractor: 'detractors' } as const;

function count(counts: FileCounts, row: ReadRow, { line, zone }: { line: number; zone: string }) {
  if (row.kind === 'response') {
    const { category, created_at, score } = row.response;
    const month = monthOf(created_at, zone);
    counts.months[month] ??= { promoters: 0, passives: 0, detractors: 0, score_sum: 0 };
    counts.months[month].score_sum += score;
    counts.months[month][places[category]] += 1;
    counts.responses[places[category]] += 1;
  } else if (row.kind === 'person') counts.people += 1;
  else if (row.kind === 'suppression') counts[row.suppression.kind] += 1;
  else if (row.kind === 'passed') {
    counts.passed[row.reason] = (counts.passed[row.reason] ?? 0) + 1;
    if (row.word && !counts.otherTypes.includes(row.word)) counts.otherTypes.push(row.word);
  } else {
    counts.unclear += 1;
    const { column, complaint } = row;
    if (counts.shown.length < maxUnclearShown) counts.shown.push({ line, column, complaint });
  }
}

const monthOf = (at: Date, zone: string) =>
  Temporal.Instant.fromEpochMilliseconds(at.getTime())
    .toZonedDateTimeISO(zone)
    .toString()
    .slice(0, 'YYYY-MM'.length);

export const countUnderstood = ({ responses, people, unsubscribed, bounced }: FileCounts) =>
  totalOf(responses) + people + unsubscribed + bounced;

export const scored = (tally: Tally) => ({
  responses: totalOf(tally),
  promoters: tally.promoters,
  passives: tally.passives,
  detractors: tally.detractors,
  nps: netPromoterScore(tally),
});
type ScoredTally = ReturnType<typeof scored>;

export type Export = { name: string; plan: FilePlan; rows: () => AsyncGenerator<CsvRow> };

/** The text of a file in pieces, which can be read repeatedly. */
type TextFile = { name: string; pieces: () => Iterable<string> | AsyncIterable<string> };

/** Opens an export: plans its columns from the header row. Its rows can be read repeatedly. */
export async function openExport(
  service: FormerService,
  { name, pieces }: TextFile,
  as: FileKind | undefined,
): Promise<Export> {
  const head = await firstOf(pieces());
  const { body, ...form } = detectForm(head);
  const allRows = () => csvRows(withoutStart(pieces(), head.length - body.length), form);
  const first = await allRows().next();
  if (first.done) throw new Refusal('invalid', `${name} is empty. ${untouched}`);
  const { cells: header, line } = first.value;
  const plan = planFile(service, { header, line, as });
  refuseUnclearPeople(name, plan, as);
  return {
    name,
    plan,
    async *rows() {
      const rows = allRows();
      await rows.next();
      yield* rows;
    },
  };
}

async function firstOf(pieces: Iterable<string> | AsyncIterable<string>) {
  for await (const piece of pieces) return piece;
  return '';
}

async function* withoutStart(pieces: Iterable<string> | AsyncIterable<string>, length: number) {
  let toSkip = length;
  for await (const piece of pieces) {
    yield piece.slice(toSkip);
    toSkip = 0;
  }
}

/** Refuses a list of unsubscribes or bounces that looks like a list of people to survey. */
function refuseUnclearPeople(name: string, { kind, places }: FilePlan, as: FileKind | undefined) {
  const expected = /unsub|opt-?out/i.test(basename(name))
    ? 'unsubscribed'
    : /bounce/i.test(basename(name)) && 'bounced';
  if (!expected || as || kind !== 'people') return;
  if (places.has(expected) || places.has('status')) return;
  throw new Refusal(
    'invalid',
    `${name} has no column for when people ${expected}. Choose the kind of data: ${expected} if all of them did, or people if none did. ${untouched}`,
  );
}

const batchSize = 500;

export type ImportCounts = typeof noneImported;

type ImportSteps = {
  /** The progress of an earlier run: its rows are skipped, and its counts continue. */
  from?: { done: number; imported: ImportCounts };
  /** Runs in the transaction of each batch. */
  inBatch?: (tx: Sql, done: number, imported: ImportCounts) => Promise<unknown>;
  onProgress?: (done: number) => void;
  transact?: <T>(work: (tx: Sql) => Promise<T>) => Promise<T>;
};

/**
 * Imports rows in batches, with a transaction each unless `transact` says otherwise. An import that ends halfway keeps its batches and can be repeated:
 * existing rows change nothing.
 */
export async function importRows(
  db: Db,
  writer: ImportWriter,
  rows: AsyncIterable<ReadRow>,
  {
    from = { done: 0, imported: noneImported },
    transact = (work) => inRetriedTransaction(db, work),
    inBatch,
    onProgress,
  }: ImportSteps,
): Promise<ImportCounts> {
  let { imported } = from;
  const number = createNumbering();
  let done = 0;
  let isRecorded = from.done > 0;
  for await (const batch of inBatches(rows, batchSize)) {
    const responses = batch
      .filter((row) => row.kind === 'response')
      .map(({ response }) => response);
    const numbers = new Map(responses.map((response) => [response, number(response)]));
    done += batch.length;
    if (done <= from.done) continue;
    const { total, isNew } = await transact(async (tx) => {
      const counts = await importRowBatch(tx, writer, batch, numbers);
      const { erased: _, ...added } = counts;
      const isNew = Object.values(added).some((count) => count > 0);
      if (isNew && !isRecorded) await recordImport(tx, writer, batch[0]!);
      const total = sumCounts(imported, counts);
      await inBatch?.(tx, done, total);
      return { total, isNew };
    });
    imported = total;
    isRecorded ||= isNew;
    onProgress?.(done);
  }
  return imported;
}

export const sumCounts = <T extends Record<string, number>>(one: T, other: T) =>
  Object.fromEntries(Object.entries(one).map(([name, count]) => [name, count + other[name]!])) as T;

export const noneImported = { responses: 0, contacts: 0, unsubscribed: 0, bounced: 0, erased: 0 };

/** Numbers equal responses across the file. Stores only hashes, so a million responses take about ten megabytes. */
function createNumbering() {
  const counts = new Map<string, number>();
  return ({ score, created_at, comment, person }: ImportedResponse) => {
    const text = JSON.stringify([score, created_at, comment, person?.key ?? null]);
    const key = createHash('sha256').update(text).digest('latin1').slice(0, hashLength);
    const occurrence = (counts.get(key) ?? 0) + 1;
    counts.set(key, occurrence);
    return occurrence;
  };
}

const hashLength = 12;

async function importRowBatch(
  tx: Sql,
  writer: ImportWriter,
  rows: readonly ReadRow[],
  numbers: ReadonlyMap<ImportedResponse, number>,
): Promise<ImportCounts> {
  await holdOffErasures(tx, writer.orgId);
  // Nothing about an erased person is stored, not even a suppression.
  const keys = rows.map(addressOf).filter((key) => key !== undefined);
  const erased = await listErased(tx, writer.orgId, keys);
  const usable = rows.filter((row) => !erased.has(addressOf(row) ?? ''));
  const responses = usable
    .filter((row) => row.kind === 'response')
    .map(({ response }) => ({ ...response, occurrence: numbers.get(response)! }));
  const people = usable.filter((row) => row.kind === 'person').map(({ person }) => person);
  const suppressions = usable
    .filter((row) => row.kind === 'suppression')
    .map(({ suppression }) => suppression);
  const suppressed = await suppressMany(tx, writer.orgId, [
    ...new Map(suppressions.map((each) => [`${each.kind} ${each.email}`, each])).values(),
  ]);
  const unsubscribed = suppressed.filter(({ kind }) => kind === 'unsubscribed').length;
  return {
    unsubscribed,
    bounced: suppressed.length - unsubscribed,
    erased: rows.length - usable.length,
    contacts: await importPeople(tx, writer, people),
    responses: responses.length === 0 ? 0 : await importBatch(tx, writer, responses),
  };
}

function addressOf(row: ReadRow): string | undefined {
  if (row.kind === 'response') return row.response.person?.key;
  if (row.kind === 'person') return row.person.key;
  return row.kind === 'suppression' ? row.suppression.email : undefined;
}

async function importPeople(tx: Sql, writer: ImportWriter, people: readonly CheckedContact[]) {
  if (people.length === 0) return 0;
  const survey = { orgId: writer.orgId, surveyId: writer.surveyId };
  await lockForContacts(tx, survey);
  const byKey = new Map<string, CheckedContact>();
  for (const person of people) {
    const name = person.name ?? byKey.get(person.key)?.name ?? null;
    byKey.set(person.key, { ...person, name });
  }
  const overfull = await validateMerges(tx, survey, [...byKey.values()]);
  const saved = await saveContacts(
    tx,
    survey,
    [...byKey.values()].map((person) =>
      overfull.has(person.key) ? { ...person, properties: {} } : person,
    ),
  );
  const added = saved.filter((contact) => contact.added).length;
  if (added > 0) await reopenSurvey(tx, survey.orgId, survey.surveyId);
  return added;
}

async function recordImport(tx: Sql, writer: ImportWriter, { kind }: ReadRow) {
  const act = kind === 'response' ? 'responses.imported' : 'contacts.imported';
  const target = { kind: 'survey', id: writer.surveyId };
  await recordAct(tx, { ...writer, act, target, details: { from: writer.author } });
}
