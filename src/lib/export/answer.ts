// Answers that are a file of any length.

import * as v from 'valibot';
import type { FileText } from './read-ahead.ts';

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

type ExportedFile = { name: string; parts: AsyncGenerator<FileText> };

/** A file to be saved. Its parts are made as fast as the reader takes them, and no more once it is gone. */
export const answerExport = (format: ExportFormat, { name, parts }: ExportedFile): Response =>
  new Response(pulled(parts), {
    headers: {
      'Content-Type': exportTypes[format],
      'Content-Disposition': `attachment; filename="${name}.${format}"`,
      'Cache-Control': 'no-store',
    },
  });

function pulled(parts: AsyncGenerator<FileText>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await parts.next();
        if (done) controller.close();
        else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value);
      },
      async cancel() {
        await parts.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
