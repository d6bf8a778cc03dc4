import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type Account, chownTo } from './account.ts';
import { type Contents, checksum, type Manifest } from './archive.ts';
import type { Distribution } from './distribution.ts';
import type { DataFolder } from './folder.ts';

const prefix = 'postgres-';
const draftPrefix = '.unpacking-';
const manifestName = 'manifest.json';

/** The folder of the server's program files, in its data folder. */
export const runtimeOf = ({ path }: Pick<DataFolder, 'path'>, id: string) =>
  join(path, prefix + id);

/**
 * The program files of this Postgres, whole. Call it under the start lock. Every start compares all files with
 * their checksums: a server that runs with a damaged library damages data.
 */
export function ensureRuntime(folder: DataFolder, distribution: Distribution): string {
  const runtime = runtimeOf(folder, distribution.id);
  removeDrafts(folder.path);
  if (isWhole(runtime)) return runtime;

  const draft = mkdtempSync(join(folder.path, draftPrefix));
  writeRuntime(draft, distribution.open());
  rmSync(runtime, { recursive: true, force: true });
  chownAll(draft, folder.account);
  renameSync(draft, runtime);
  return runtime;
}

/** Root may unpack these files, and the account replace them later. */
function chownAll(draft: string, account: Account) {
  if (!account.isOther) return;
  for (const path of readdirSync(draft, { recursive: true, encoding: 'utf8' })) {
    chownTo(join(draft, path), account);
  }
  chownTo(draft, account);
}

/** Removes program files of other versions. Only while no server runs from them. */
export function removeOtherRuntimes({ path }: DataFolder, current: string) {
  for (const name of readdirSync(path)) {
    const other = join(path, name);
    if (name.startsWith(prefix) && other !== current) rmSync(other, { recursive: true });
  }
}

function removeDrafts(path: string) {
  for (const name of readdirSync(path)) {
    if (name.startsWith(draftPrefix)) rmSync(join(path, name), { recursive: true });
  }
}

function isWhole(runtime: string): boolean {
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
