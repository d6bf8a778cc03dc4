import { mkdirSync, writeFileSync } from 'node:fs';
import { packedAsset, readWebAsset, webAssetNames } from '../../src/web/app/assets.ts';

/** Files that browsers load, by their names in the executable. */
export function packWebAssets(work: string): Record<string, string> {
  mkdirSync(`${work}/web`, { recursive: true });
  const files = webAssetNames.map((name) => [packedAsset(name), readWebAsset(name)] as const);
  for (const [name, bytes] of files) writeFileSync(`${work}/${name}`, bytes);
  return Object.fromEntries(files.map(([name]) => [name, `${work}/${name}`]));
}
