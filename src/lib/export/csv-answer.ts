/** A CSV file as the answer to a request, piece by piece as it is made. */
export const csvAnswer = (lines: AsyncIterable<string>, name: string): Response =>
  new Response(ReadableStream.from(lines).pipeThrough(new TextEncoderStream()), {
    headers: {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="${name}"`,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    },
  });
