import { readdirSync, readFileSync } from 'node:fs';
import { getAsset, getAssetKeys, getRawAsset, isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';

/** Files that belong to the program: inside the executable, or in the checkout it runs from. */
export function readAsset(name: string): string {
  return isSea() ? getAsset(name, 'utf8') : readFileSync(root() + name, 'utf8');
}

/** The same as bytes, for files that are no text. */
export function assetBytes(name: string): Buffer {
  return isSea() ? Buffer.from(getRawAsset(name)) : readFileSync(root() + name);
}

/** Whether the executable holds such a file; a checkout has none that only a build makes. */
export const hasAsset = (name: string): boolean => isSea() && getAssetKeys().includes(name);

/** The names of the assets in a folder, `sql/migrations/` say, sorted. */
export function listAssets(folder: string): string[] {
  const names = isSea()
    ? getAssetKeys().filter((key) => key.startsWith(folder))
    : readdirSync(root() + folder).map((file) => folder + file);
  return names.sort();
}

const root = () => fileURLToPath(new URL('../../../', import.meta.url));
