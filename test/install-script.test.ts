import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const home = mkdtempSync(join(tmpdir(), 'askback-install-'));
after(() => rmSync(home, { recursive: true }));
const root = join(home, 'root');
const at = (path: string) => join(root, path);

/** A release whose executable is a script with the two commands that the installation runs. */
function releaseOf(version: string): string {
  const folder = join(home, version);
  mkdirSync(folder);
  const name = `askback-${version}-${process.platform}-${process.arch}`;
  const program = `#!/bin/sh
case $1 in
  --version) echo 'askback ${version}' ;;
  files) mkdir -p "$3" && cp -R '${process.cwd()}/ops/systemd' "$3" ;;
esac
`;
  writeFileSync(join(folder, name), program);
  const sum = createHash('sha256').update(program).digest('hex');
  writeFileSync(join(folder, 'SHA256SUMS'), `${sum}  ${name}\n`);
  return folder;
}

function install(...options: string[]) {
  const words = ['ops/install.sh', '--root', root, ...options];
  const { status, stdout, stderr } = spawnSync('sh', words, { encoding: 'utf8' });
  return { status, stdout, stderr };
}

const installedVersion = () =>
  spawnSync(at('usr/local/bin/askback'), ['--version'], { encoding: 'utf8' }).stdout.trim();

const first = releaseOf('1.0.0');

test('install.sh installs the executable, its units and its settings', () => {
  const { status, stdout, stderr } = install('--from', first);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /askback 1\.0\.0 is installed but not started/);
  assert.equal(installedVersion(), 'askback 1.0.0');
  assert.equal(statSync(at('etc/askback/askback.env')).mode & 0o777, 0o640);
  const unit = readFileSync(at('etc/systemd/system/askback.service'), 'utf8');
  assert.match(unit, /^ExecStart=\/usr\/local\/bin\/askback serve$/m);
  assert.ok(existsSync(at('etc/systemd/system/askback-backup.timer')));
});

test('install.sh upgrades and keeps the settings', () => {
  appendFileSync(at('etc/askback/askback.env'), 'ASKBACK_RATE_LIMIT=7\n');
  assert.equal(install('--from', releaseOf('1.1.0')).status, 0);
  assert.equal(installedVersion(), 'askback 1.1.0');
  assert.match(readFileSync(at('etc/askback/askback.env'), 'utf8'), /^ASKBACK_RATE_LIMIT=7$/m);
});

test('install.sh installs nothing when a checksum differs', () => {
  const damaged = releaseOf('1.2.0');
  const name = `askback-1.2.0-${process.platform}-${process.arch}`;
  appendFileSync(join(damaged, name), '# changed on the way\n');
  const { status, stderr } = install('--from', damaged);
  assert.equal(status, 1);
  assert.match(stderr, /does not have the checksum of SHA256SUMS: nothing was installed/);
  assert.equal(installedVersion(), 'askback 1.1.0');
});

test('install.sh names what is missing in a release', () => {
  const other = releaseOf('1.3.0');
  writeFileSync(join(other, 'SHA256SUMS'), `${'0'.repeat(64)}  askback-1.3.0-plan9-mips\n`);
  assert.match(install('--from', other).stderr, /this release has no askback for/);
  assert.match(install('--from', join(home, 'nowhere')).stderr, /there is no SHA256SUMS in/);
  assert.match(install().stderr, /use --from with the URL or the folder of a release/);
  assert.match(install('--form', first).stderr, /unknown option --form/);
});

test('install.sh installs the release in its own folder', () => {
  const script = join(first, 'install.sh');
  cpSync('ops/install.sh', script);
  chmodSync(script, 0o755);
  const { status, stderr } = spawnSync(script, ['--root', root], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.equal(installedVersion(), 'askback 1.0.0');
});

test('install.sh removes what it installed, and keeps settings', () => {
  assert.equal(install('--uninstall').status, 0);
  assert.ok(!existsSync(at('usr/local/bin/askback')));
  assert.ok(!existsSync(at('etc/systemd/system/askback.service')));
  assert.match(readFileSync(at('etc/askback/askback.env'), 'utf8'), /ASKBACK_RATE_LIMIT=7/);
});
