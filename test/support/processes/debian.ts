import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** The Debian of ops/ci/with-debian: its root folder, and the process whose namespaces to enter. */
const root = process.env['DEBIAN_ROOT'];
const init = process.env['DEBIAN_INIT'];
const environment = ['PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'DEBIAN_FRONTEND=noninteractive'];

/** Runs a shell command inside as root. Rejects if it fails. */
export async function inside(line: string): Promise<string> {
  const enter = ['--mount', '--uts', '--ipc', '--pid', '--cgroup', '--root', '--wd'];
  const words = ['--target', init!, ...enter, 'env', '-i', ...environment, 'sh', '-ec', line];
  return (await promisify(execFile)('nsenter', words)).stdout.trim();
}

/** Builds the package and copies only this file into the Debian. */
export function bringPackage() {
  if (!root || !init) throw new Error('run it by: bash ops/ci/with-debian make test-installed');
  execFileSync('make', ['-s', 'deb'], { stdio: ['ignore', 2, 2] });
  const [deb] = globSync('dist/askback_*.deb');
  copyFileSync(deb!, join(root, 'askback.deb'));
}

export function writeInside(path: string, content: string, mode = 0o644) {
  mkdirSync(dirname(join(root!, path)), { recursive: true });
  writeFileSync(join(root!, path), content, { mode });
}

/** All files that are named after the program, except the package. */
export const traces = () =>
  inside("find / -xdev -name '*askback*' ! -path '/proc/*' ! -path '/askback.deb' | sort");
