import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { assetRoutes, assetUrl, readWebAsset, webAssetNames } from '../../../src/web/app/assets.ts';

const app = assetRoutes();
const maxScript = 20_480;

const get = (url: string, encoding: string) =>
  app.request(url.replace('/assets', ''), { headers: { 'Accept-Encoding': encoding } });

for (const name of webAssetNames) {
  test(`${name} is sent compressed and cached for a year`, async () => {
    const whole = readWebAsset(name);
    const plain = await get(assetUrl(name), 'identity, gzip;q=0');
    assert.deepEqual(Buffer.from(await plain.arrayBuffer()), whole);

    const gzipped = await get(assetUrl(name), 'GZIP;q=1.0, br;q=0');
    assert.equal(gzipped.headers.get('Content-Encoding'), 'gzip');
    assert.match(gzipped.headers.get('Cache-Control') ?? '', /max-age=31536000, immutable/);
    assert.deepEqual(gunzipSync(await gzipped.arrayBuffer()), whole);
  });
}

test('an asset is only served at the URL with its hash', async () => {
  for (const file of ['app.css', 'app.000000000000.css', '..%2f..%2fpackage.json']) {
    assert.equal((await get(`/assets/${file}`, 'gzip')).status, 500, file);
  }
});

test('the style is under 16 KB', async () => {
  const bytes = (await (await get(assetUrl('app.css'), 'gzip')).arrayBuffer()).byteLength;
  assert.ok(bytes < 16_384, `${bytes} bytes`);
});

/** Every page has these two scripts, and some have one more. The script for websites is not used in the app. */
const everywhere = ['htmx.js', 'app.js'] as const;
const scripts = webAssetNames.filter((asset) => asset.endsWith('.js') && asset !== 'embed.js');

for (const more of scripts.filter((name) => !everywhere.some((other) => other === name))) {
  test(`the scripts of a page with ${more} are under 20 KB together`, async () => {
    let bytes = 0;
    for (const name of [...everywhere, more]) {
      bytes += (await (await get(assetUrl(name), 'gzip')).arrayBuffer()).byteLength;
    }
    assert.ok(bytes < maxScript, `${bytes} bytes`);
  });
}
