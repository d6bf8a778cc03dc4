import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

/**
 * Released migrations never change, because databases have run them. `sql/frozen.sha256` lists them from the first release
 * on. `--write` adds the migrations of the release that is being made.
 */
const list = 'sql/frozen.sha256';

export type Sums = ReadonlyMap<string, string>;

/** `frozen` is undefined before the first release. */
export function frozenProblems(frozen: Sums | undefined, present: Sums, released: boolean) {
  if (!frozen) return released ? [`${list} is missing: run make frozen how=--write`] : [];
  const newest = [...frozen.keys()].sort().at(-1) ?? '';
  const changed = [...frozen].flatMap(([name, sum]) => {
    if (!present.has(name)) return [`${name} was released and is gone: restore it`];
    return present.get(name) === sum
      ? []
      : [`${name} was released and has changed: restore it, and add a new migration`];
  });
  const early = [...present.keys()].filter((name) => !frozen.has(name) && name < newest);
  return [...changed, ...early.map((name) => `${name} must sort after ${newest}`)];
}

export function parseSums(text: string): Sums {
  const lines = text.split('\n').filter(Boolean);
  return new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
}

function presentSums(): Sums {
  const hash = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
  return new Map(
    globSync('sql/migrations/*.sql')
      .sort()
      .map((path) => [basename(path), hash(path)]),
  );
}

const formatSums = (sums: Sums) => [...sums].map(([name, sum]) => `${sum}  ${name}\n`).join('');

if (import.meta.main) {
  const frozen = existsSync(list) ? parseSums(readFileSync(list, 'utf8')) : undefined;
  const released = execFileSync('git', ['tag', '--list', 'v*'], { encoding: 'utf8' }) !== '';
  const write = process.argv[2] === '--write';
  const problems = frozenProblems(frozen, presentSums(), released && !write);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else if (write) writeFileSync(list, formatSums(presentSums()));
  else console.log(frozen ? `${frozen.size} migrations are frozen` : 'no release yet');
}
