// Answers that are a file of any length.

import * as v from 'valibot';
import { csvLine } from './csv-line.ts';

export const exportFormats = ['csv', 'jsonl'] as const;
export type ExportFormat = (typeof exportFormats)[number];

export const ExportFormat = v.pipe(
  v.optional(v.picklist(exportFormats, 'must be csv or jsonl'), 'csv'),
  v.description('comma-separated values for spreadsheets, or a JSON object a line'),
);

export const exportTypes: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
};

/** For descriptions of what makes such files. */
export const aboutCsv =
  'Columns of CSV are the fields, lists joined by `;` and objects as JSON. A text that a spreadsheet would run as a ' +
  "formula gets a ' before it.";

/** JSON Lines, each with its end: a file of these needs no more than that they are passed on. */
type ExportBatch<Last> = { lines: string; last: Last | undefined };
type ExportOf<Last, Item> = {
  next: (after: Last | null) => Promise<ExportBatch<Last>>;
  columns: readonly string[];
  /** What stands in the columns of an item. */
  cells: (item: Item) => Readonly<Record<string, string | number | boolean | null>>;
};

/** A list of any length, batch by batch. Two are in memory: the one that the reader takes, and the next. */
export async function* exportParts<Last, Item>(
  format: ExportFormat,
  { next, columns, cells }: ExportOf<Last, Item>,
): AsyncGenerator<string> {
  const csvOf = (item: Item) => {
    const all = cells(item);
    return csvLine(columns.map((column) => all[column] ?? null));
  };
  if (format === 'csv') yield csvLine(columns);
  for (let batch: Promise<ExportBatch<Last>> | undefined = next(null); batch; ) {
    const { lines, last }: ExportBatch<Last> = await batch;
    batch = last === undefined ? undefined : next(last);
    // Whether it failed is found out when its turn comes, if the reader waits for it at all.
    batch?.catch(() => {});
    const text = format === 'jsonl' ? lines : parseLines<Item>(lines).map(csvOf).join('');
    if (text !== '') yield text;
  }
}

/** All at once, which takes less than line by line. */
const parseLines = <Item>(lines: string) =>
  JSON.parse(`[${lines.trimEnd().replaceAll('\n', ',')}]`) as Item[];

type ExportedFile = { name: string; parts: AsyncGenerator<string> };

/** A file to be saved. Its parts are made as fast as the reader takes them, and no more once it is gone. */
export const answerExport = (format: ExportFormat, { name, parts }: ExportedFile): Response =>
  new Response(pulled(parts), {
    headers: {
      'Content-Type': exportTypes[format],
      'Content-Disposition': `attachment; filename="${name}.${format}"`,
      'Cache-Control': 'no-store',
    },
  });

function pulled(parts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await parts.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      async cancel() {
        await parts.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
