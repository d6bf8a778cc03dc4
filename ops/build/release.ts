import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { differences, type Published, publish, sumsOf } from './publish.ts';

/**
 * Builds a release of the newest commit twice, each time in a fresh clone with freshly installed packages, and compares
 * the results: if a file differs, nobody else could verify it.
 */
const { version } = manifest;
const output = 'dist/release';
/** Fixed at the start, because another commit may follow. */
const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();

const folder = mkdtempSync(join(tmpdir(), 'askback-release-'));
try {
  const [first, second] = [makeOnce(join(folder, 'first')), makeOnce(join(folder, 'second'))];
  const differing = differences(first, second);
  if (differing.length > 0) throw new Error(`made twice, these differ: ${differing.join(', ')}`);
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  for (const [name, { path }] of first) copyFileSync(path, join(output, name));
  const sums = sumsOf(first);
  writeFileSync(join(output, 'SHA256SUMS'), sums);
  console.log(`${output}: ${first.size} files, made twice and equal\n${sums}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function makeOnce(clone: string): Published {
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', resolve('.'), clone]);
  execFileSync('git', ['checkout', '--quiet', '--detach', commit], { cwd: clone });
  const parts =
    process.platform === 'linux' ? ['deb', 'rpm', 'image', 'sbom', 'client'] : ['binary'];
  execFileSync('make', ['--no-print-directory', ...parts], { cwd: clone, stdio: 'inherit' });
  const time = execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: clone, encoding: 'utf8' });
  return publish(clone, { version, seconds: Number(time), url: process.env['DOWNLOAD_URL'] });
}
