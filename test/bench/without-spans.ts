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
const lines: Readonly<Record<string, string>> = {
  'app.ts': "    .use(traceRequests('askback.organization.id'))\n",
  'authenticate.ts': '    acceptTrace(c);\n',
};

/** Builds the service as it is without spans, to see what they cost while nothing is exported. */
export const withoutSpans: Plugin = {
  name: 'without-spans',
  setup(build) {
    build.onLoad({ filter: /src\/lib\/tracing\/spans\.ts$/ }, () => ({ contents: identity }));
    build.onLoad({ filter: /src\/(app|keys\/authenticate)\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const use = lines[path.split('/').at(-1)!]!;
      if (!text.includes(use)) throw new Error(`${path} has no ${use.trim()}`);
      return { contents: text.replace(use, ''), loader: 'ts' };
    });
  },
};
