import * as v from 'valibot';
import { Refusal } from '../../errors.ts';
import { readTextFile } from '../../lib/cli/read-file.ts';
import { Uuid } from '../../lib/validation/parse.ts';

const complaintsShown = 20;

const Time = v.pipe(
  v.string(),
  v.isoTimestamp('must be an ISO 8601 time'),
  v.transform((text) => new Date(text)),
);

/** A line of the file. What it counts is kept as it is. */
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

/** The receipts of a file: of several lines with one id the last counts. A file with bad lines is refused whole. */
export async function readErasures(path: string): Promise<FiledErasure[]> {
  const { text } = await readTextFile(path);
  return parseErasures(text);
}

export function parseErasures(text: string): FiledErasure[] {
  const byId = new Map<string, FiledErasure>();
  const bad: string[] = [];
  for (const [place, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const read = readLine(line);
    if (typeof read === 'string') bad.push(`\n  line ${place + 1}: ${read}`);
    else byId.set(read.id, read);
  }
  if (bad.length === 0) return [...byId.values()];
  const more = bad.length > complaintsShown ? `\n  and ${bad.length - complaintsShown} more` : '';
  const shown = bad.slice(0, complaintsShown).join('');
  throw new Refusal('invalid', `nothing was erased, these lines are not usable:${shown}${more}`);
}

function readLine(line: string): FiledErasure | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return 'it is not JSON, or is cut short';
  }
  const result = v.safeParse(FiledErasure, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  return `${v.getDotPath(issue) ?? 'it'} ${issue.received === 'undefined' ? 'is missing' : issue.message}`;
}
