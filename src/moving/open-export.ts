import { basename } from 'node:path';
import { Refusal } from '../errors.ts';
import { separate } from '../lib/cli/csv.ts';
import { type CsvRow, csvRows } from '../lib/cli/csv-rows.ts';
import type { TextSource } from '../lib/cli/text-source.ts';
import { type FileKind, type FilePlan, planFile, untouched } from './plan.rules.ts';
import type { FormerService } from './services.ts';

export type Export = { name: string; plan: FilePlan; rows: () => AsyncGenerator<CsvRow> };

const longestHead = 1024 * 1024;

/** An export of a former service, as it is: its plan by the header row, and its rows as often as they are asked for. */
export async function openExport(
  service: FormerService,
  source: TextSource,
  as: FileKind | undefined,
): Promise<Export> {
  const form = separate(await headOf(source));
  const allRows = () => csvRows(withoutStart(source, form.skipped), form);
  const first = await allRows().next();
  if (first.done) throw new Refusal('invalid', `${source.name} is empty. ${untouched}`);
  const { cells: header, line } = first.value;
  const plan = planFile(service, { header, line, as });
  refuseMistaken(source.name, plan, as);
  return { name: source.name, plan, rows: () => after(allRows()) };
}

/** As much of the text as has the first two lines. */
async function headOf(source: TextSource): Promise<string> {
  let head = '';
  for await (const piece of source.pieces()) {
    head += piece;
    if (head.length > longestHead || head.trimStart().includes('\n')) break;
  }
  return head;
}

/** Without what `sep=;` before the header row takes. */
async function* withoutStart(source: TextSource, length: number) {
  let left = length;
  for await (const piece of source.pieces()) {
    yield piece.slice(left);
    left = Math.max(0, left - piece.length);
  }
}

async function* after(rows: AsyncGenerator<CsvRow>) {
  await rows.next();
  yield* rows;
}

/** People who are not to be mailed must not be taken for people to ask because their column has another name. */
function refuseMistaken(name: string, { kind, places }: FilePlan, as: FileKind | undefined) {
  const said = /unsub|opt-?out/i.test(basename(name))
    ? 'unsubscribed'
    : /bounce/i.test(basename(name)) && 'bounced';
  if (!said || as || kind !== 'people') return;
  if (places.has(said) || places.has('status')) return;
  throw new Refusal(
    'invalid',
    `${name} has no column that says when somebody ${said}: if all of its people are, import it with --as ${said}; if none is, with --as people. ${untouched}`,
  );
}
