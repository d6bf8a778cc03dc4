import { mkdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { packedAsset, readWebAsset, webAssetNames } from '../../src/web/app/assets.ts';

/** Files that browsers load, plain and with maximum compression, by their names in the executable. */
export function packWebAssets(work: string): Record<string, string> {
  mkdirSync(`${work}/web`, { recursive: true });
  const files = webAssetNames.flatMap((name) => {
    const bytes = readWebAsset(name);
    return [
      [packedAsset(name), bytes],
      [`${packedAsset(name)}.gz`, gzipSync(bytes, { level: 9 })],
    ] as const;
  });
  for (const [name, bytes] of files) writeFileSync(`${work}/${name}`, bytes);
  return Object.fromEntries(files.map(([name]) => [name, `${work}/${name}`]));
}
