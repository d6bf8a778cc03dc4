import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { type BadLine, refuseBadLines } from '../lib/cli/csv.ts';
import { readTextFile, reasonUnwritten } from '../lib/cli/files.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { Uuid } from '../lib/validation/parse.ts';

const Time = v.pipe(
  v.string(),
  v.isoTimestamp('must be an ISO 8601 time'),
  v.transform((text) => new Date(text)),
);

/** A line of the file. Counts of unknown kinds are preserved. */
const FiledErasure = v.object({
  id: Uuid,
  org_id: Uuid,
  erased_at: Time,
  address_hash: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits')),
  counts: v.record(v.string(), v.pipe(v.number(), v.integer(), v.minValue(0))),
  scores: v.picklist(['kept', 'deleted'], 'must be kept or deleted'),
  allowed_at: v.nullable(Time),
});

export type FiledErasure = v.InferOutput<typeof FiledErasure>;

const FiledErasureLine = v.pipe(
  v.string(),
  v.parseJson(undefined, 'is not valid JSON'),
  FiledErasure,
);

/** Reads the receipts of a file. The last line of an id counts, and a bad line refuses the whole file. */
export async function readErasures(path: string): Promise<FiledErasure[]> {
  const { text } = await readTextFile(path);
  return parseErasures(text);
}

export function parseErasures(text: string): FiledErasure[] {
  const byId = new Map<string, FiledErasure>();
  const bad: BadLine[] = [];
  for (const [place, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const result = v.safeParse(FiledErasureLine, line);
    if (result.success) byId.set(result.output.id, result.output);
    else {
      const [issue] = result.issues;
      const complaint = issue.received === 'undefined' ? 'is missing' : issue.message;
      bad.push({ line: place + 1, complaint: `${v.getDotPath(issue) ?? 'it'} ${complaint}` });
    }
  }
  refuseBadLines(bad);
  return [...byId.values()];
}

const receiptsPerBatch = 500;

/**
 * Appends receipts that are not in the file yet. The table is the source of truth: receipts that cannot be written wait
 * there for the next call. A crash between file and table repeats a line, and the last line of an id counts.
 */
export async function fileErasures({ db, erasureFile }: { db: Db; erasureFile: ErasureFile }) {
  for (let filed = receiptsPerBatch; filed === receiptsPerBatch; ) {
    filed = await inTransaction(db, async (tx) => {
      const waiting = await lockUnfiled(tx, receiptsPerBatch);
      if (waiting.length === 0) return 0;
      if (!erasureFile.append(waiting.map(({ line }) => line))) return 0;
      const ids = waiting.map(({ id }) => id);
      await tx`
        -- all organizations
        update erasures set filed_at = now() where id = any (${ids}::uuid[])`;
      return waiting.length;
    });
  }
}

/** Locks receipts that are new or changed since they were filed, and returns their lines. */
async function lockUnfiled(sql: Sql, atMost: number) {
  return await sql<{ id: string; line: string }[]>`
    -- all organizations
    select id,
           json_build_object(
             'id', id, 'org_id', org_id, 'erased_at', iso(erased_at), 'address_hash', encode(address_hash, 'hex'),
             'counts', counts, 'scores', scores, 'allowed_at', iso(allowed_at))::text as line
    from erasures
    where filed_at is null
    order by erased_at, id
    limit ${atMost}
    for update skip locked`;
}

const { O_APPEND, O_CREAT, O_SYNC, O_WRONLY } = constants;

/**
 * The file of erasures, which survives a restore: it lists the erasures to repeat after an older backup. It stays open,
 * because the service drops the permission to open files after its start.
 */
export type ErasureFile = {
  problem: string | null;
  /** Returns true if all lines are on disk. */
  append: (lines: readonly string[]) => boolean;
  close: () => void;
};

type Report = (sentence: string) => void;

export function openErasureFile(
  config: { erasuresFile: string | null },
  dataDir: string,
  report: Report,
): ErasureFile {
  const path = config.erasuresFile ?? join(dataDir, 'erasures.jsonl');
  const unwritten = (error: unknown) =>
    `cannot write erasure receipts to ${path}, keeping them in the database: ${reasonUnwritten(error)}`;
  try {
    const file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_SYNC, 0o600);
    return createAppender(file, (error) => report(unwritten(error)));
  } catch (error) {
    const problem = unwritten(error);
    const append = () => {
      report(problem);
      return false;
    };
    return { problem, append, close: () => {} };
  }
}

function createAppender(file: number, failed: (error: unknown) => void): ErasureFile {
  let isTorn = false;
  return {
    problem: null,
    append(lines) {
      // End a line that a full disk has cut short.
      const bytes = Buffer.from(`${isTorn ? '\n' : ''}${lines.join('\n')}\n`);
      try {
        isTorn = writeSync(file, bytes) < bytes.length;
        if (isTorn) throw new Error('the disk is full');
        return true;
      } catch (error) {
        failed(error);
        return false;
      }
    },
    close: () => closeSync(file),
  };
}

/** For processes without a file: receipts wait in the table until another process appends them. */
export const noErasureFile: ErasureFile = {
  problem: null,
  append: () => false,
  close: () => {},
};
