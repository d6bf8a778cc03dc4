import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import type { Sql } from '../../src/lib/db/db.ts';
import { one } from '../../src/lib/db/db.ts';

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

/** The kind of machine, without its name. */
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
    'service, load and Postgres on the same machine',
  ].join(', ');
}

export function text(kind: string, sections: readonly Section[]): string {
  const parts = sections.map(({ title, lines }) => `## ${title}\n\n${lines.join('\n')}\n`);
  return `# Benchmarks\n\nWhat \`make bench\` printed last, on ${kind}.\n\n${parts.join('\n')}`;
}

/** Keeps a whole run; a part of one is only printed. */
export const keep = (report: string) => writeFileSync(file, report);
