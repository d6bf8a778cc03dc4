import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** The Debian that ops/ci/with-debian runs: its files, and the process to enter it by. */
const root = process.env['DEBIAN_ROOT'];
const init = process.env['DEBIAN_INIT'];
const environment = ['PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'DEBIAN_FRONTEND=noninteractive'];

/** Runs a line of shell inside, as root; rejects when it fails. */
export async function inside(line: string): Promise<string> {
  const enter = ['--mount', '--uts', '--ipc', '--pid', '--cgroup', '--root', '--wd'];
  const words = ['--target', init!, ...enter, 'env', '-i', ...environment, 'sh', '-ec', line];
  return (await promisify(execFile)('nsenter', words)).stdout.trim();
}

/** Builds the package, and puts it and nothing else where it can be installed from. */
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

/** Everything that bears the program's name, but for the package file itself. */
export const traces = () =>
  inside("find / -xdev -name '*askback*' ! -path '/proc/*' ! -path '/askback.deb' | sort");
