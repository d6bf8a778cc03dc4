import { Readable } from 'node:stream';
import { spec } from 'node:test/reporters';

type Event = {
  type: string;
  data: {
    name?: string;
    nesting?: number;
    message?: string;
    details?: { duration_ms?: number; error?: { failureType?: string } };
  };
};

type File = { name: string; seconds: number; failedTests: boolean };

const slowestShown = 5;
const passedOn = new Set(['test:fail', 'test:diagnostic', 'test:stdout', 'test:stderr']);

/**
 * One line for each file, each failure with everything about it, and the counts in Node's own words. A file is a test
 * of its process (`processes/shared-process.ts`) and is not counted here.
 */
// biome-ignore lint/style/noDefaultExport: the test runner takes a reporter by its default export
export default async function* report(source: AsyncIterable<Event>) {
  yield* Readable.from(shorten(source)).pipe(new spec());
}

async function* shorten(source: AsyncIterable<Event>) {
  const files: File[] = [];
  let tests = 0;
  for await (const event of source) {
    const { type, data } = event;
    const ended = type === 'test:pass' || type === 'test:fail';
    if (ended && data.nesting === 1) tests += 1;
    if (ended && data.nesting === 0) {
      const seconds = (data.details?.duration_ms ?? 0) / 1000;
      const failedTests = data.details?.error?.failureType === 'subtestsFailed';
      const file = { name: data.name ?? '', seconds, failedTests };
      files.push(file);
      yield line(`${type === 'test:fail' ? '✖' : '✔'} ${described(file)}, ${tests} tests`);
      tests = 0;
      if (failedTests) continue; // already reported
    }
    if (type === 'test:diagnostic') {
      if (/^tests \d+$/.test(data.message ?? '')) yield line(slowest(files));
      data.message = withoutFiles(data.message ?? '', files);
    }
    if (passedOn.has(type)) yield event;
  }
}

/** Node counts each file as a test. Only files that could not be loaded count as failures. */
function withoutFiles(message: string, files: readonly File[]): string {
  const [, what, count] = /^(tests|pass|fail) (\d+)$/.exec(message) ?? [];
  if (!what) return message;
  const red = files.filter(({ failedTests }) => failedTests).length;
  const counted = { tests: files.length, pass: files.length - red, fail: red }[what]!;
  return `${what} ${Number(count) - counted}`;
}

const slowest = (files: readonly File[]) =>
  `slowest: ${files
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, slowestShown)
    .map(described)
    .join(', ')}`;

const described = ({ name, seconds }: Pick<File, 'name' | 'seconds'>) =>
  `${name} ${seconds.toFixed(1)} s`;

const line = (text: string) => ({ type: 'test:stdout', data: { message: `${text}\n` } });
