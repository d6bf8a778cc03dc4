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
import { join, relative, resolve } from 'node:path';
import { changesOf } from './changes.ts';

export type Published = Map<string, { path: string; hash: string }>;

type Publication = {
  version: string;
  /** Time of the commit in seconds since 1970. */
  seconds: number;
  /** Where the files will be published, for install.sh. */
  url?: string | undefined;
};

/** Collects the files of a release from the folder of a build; fails if one is missing. macOS only adds its executable. */
export function publish(folder: string, { version, seconds, url }: Publication): Published {
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
  if (process.platform === 'linux') {
    built(`dist/askback_${version}_*.deb`);
    built(`dist/askback-${version}-1.*.rpm`);
    built(`dist/askback-${version}-image-*.tar`);
    built(`dist/askback-${version}.cdx.json`);
    built(`dist/askback-client-${version}.tgz`);
    place('ops/container/Containerfile', 'Containerfile');
    place('ops/openapi.json', `askback-${version}-openapi.json`);
    const pack = packer(folder, seconds);
    pack(join(published, `askback-${version}-documents.tar.gz`), [
      'README.md',
      'LICENSE',
      'ops/*.md',
      'ops/licenses.txt',
    ]);
    pack(join(published, `askback-${version}-compose.tar.gz`), ['ops/compose/*'], 'askback');
    pack(join(published, `askback-${version}-helm.tgz`), ['ops/helm/**'], 'askback');
    const installer = readFileSync(join(folder, 'ops/install.sh'), 'utf8');
    write('install.sh', url ? installer.replace('@DOWNLOAD_URL@', url) : installer);
    write('latest.json', `${JSON.stringify({ version })}\n`);
    const changelog = readFileSync(join(folder, 'ops/changelog.md'), 'utf8');
    write('CHANGES.md', changesOf(changelog, version));
  }

  function write(name: string, text: string) {
    writeFileSync(join(published, name), text);
  }

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

/** Sorted, without owners, and with the time of the commit, so that archives are reproducible. */
const packer =
  (folder: string, seconds: number) => (file: string, patterns: string[], top?: string) => {
    const same = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rw,go=r'];
    const files = globSync(patterns, { cwd: folder, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(resolve(folder), resolve(entry.parentPath, entry.name)))
      .sort();
    const under = top ? [`--transform=s,^ops/[^/]*,${top},`] : [];
    const tar = join(folder, 'dist/archive.tar');
    execFileSync('tar', [...same, `--mtime=@${seconds}`, ...under, '-cf', tar, ...files], {
      cwd: folder,
    });
    writeFileSync(file, execFileSync('gzip', ['-n9', '-c', tar], { maxBuffer: 64 * 1024 * 1024 }));
  };

const hashOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
