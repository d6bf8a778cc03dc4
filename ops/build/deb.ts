import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
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
 * dist/askback as a Debian package, by dpkg-deb alone. The same commit makes the same bytes: every time in it
 * is that of the commit, or what SOURCE_DATE_EPOCH says.
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
for (const unit of ['askback.service', 'askback.socket']) {
  place(`ops/systemd/${unit}`, `usr/lib/systemd/system/${unit}`);
}
place('ops/systemd/askback.env', 'etc/askback/askback.env', 0o640);
place('ops/systemd/external-database.conf', `${doc}/examples/external-database.conf`);
// Pages are documentation; what programs read has a folder of its own, to which the pages' links lead.
for (const name of operatorFiles()) {
  place(`ops/${name}`, `${name.endsWith('.md') ? doc : 'usr/share/askback'}/${name}`);
}
for (const folder of exampleFolders) {
  symlinkSync(`../../askback/${folder}`, join(tree, `${doc}/${folder}`));
}
place(noticesFile, `${doc}/licenses.txt`);
write(`${doc}/copyright`, filled('ops/deb/copyright'));
write(`${doc}/changelog.gz`, gzipSync(changelog(), { level: 9 }));
write('usr/share/man/man1/askback.1.gz', gzipSync(filled('ops/deb/askback.1'), { level: 9 }));
for (const script of ['postinst', 'prerm', 'postrm']) {
  write(`DEBIAN/${script}`, filled(`ops/deb/${script}`), 0o755);
}
write('DEBIAN/conffiles', filled('ops/deb/conffiles'));
write('DEBIAN/md5sums', md5sums());
write('DEBIAN/control', filled('ops/deb/control'));
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

function filled(path: string): string {
  const values: Readonly<Record<string, () => string>> = {
    VERSION: () => manifest.version,
    ARCHITECTURE: () => architecture!,
    INSTALLED_SIZE: () => String(installedKiB()),
    DATE: () => new Date(seconds * 1000).toISOString().slice(0, 10),
    LICENSE: licence,
  };
  return readFileSync(path, 'utf8').replace(/@([A-Z_]+)@/g, (_, name) => values[name]!());
}

/** As a paragraph of a control file: every line begins with a space, empty ones are a dot. */
function licence(): string {
  const text = readFileSync('LICENSE', 'utf8').trimEnd();
  return `License: MIT\n${text.replace(/^$/gm, '.').replace(/^/gm, ' ')}`;
}

function changelog(): string {
  const date = new Date(seconds * 1000).toUTCString().replace('GMT', '+0000');
  const [, maintainer] = /^Maintainer: (.+)$/m.exec(readFileSync('ops/deb/control', 'utf8'))!;
  return `askback (${manifest.version}) stable; urgency=medium\n\n  * Made from its sources of this day.\n\n -- ${maintainer}  ${date}\n`;
}

function files(): string[] {
  return readdirSync(tree, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.startsWith('DEBIAN') && lstatSync(join(tree, path)).isFile())
    .sort();
}

function installedKiB(): number {
  return files().reduce((sum, path) => sum + Math.ceil(statSync(join(tree, path)).size / 1024), 0);
}

/** Of the files that are the package's alone; dpkg watches the others itself. */
function md5sums(): string {
  const own = files().filter((path) => !path.startsWith('etc/'));
  return execFileSync('md5sum', own, { cwd: tree, encoding: 'utf8' });
}

/** Folders and times that do not depend on who builds, and when. */
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
