import { readdirSync, readFileSync } from 'node:fs';
import { getAsset, getAssetKeys, isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';

/** Files that belong to the program: inside the executable, or in the checkout it runs from. */
export function readAsset(name: string): string {
  return isSea() ? getAsset(name, 'utf8') : readFileSync(root() + name, 'utf8');
}

/** The names of the assets in a folder, `sql/migrations/` say, sorted. */
export function listAssets(folder: string): string[] {
  const names = isSea()
    ? getAssetKeys().filter((key) => key.startsWith(folder))
    : readdirSync(root() + folder).map((file) => folder + file);
  return names.sort();
}

const root = () => fileURLToPath(new URL('../../../', import.meta.url));
