import { relative } from 'node:path';
import { Readable } from 'node:stream';
import { spec } from 'node:test/reporters';

type Event = {
  type: string;
  data: { file?: string; counts?: { tests: number }; duration_ms?: number; success?: boolean };
};

const slowestShown = 5;
const passedOn = new Set(['test:fail', 'test:diagnostic', 'test:stdout', 'test:stderr']);

/** One line for each file, each failure with everything about it, and the counts in Node's own words. */
// biome-ignore lint/style/noDefaultExport: the test runner takes a reporter by its default export
export default async function* report(source: AsyncIterable<Event>) {
  yield* Readable.from(shorten(source)).pipe(new spec());
}

async function* shorten(source: AsyncIterable<Event>) {
  const files: { name: string; seconds: number }[] = [];
  for await (const event of source) {
    const { type, data } = event;
    if (type === 'test:plan' && !data.file) {
      const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, slowestShown);
      yield line(`slowest: ${slowest.map(described).join(', ')}`);
    }
    if (passedOn.has(type)) yield event;
    if (type === 'test:summary' && data.file) {
      const file = { name: relative('', data.file), seconds: (data.duration_ms ?? 0) / 1000 };
      files.push(file);
      yield line(`${data.success ? '✔' : '✖'} ${described(file)}, ${data.counts?.tests} tests`);
    }
  }
}

const described = ({ name, seconds }: { name: string; seconds: number }) =>
  `${name} ${seconds.toFixed(1)} s`;

const line = (text: string) => ({ type: 'test:stdout', data: { message: `${text}\n` } });
