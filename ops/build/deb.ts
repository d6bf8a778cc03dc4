import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  globSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import manifest from '../../package.json' with { type: 'json' };
import { exampleFolders, operatorFiles } from '../../src/operations/archive.ts';
import { noticesFile } from './notices.ts';

/**
 * Packs dist/askback as a Debian package with dpkg-deb alone. The same commit makes the same bytes: all timestamps are
 * the commit's, or SOURCE_DATE_EPOCH.
 */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
const architecture = architectures[process.arch];
if (!architecture || process.platform !== 'linux') throw new Error('Debian packages are for Linux');

const tree = 'dist/deb';
const doc = 'usr/share/doc/askback';
const output = `dist/askback_${manifest.version}_${architecture}.deb`;
const seconds = Number(process.env['SOURCE_DATE_EPOCH'] ?? git('log', '-1', '--format=%ct'));

rmSync(tree, { recursive: true, force: true });
place('dist/askback', 'usr/bin/askback', 0o755);
for (const unit of globSync('*.{service,socket,timer}', { cwd: 'ops/systemd' })) {
  place(`ops/systemd/${unit}`, `usr/lib/systemd/system/${unit}`);
}
place('ops/systemd/askback.env', 'etc/askback/askback.env', 0o640);
// The manual goes to /usr/share/doc; files for programs have a folder of their own, which the manual links to.
for (const name of operatorFiles()) {
  place(`ops/${name}`, `${name.endsWith('.md') ? doc : 'usr/share/askback'}/${name}`);
}
for (const folder of exampleFolders) {
  symlinkSync(`../../askback/${folder}`, join(tree, `${doc}/${folder}`));
}
place(noticesFile, `${doc}/licenses.txt`);
write(`${doc}/copyright`, fillTemplate('ops/deb/copyright'));
write(`${doc}/changelog.gz`, gzipSync(changelog(), { level: 9 }));
write('usr/share/man/man1/askback.1.gz', gzipSync(fillTemplate('ops/deb/askback.1'), { level: 9 }));
for (const script of ['postinst', 'prerm', 'postrm']) {
  write(`DEBIAN/${script}`, fillTemplate(`ops/deb/${script}`), 0o755);
}
write('DEBIAN/conffiles', fillTemplate('ops/deb/conffiles'));
write('DEBIAN/md5sums', md5sums());
write('DEBIAN/control', fillTemplate('ops/deb/control'));
fixTimes(tree);

const options = ['--root-owner-group', '-Zxz', '-z1', '--threads-max=1'];
execFileSync('dpkg-deb', [...options, '--build', tree, output], {
  env: { ...process.env, SOURCE_DATE_EPOCH: String(seconds) },
  stdio: ['ignore', 'ignore', 'inherit'],
});
console.log(`${output}: ${Math.round(statSync(output).size / 1_000_000)} MB`);

function place(from: string, to: string, mode = 0o644) {
  mkdirSync(dirname(join(tree, to)), { recursive: true });
  copyFileSync(from, join(tree, to));
  chmodSync(join(tree, to), mode);
}

function write(to: string, content: string | Buffer, mode = 0o644) {
  mkdirSync(dirname(join(tree, to)), { recursive: true });
  writeFileSync(join(tree, to), content);
  chmodSync(join(tree, to), mode);
}

function fillTemplate(path: string): string {
  const values: Readonly<Record<string, () => string>> = {
    VERSION: () => manifest.version,
    ARCHITECTURE: () => architecture!,
    INSTALLED_SIZE: () => String(installedKiB()),
    DATE: () => new Date(seconds * 1000).toISOString().slice(0, 10),
    LICENSE: licence,
  };
  return readFileSync(path, 'utf8').replace(/@([A-Z_]+)@/g, (_, name) => values[name]!());
}

/** Formats a paragraph of a control file: each line begins with a space, an empty one is a dot. */
function licence(): string {
  const text = readFileSync('LICENSE', 'utf8').trimEnd();
  return `License: MIT\n${text.replace(/^$/gm, '.').replace(/^/gm, ' ')}`;
}

function changelog(): string {
  const date = new Date(seconds * 1000).toUTCString().replace('GMT', '+0000');
  const [, maintainer] = /^Maintainer: (.+)$/m.exec(readFileSync('ops/deb/control', 'utf8'))!;
  return `askback (${manifest.version}) stable; urgency=medium\n\n  * Built from the sources of this day.\n\n -- ${maintainer}  ${date}\n`;
}

function files(): string[] {
  return readdirSync(tree, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.startsWith('DEBIAN') && lstatSync(join(tree, path)).isFile())
    .sort();
}

function installedKiB(): number {
  return files().reduce((sum, path) => sum + Math.ceil(statSync(join(tree, path)).size / 1024), 0);
}

/** Checksums of all files except configuration, which dpkg tracks itself. */
function md5sums(): string {
  const own = files().filter((path) => !path.startsWith('etc/'));
  return execFileSync('md5sum', own, { cwd: tree, encoding: 'utf8' });
}

/** Normalizes permissions and times, so that builds are reproducible. */
function fixTimes(path: string) {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return lutimesSync(path, seconds, seconds);
  if (stat.isDirectory()) {
    for (const name of readdirSync(path)) fixTimes(join(path, name));
    chmodSync(path, 0o755);
  }
  utimesSync(path, seconds, seconds);
}

function git(...words: string[]): string {
  return execFileSync('git', words, { encoding: 'utf8' }).trim();
}
