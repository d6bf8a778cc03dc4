import { createHash } from 'node:crypto';
import { basename, extname } from 'node:path';
import { assetBytes, hasAsset } from '../../lib/process/assets.ts';

/** What browsers load besides pages, by its name in the address: the files it is made of, in their order. */
const sources = {
  'app.css': [
    'tokens',
    'frame',
    'controls',
    'forms',
    'marks',
    'figures',
    'lists',
    'screens',
    'surveys',
    'media',
  ].map((name) => `src/web/assets/css/${name}.css`),
  'app.js': ['src/web/assets/app.js'],
  'split.js': ['src/web/assets/split.js'],
  'passkeys.js': ['src/web/assets/passkeys.js'],
  'htmx.js': ['node_modules/htmx.org/dist/htmx.min.js'],
  'embed.js': ['src/web/assets/embed.js'],
  'icon.svg': ['src/web/assets/icon.svg'],
} as const;

export type WebAssetName = keyof typeof sources;

export const webAssetNames = Object.keys(sources) as WebAssetName[];

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export const assetType = (name: string) => types[extname(name)] ?? 'application/octet-stream';

/** The name of an asset inside the executable, where it lies whole, plain and compressed. */
export const packedAsset = (name: WebAssetName) => `web/${name}`;

/** The asset as it is served: whole from the executable, or put together from the checkout. */
export function readWebAsset(name: WebAssetName): Buffer {
  const packed = packedAsset(name);
  if (hasAsset(packed)) return assetBytes(packed);
  return Buffer.concat(sources[name].map(assetBytes));
}

const urls = new Map<WebAssetName, string>();

/** The address of an asset. Its content names it, so that browsers may keep it as long as they like. */
export function assetUrl(name: WebAssetName): string {
  const known = urls.get(name);
  if (known) return known;
  const hash = createHash('sha256').update(readWebAsset(name)).digest('base64url').slice(0, 12);
  const kind = extname(name);
  const url = `/assets/${basename(name, kind)}.${hash}${kind}`;
  urls.set(name, url);
  return url;
}
