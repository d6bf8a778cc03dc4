import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { type Context, Hono } from 'hono';
import { notFound } from '../../errors.ts';
import { memoize } from '../../lib/async/memoize.ts';
import { assetBytes, hasAsset } from '../../lib/process/assets.ts';
import {
  assetType,
  assetUrl,
  packedAsset,
  readWebAsset,
  type WebAssetName,
  webAssetNames,
} from './assets.ts';

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
