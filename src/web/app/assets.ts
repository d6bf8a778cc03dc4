import { createHash } from 'node:crypto';
import { basename, extname } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { type Context, Hono } from 'hono';
import { notFound } from '../../errors.ts';
import { memoize } from '../../lib/async/memoize.ts';
import { assetBytes, hasAsset } from '../../lib/process/lifecycle.ts';

/** How an asset may be sent, the smallest first. */
const codings = [
  { name: 'br', ending: '.br', compress: promisify(brotliCompress) },
  { name: 'gzip', ending: '.gz', compress: promisify(gzip) },
] as const;

type Coding = (typeof codings)[number];

/** `/assets/NAME.HASH.ext`, for a year: another content has another address. */
export const assetRoutes = () =>
  new Hono().get('/:file', async (c) => {
    const url = `/assets/${c.req.param('file')}`;
    const name = webAssetNames.find((asset) => assetUrl(asset) === url);
    if (!name) throw notFound('file');
    const coding = codings.find((one) => accepts(c, one.name));
    c.header('Vary', 'Accept-Encoding');
    c.header('Cache-Control', 'public, max-age=31536000, immutable');
    c.header('Content-Type', assetType(name));
    c.header('X-Content-Type-Options', 'nosniff');
    c.header('Cross-Origin-Resource-Policy', 'same-origin');
    if (!coding) return c.body(new Uint8Array(readWebAsset(name)));
    c.header('Content-Encoding', coding.name);
    return c.body(await compressed({ name, coding }));
  });

type CompressedAsset = { name: WebAssetName; coding: Coding };

/** What browsers load besides pages, by its name in the address: the files it is made of, in their order. */
const sources = {
  'app.css': ['frame', 'controls', 'lists', 'screens'].map(
    (name) => `src/web/assets/css/${name}.css`,
  ),
  'app.js': ['src/web/assets/app.js'],
  'split.js': ['src/web/assets/split.js'],
  'passkeys.js': ['src/web/assets/passkeys.js'],
  'htmx.js': ['node_modules/htmx.org/dist/htmx.min.js'],
  'embed.js': ['src/web/assets/embed.js'],
  'icon.svg': ['src/web/assets/icon.svg'],
} as const;

/** The name of an asset inside the executable, where it lies whole, plain and compressed. */
export const packedAsset = (name: WebAssetName) => `web/${name}`;

/** From the executable as the build compressed it; from a checkout compressed when it is first asked for. */
const compressed = memoize(100, async ({ name, coding }: CompressedAsset) => {
  const packed = `${packedAsset(name)}${coding.ending}`;
  const bytes = hasAsset(packed) ? assetBytes(packed) : await coding.compress(readWebAsset(name));
  return new Uint8Array(bytes);
});

function accepts(c: Context, coding: string): boolean {
  const given = (c.req.header('Accept-Encoding') ?? '').split(',');
  return given.some((one) => {
    const [name = '', ...parameters] = one.split(';').map((part) => part.trim().toLowerCase());
    const isRefused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    return name === coding && !isRefused;
  });
}

type WebAssetName = keyof typeof sources;

export const webAssetNames = Object.keys(sources) as WebAssetName[];

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const assetType = (name: string) => types[extname(name)] ?? 'application/octet-stream';

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
