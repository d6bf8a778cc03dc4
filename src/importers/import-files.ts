import { recordAct, type Writer } from '../audit/acts.ts';
import { maxUploadBytes, runInUploadSlot } from '../contacts/upload.ts';
import { Refusal } from '../errors.ts';
import { enqueue, type JobPayloads } from '../jobs.ts';
import { decodeStream } from '../lib/cli/encoding.ts';
import { isZip, readWorkbook } from '../lib/cli/workbook.ts';
import { type Db, inTransaction, json, type Sql } from '../lib/db/db.ts';
import type { UploadedFile } from '../lib/http/multipart.ts';
import type { JobRun } from '../lib/queue/task.ts';
import { oneLine } from '../lib/validation/parse.ts';
import { ensureQuestions } from '../questions/import.ts';
import { type SurveyType, typeFacts } from '../survey-types.ts';
import { addSurvey } from '../surveys/lifecycle.ts';
import { getOrgSurvey } from '../surveys/queries.ts';
import {
  checkExport,
  countUnderstood,
  type Export,
  importRows,
  noneImported,
  openExport,
  readExport,
  zeroFileCounts,
} from './import.ts';
import {
  changeFile,
  changeImport,
  countMonths,
  countWaitingBytes,
  deleteChunks,
  deleteImport,
  findImport,
  type Import,
  type ImportFile,
  insertFile,
  insertImport,
  insertImportChunk,
  listFiles,
  type OrgImport,
  readImportChunks,
  recordBatch,
  type ServiceName,
} from './queries.ts';
import {
  askNicely,
  delighted,
  type FileKind,
  type FormerService,
  otherService,
  surveyTypeOf,
} from './rows.ts';

export const services: Readonly<Record<ServiceName, FormerService>> = {
  delighted,
  asknicely: askNicely,
  csv: otherService,
};

const mebibyte = 1024 * 1024;
export const maxImportBytes = 256 * mebibyte;
export const maxImportFiles = 20;
const maxWaitingBytes = 512 * mebibyte;
const maxFileNameLength = 200;

type ImportTools = { db: Db };

export type ImportChoice = {
  service: ServiceName;
  /** Null for a new survey. */
  survey_id: string | null;
  /** Null to detect the type from the files. */
  type: SurveyType | null;
  time_zone: string;
};

type FileReader = (onFile: (file: UploadedFile) => Promise<void>) => Promise<ImportChoice>;

/** Stores files while they arrive, so that memory never holds a whole file, and enqueues their check. */
export async function receiveFiles({ db }: ImportTools, by: Writer, read: FileReader) {
  const { orgId, actor } = by;
  if ((await countWaitingBytes(db, orgId)) > maxWaitingBytes) {
    throw new Refusal(
      'conflict',
      'Your organization has too many files that are not imported yet. Import or delete them first.',
      { code: 'too_many_imports' },
    );
  }
  const importId = await insertImport(db, orgId, actor);
  const id = { orgId, importId };
  let files = 0;
  async function store(name: string, text: Text) {
    if (files === maxImportFiles) throw new Refusal('too_large', tooMany);
    await storeText(db, id, { name, place: files++, text });
  }
  try {
    const choice = await read((file) => storeFile(orgId, file, store));
    if (files === 0) throw new Refusal('invalid', 'Choose one or more files.');
    await requestCheck({ db }, by, importId, choice);
    return importId;
  } catch (error) {
    await deleteImport(db, id);
    throw error;
  }
}

const tooMany = `Choose at most ${maxImportFiles} files. Each sheet of a workbook counts as a file.`;

type Text = AsyncIterable<string> | readonly string[];

/** Stores a file, or each sheet of a workbook as a separate file. */
async function storeFile(
  orgId: string,
  { name, chunks }: UploadedFile,
  store: (name: string, text: Text) => Promise<void>,
) {
  const { first, all } = await peek(chunks);
  try {
    if (!isZip(first)) return await store(name, decodeStream(all));
    await runInUploadSlot(orgId, async () => {
      const sheets = await readWorkbook(await readAtMost(all, maxUploadBytes));
      for (const sheet of sheets) {
        const title = oneLine(sheet.name);
        await store(sheets.length === 1 ? name : `${name}, sheet ${title}`, sheet.pieces);
      }
    });
  } catch (error) {
    if (error instanceof Refusal || !isUnreadable(error)) throw error;
    throw new Refusal('invalid', `The file ${name} cannot be read: ${(error as Error).message}`);
  }
}

async function storeText(
  db: Db,
  id: OrgImport,
  { name, place: file, text }: { name: string; place: number; text: Text },
) {
  await insertFile(db, id, { place: file, name: name.slice(0, maxFileNameLength) });
  let bytes = 0;
  let place = 0;
  for await (const chunk of text) {
    bytes += Buffer.byteLength(chunk);
    await insertImportChunk(db, id, { file, place: place++, chunk });
  }
  await changeFile(db, id, file, { bytes });
}

