import { mkdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { packedAsset, readWebAsset, webAssetNames } from '../../src/web/app/assets.ts';

/** What browsers load, plain and compressed as far as it goes: files for the executable, by their names in it. */
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
