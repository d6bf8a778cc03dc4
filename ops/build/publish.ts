import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { changesOf } from './changes.ts';

export type Published = Map<string, { path: string; hash: string }>;

type Publication = { version: string /** Of the commit, since 1970. */; seconds: number };

/** Collects the files of a release from the folder of a build; fails if one is missing. */
export function publish(folder: string, { version, seconds }: Publication): Published {
  const published = join(folder, 'dist/published');
  mkdirSync(published, { recursive: true });
  const place = (from: string, name: string) =>
    copyFileSync(join(folder, from), join(published, name));
  const built = (pattern: string) => {
    const [path, ...more] = globSync(pattern, { cwd: folder });
    if (!path || more.length > 0)
      throw new Error(`${pattern}: ${path ? 'several' : 'none'} in ${folder}`);
    return place(path, path.slice('dist/'.length));
  };

  place('dist/askback', `askback-${version}-${process.platform}-${process.arch}`);
  built(`dist/askback_${version}_*.deb`);
  built(`dist/askback-${version}.cdx.json`);
  built(`dist/askback-client-${version}.tgz`);
  place('ops/container/Containerfile', 'Containerfile');
  place('ops/openapi.json', `askback-${version}-openapi.json`);
  packDocuments(folder, { file: join(published, `askback-${version}-documents.tar.gz`), seconds });
  const changelog = readFileSync(join(folder, 'ops/changelog.md'), 'utf8');
  writeFileSync(join(published, 'CHANGES.md'), changesOf(changelog, version));

  const names = readdirSync(published).sort();
  return new Map(
    names.map((name) => [
      name,
      { path: join(published, name), hash: hashOf(join(published, name)) },
    ]),
  );
}

/** In the format of `sha256sum --check`. */
export const sumsOf = (published: Published) =>
  [...published]
    .map(([name, { hash }]) => `${hash}  ${name}\n`)
    .sort()
    .join('');

/** Names of files that differ between two releases, or are only in one. */
export function differences(one: Published, other: Published): string[] {
  const names = [...new Set([...one.keys(), ...other.keys()])];
  return names.filter((name) => one.get(name)?.hash !== other.get(name)?.hash);
}

/** Sorted, without owners, and with the time of the commit, so that the archive is reproducible. */
function packDocuments(folder: string, { file, seconds }: { file: string; seconds: number }) {
  const same = [
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u=rw,go=r',
    `--mtime=@${seconds}`,
  ];
  const wanted = ['README.md', 'LICENSE', 'ops/*.md', 'ops/licenses.txt'];
  const documents = globSync(wanted, { cwd: folder }).sort();
  const tar = join(folder, 'dist/documents.tar');
  execFileSync('tar', [...same, '-cf', tar, ...documents], { cwd: folder });
  writeFileSync(file, execFileSync('gzip', ['-n9', '-c', tar], { maxBuffer: 64 * 1024 * 1024 }));
}

const hashOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