/** Reads the first bytes, because the name of a file may have a wrong ending. */
async function peek(chunks: AsyncIterable<Uint8Array>) {
  const iterator = chunks[Symbol.asyncIterator]();
  const { value: first = new Uint8Array() } = await iterator.next();
  async function* all() {
    yield first;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return { first, all: all() };
}

async function readAtMost(chunks: AsyncIterable<Uint8Array>, maxBytes: number) {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxBytes) {
      throw new Error(`a workbook has at most ${maxBytes / mebibyte} MB: save it as CSV`);
    }
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

/** Readers throw plain errors. Errors of Postgres and streams have a code. */
const isUnreadable = (error: unknown) => error instanceof Error && !('code' in error);

async function requestCheck(
  { db }: ImportTools,
  { orgId }: Writer,
  importId: string,
  choice?: ImportChoice,
) {
  await inTransaction(db, async (tx) => {
    const id = { orgId, importId };
    const from = ['uploading', 'checked'] as const;
    const isChanged = await changeImport(tx, id, { ...choice, status: 'checking', from });
    if (!isChanged) throw alreadyStarted();
    await enqueue(tx, [{ task: 'imports.check', payload: { org_id: orgId, import_id: importId } }]);
  });
}

export async function changeKinds(
  tools: ImportTools,
  by: Writer,
  { importId, kinds }: { importId: string; kinds: ReadonlyMap<number, FileKind | null> },
) {
  const id = { orgId: by.orgId, importId };
  for (const [place, kind] of kinds) await changeFile(tools.db, id, place, { kind });
  await requestCheck(tools, by, importId);
}

const alreadyStarted = () =>
  new Refusal('conflict', 'This import has already been started.', { code: 'import_started' });

export async function checkImport(
  { db }: ImportTools,
  { org_id: orgId, import_id: importId }: JobPayloads['imports.check'],
) {
  const id = { orgId, importId };
  const row = await findImport(db, id);
  if (row?.status !== 'checking') return;
  const files = await listFiles(db, id);
  const opened = new Map<number, Export | Refusal>();
  for (const file of files) {
    opened.set(file.place, await orRefusal(() => openFile(db, row, file)));
  }
  const type = await typeOf(
    db,
    row,
    [...opened.values()].flatMap((each) => (each instanceof Refusal ? [] : [each])),
  );
  const rules = { type, zone: row.time_zone, now: Date.now() };
  for (const [place, result] of opened) {
    const checked =
      result instanceof Refusal ? result : await orRefusal(() => checkExport(result, rules));
    const plan = result instanceof Refusal ? null : result.plan;
    await changeFile(db, id, place, {
      plan: plan && json(db, { kind: plan.kind, columns: plan.columns }),
      counts: checked instanceof Refusal ? null : json(db, checked.counts),
      reason: checked instanceof Refusal ? checked.message : null,
    });
  }
  await changeImport(db, id, { type, status: 'checked', from: ['checking'] });
}

async function orRefusal<T>(act: () => Promise<T>): Promise<T | Refusal> {
  return await act().catch((error: unknown) => {
    if (error instanceof Refusal) return error;
    throw error;
  });
}

const openFile = (db: Sql, { id: importId, org_id: orgId, service }: Import, file: ImportFile) =>
  openExport(
    services[service],
    { name: file.name, pieces: () => readImportChunks(db, { orgId, importId }, file.place) },
    file.kind ?? undefined,
  );

const rowsOfType = 10_000;

/** The scale of the survey, or else the most frequent one in the files. */
async function typeOf(db: Db, row: Import, exports: readonly Export[]): Promise<SurveyType> {
  if (row.survey_id) return (await getOrgSurvey(db, row.org_id, row.survey_id)).type;
  if (row.type) return row.type;
  const counts = new Map<SurveyType, number>();
  for (const { plan, rows } of exports) {
    const [place] = plan.places.get('type') ?? [];
    if (plan.kind !== 'responses' || place === undefined) continue;
    let read = 0;
    for await (const { cells } of rows()) {
      const type = surveyTypeOf(cells[place] ?? '');
      if (type) counts.set(type, (counts.get(type) ?? 0) + 1);
      if (++read >= rowsOfType) break;
    }
  }
  const [mostFrequent] = [...counts].sort(([, one], [, other]) => other - one);
  return mostFrequent?.[0] ?? 'nps';
}

type Sender = { from_name: string; from_email: string };

/** Starts an import, or continues one that failed. */
export async function startImport(
  { db }: ImportTools,
  by: Writer,
  { importId, sender }: { importId: string; sender: Sender },
) {
  const id = { orgId: by.orgId, importId };
  await inTransaction(db, async (tx) => {
    const row = await findImport(tx, id);
    const files = row ? await listFiles(tx, id) : [];
    const usable = files.filter(({ counts }) => counts !== null);
    const canStart = row?.status === 'checked' || (row?.status === 'failed' && usable.length > 0);
    if (!row || !canStart) throw alreadyStarted();
    if (usable.length === 0) throw new Refusal('invalid', 'None of these files can be imported.');
    const survey_id = row.survey_id ?? (await createDraft(tx, by, { row, sender }));
    const change = {
      status: 'importing',
      survey_id,
      reason: null,
      started_at: new Date(),
    } as const;
    const isChanged = await changeImport(tx, id, { ...change, from: ['checked', 'failed'] });
    if (!isChanged) throw alreadyStarted();
    await enqueue(tx, [
      { task: 'imports.run', payload: { org_id: by.orgId, import_id: importId } },
    ]);
  });
}

/** A draft emails nobody. */
async function createDraft(
  tx: Sql,
  { orgId, actor }: Writer,
  { row, sender }: { row: Import; sender: Sender },
) {
  const type = row.type ?? 'nps';
  const survey = await addSurvey(tx, orgId, {
    ...sender,
    name: row.service === 'csv' ? 'Imported history' : `${services[row.service].name} history`,
    question_text: typeFacts(type).question(sender.from_name),
    type,
    status: 'draft',
  });
  const details = { name: survey.name, status: survey.status };
  const target = { kind: 'survey', id: survey.id };
  await recordAct(tx, { orgId, actor, act: 'survey.created', target, details });
  return survey.id;
}

/** Suppressions first, then responses, then people. Values of people are newer and override values of old responses. */
const order: readonly FileKind[] = ['unsubscribed', 'bounced', 'responses', 'people'];

/** The import was deleted, stopped, or continued by another run. */
class Interrupted extends Error {}
class TurnOver extends Error {}

/** Each turn is a separate job, so that restarts do not use up the attempts of a long import. */
const turnMs = 5 * 60_000;

/**
 * Imports the files of an import in batches. The row of a file counts its batches, so that another run continues after
 * the last batch.
 */
export async function runImport(
  { db, importTurnMs = turnMs }: ImportTools & { importTurnMs?: number },
  { org_id: orgId, import_id: importId }: JobPayloads['imports.run'],
  { attempt }: Pick<JobRun, 'attempt'>,
) {
  const id = { orgId, importId };
  const row = await findImport(db, id);
  if (row?.status !== 'importing' || !row.survey_id) return;
  const surveyId = row.survey_id;
  try {
    const files = (await listFiles(db, id)).filter(({ counts }) => counts !== null);
    files.sort((one, other) => order.indexOf(one.plan!.kind) - order.indexOf(other.plan!.kind));
    const endsAt = Date.now() + importTurnMs;
    for (const file of files) await importFile(db, row, { file, surveyId, endsAt });
    const after = json(db, await countMonths(db, { orgId, surveyId }, row.time_zone));
    await inTransaction(db, async (tx) => {
      const change = { after, status: 'finished', finished_at: new Date() } as const;
      if (await changeImport(tx, id, { ...change, from: ['importing'] }))
        await deleteChunks(tx, id);
    });
  } catch (error) {
    if (error instanceof Interrupted) return;
    if (error instanceof TurnOver) {
      const payload = { org_id: orgId, import_id: importId };
      return await enqueue(db, [{ task: 'imports.run', payload }]);
    }
    if (!(error instanceof Refusal) && attempt < maxAttempts) throw error;
    const reason = error instanceof Refusal ? error.message : 'an unexpected error stopped it';
    await changeImport(db, id, { status: 'failed', reason, from: ['importing'] });
    if (!(error instanceof Refusal)) throw error;
  }
}

/** Fewer than the queue allows, so that a failure is always reported. */
const maxAttempts = 5;

async function importFile(
  db: Db,
  row: Import,
  { file, surveyId, endsAt }: { file: ImportFile; surveyId: string; endsAt: number },
) {
  const { org_id: orgId, id: importId, service, actor } = row;
  const total = countUnderstood(file.counts!);
  if (file.done >= total) return;
  const opened = await openFile(db, row, file);
  const rules = { type: row.type ?? 'nps', zone: row.time_zone, now: Date.now() };
  const author = services[service].name;
  // The role of the member was checked at the start.
  const writer = { orgId, actor, mayWrite: true as const, surveyId, author };
  const asks = opened.plan.columns.some(({ use }) => use === 'question');
  const questions = asks
    ? await ensureQuestions(db, writer, (await checkExport(opened, rules)).samples)
    : new Map();
  const imported = file.imported ?? noneImported;
  let from = file.done;
  await importRows(db, { ...writer, questions }, readExport(opened, rules, zeroFileCounts()), {
    from: { done: from, imported },
    async inBatch(tx, done, imported) {
      const batch = { place: file.place, from, done, imported };
      if (!(await recordBatch(tx, { orgId, importId }, batch))) throw new Interrupted();
      from = done;
    },
    onProgress(done) {
      if (done < total && Date.now() > endsAt) throw new TurnOver();
    },
  });
}
