import assert from 'node:assert/strict';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { diff } from 'node:util';

const folder = join(import.meta.dirname, 'screens');
const isKept = process.env['KEEP_SCREENS'] === 'yes';
const mostLinesShown = 40;

/**
 * What one test file keeps below `screens/`, in a folder of its own. `compare` fails where a page is not as it is kept,
 * and shows the lines; under `make screens` it keeps the page as it is now.
 */
export function keptScreens(part: string) {
  const own = join(folder, part);
  const seen = new Set<string>();
  if (isKept) rmSync(own, { recursive: true, force: true });
  return {
    compare(name: string, lines: readonly string[]) {
      assert.ok(!seen.has(name), `two pages are kept as ${name}`);
      seen.add(name);
      const path = join(own, name);
      const text = `${lines.join('\n')}\n`;
      if (isKept) {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, text);
      }
      const kept = read(path);
      if (kept !== text) assert.fail(differing(`${part}/${name}`, { kept, text }));
    },
    /** Files of pages that are compared no more. */
    left: () => globSync('**/*.*', { cwd: own }).filter((name) => !seen.has(name)),
  };
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

type Compared = { kept: string; text: string };

/** The lines that are another, each with the lines around it. */
function differing(name: string, { kept, text }: Compared): string {
  const changes = diff(kept.split('\n'), text.split('\n')) as [number, string][];
  const near = changes.map((_, at) => changes.slice(Math.max(0, at - 2), at + 3));
  const lines = changes
    .filter((_, at) => near[at]!.some(([kind]) => kind !== 0))
    .map(([kind, line]) => `${kind === 0 ? ' ' : kind > 0 ? '-' : '+'} ${line}`);
  const shown = lines.slice(0, mostLinesShown);
  const more = lines.length > shown.length ? [`... ${lines.length - shown.length} more lines`] : [];
  const advice = 'If the page is meant to be so, keep it: make screens';
  return [`${name} is not as it is kept (- kept, + now)`, ...shown, ...more, advice].join('\n');
}
