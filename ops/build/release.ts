import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { changesOf } from './changes.ts';

/**
 * Makes all that is published from the newest commit, twice, each time from a clone of its own with packages
 * installed afresh, and compares: what differs cannot be checked by others, and is not published.
 */
const { version } = manifest;
const output = 'dist/release';
/** Another commit may follow while this runs. */
const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();

const folder = mkdtempSync(join(tmpdir(), 'askback-release-'));
try {
  const [first, second] = [makeOnce(join(folder, 'first')), makeOnce(join(folder, 'second'))];
  const differing = [...first].filter(([name, { hash }]) => second.get(name)?.hash !== hash);
  if (first.size !== second.size || differing.length > 0) {
    const names = differing.map(([name]) => name).join(', ');
    throw new Error(`made twice, these differ: ${names || 'the lists of files'}`);
  }
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  for (const [name, { path }] of first) copyFileSync(path, join(output, name));
  const sums = [...first].map(([name, { hash }]) => `${hash}  ${name}\n`).sort();
  writeFileSync(join(output, 'SHA256SUMS'), sums.join(''));
  console.log(`${output}: ${first.size} files, made twice and equal\n${sums.join('')}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

type Made = Map<string, { path: string; hash: string }>;

function makeOnce(clone: string): Made {
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', resolve('.'), clone]);
  execFileSync('git', ['checkout', '--quiet', '--detach', commit], { cwd: clone });
  const make = (...targets: string[]) =>
    execFileSync('make', ['--no-print-directory', ...targets], { cwd: clone, stdio: 'inherit' });
  make('deb', 'sbom', 'client');
  const published = join(clone, 'dist/published');
  mkdirSync(published, { recursive: true });
  const place = (from: string, name = basename(from)) =>
    copyFileSync(join(clone, from), join(published, name));

  place('dist/askback', `askback-${version}-${process.platform}-${process.arch}`);
  for (const path of globSync('dist/*.{deb,cdx.json,tgz}', { cwd: clone })) place(path);
  place('ops/container/Containerfile');
  place('ops/openapi.json', `askback-${version}-openapi.json`);
  packDocuments(clone, join(published, `askback-${version}-documents.tar.gz`));
  const changelog = readFileSync(join(clone, 'ops/changelog.md'), 'utf8');
  writeFileSync(join(published, 'CHANGES.md'), changesOf(changelog, version));

  return new Map(
    readdirSync(published)
      .sort()
      .map((name) => [name, { path: join(published, name), hash: hashOf(join(published, name)) }]),
  );
}

/** In one order, by no account, at the time of the commit. */
function packDocuments(clone: string, file: string) {
  const seconds = execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: clone }).toString();
  const same = [
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    `--mtime=@${seconds.trim()}`,
  ];
  const documents = globSync(['README.md', 'LICENSE', 'ops/*.md', 'ops/licenses.txt'], {
    cwd: clone,
  });
  const tar = join(clone, 'dist/documents.tar');
  execFileSync('tar', [...same, '-cf', tar, ...documents.sort()], { cwd: clone });
  writeFileSync(file, execFileSync('gzip', ['-n9', '-c', tar], { maxBuffer: 64 * 1024 * 1024 }));
}

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
