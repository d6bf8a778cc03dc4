import { readFileSync } from 'node:fs';
import type { Plugin } from 'esbuild';

/** What a build without spans has in the place of src/lib/tracing/spans.ts. */
const identity = `
export const errorType = '';
const own = { traceparent: null, ended() {}, link() {} };
export const inSpan = (_cause, _describe, work) => work(own);
export const isTracing = () => false;
export const traceWith = () => {};
export const startSpan = () => {};
export const endSpan = () => {};
export const nameOf = () => '';
export const link = () => {};
`;

/** The lines that are taken out of files that requests pass. */
const spanLines: Readonly<Record<string, RegExp>> = {
  'src/app.ts': /^ *\.use\(traceRequests\('askback\.organization\.id'\)\)\n/m,
  'src/keys/authenticate.ts': /^ *acceptTrace\(c\);\n/m,
};

/** The files of the program that requests pass, without what spans add to them. */
export function filesWithoutSpans(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(spanLines).map(([path, line]) => {
      const text = readFileSync(path, 'utf8');
      if (!line.test(text)) throw new Error(`${path} has no ${line}`);
      return [path, text.replace(line, '')];
    }),
  );
}

/** Builds the service as it is without spans, to see what they cost while nothing is exported. */
export const withoutSpans: Plugin = {
  name: 'without-spans',
  setup(build) {
    build.onLoad({ filter: /src\/lib\/tracing\/spans\.ts$/ }, () => ({ contents: identity }));
    const files = filesWithoutSpans();
    build.onLoad({ filter: /src\/(app|keys\/authenticate)\.ts$/ }, ({ path }) => ({
      contents: files[path.slice(path.lastIndexOf('/src/') + 1)]!,
      loader: 'ts',
    }));
  },
};
