import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { one, type Sql } from '../../src/lib/db/db.ts';

export type Section = { title: string; lines: readonly string[] };

const file = 'ops/benchmarks.md';

export const number = (value: number, digits = 0) =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });

export const verdict = (met: boolean) => (met ? 'met' : '**missed**');

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [heads, ...rows];
  const widths = heads.map((_, at) => Math.max(3, ...all.map((row) => row[at]!.length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join(' | ')} |`;
  const rule = `| ${widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(heads), rule, ...rows.map(line)];
}

/** The type of machine, without its name. */
export async function machine(sql: Sql): Promise<string> {
  const { version, durable } = one(
    await sql<{ version: string; durable: string }[]>`
      select current_setting('server_version') as version, current_setting('fsync') as durable`,
  );
  const gigabytes = Math.round(totalmem() / 1024 ** 3);
  return [
    `${availableParallelism()} cores (${cpus()[0]?.model ?? process.arch})`,
    `${gigabytes} GB of memory`,
    `Postgres ${version} with fsync ${durable}`,
    `Node ${process.versions.node}`,
  ].join(', ');
}

export type Part = { name: string; kind: string; measured: string; sections: readonly Section[] };

/** The report with this part replaced, and its parts in the order of `names`. */
function withPart(report: string, part: Part, names: readonly string[]): string {
  const kept = new Map(report.split(mark).slice(1).map(named));
  kept.set(part.name, textOf(part));
  const parts = names.flatMap((name) =>
    kept.has(name) ? [`${mark}${name} -->\n\n${kept.get(name)}`] : [],
  );
  return `${opening}\n${parts.join('\n\n')}\n`;
}

const mark = '<!-- make bench only=';
const opening = `# Benchmarks

The last result of each part of \`make bench\`. The service, the load and Postgres share one machine. Each result names its commit, and the code
may have changed since: \`make bench keep=yes\` writes new ones.

- **fsync**: off, except in the sections of *units* whose title says "fsync on" and in *At rest*. With fsync off the figures measure the
  service, with fsync on also the disk.
- **Rates** are per second. **µs** are CPU time per request, email or delivery, of the service or of Postgres.
- **Memory** is \`Private_Clean\` plus \`Private_Dirty\` of \`/proc/PID/smaps_rollup\`, for the service without Postgres. The bench runs on the same
  Node, so the code of Node counts as shared. This code is private if askback is the only Node process of the machine: \`dist/askback\` with a Postgres
  of its own has 105 to 116 MB at rest, of which 56 MB are anonymous memory and the rest is code mapped from the executable.
`;

function named(text: string): [string, string] {
  const at = text.indexOf(' -->');
  return [text.slice(0, at), text.slice(at + ' -->'.length).trim()];
}

const textOf = ({ kind, measured, sections }: Part) =>
  sections
    .map(({ title, lines }, at) => {
      const head = at === 0 ? `${measured}, on ${kind}.\n\n` : '';
      return `## ${title}\n\n${head}${lines.join('\n')}`;
    })
    .join('\n\n');

/** Saves the results of a part with the date and the commit. */
export function keep(
  { times, ...part }: Omit<Part, 'measured'> & { times: number },
  names: readonly string[],
) {
  const commit = execFileSync('git', ['rev-parse', '--short=7', 'HEAD'], {
    encoding: 'utf8',
  }).trim();
  const rounds = times > 1 ? `, medians of ${times} rounds` : '';
  const measured = `Measured on ${new Date().toISOString().slice(0, 10)} at ${commit}${rounds}`;
  writeFileSync(file, withPart(readFileSync(file, 'utf8'), { ...part, measured }, names));
}
