import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { encode } from 'uqr';
import {
  isolate,
  isTranslated,
  languageOf,
  languages,
  preferredLanguage,
} from '../../src/web/language.ts';
import { pl } from '../../src/web/languages/pl.ts';
import { monogram, renderPage } from '../../src/web/layout.tsx';
import { QrCode } from '../../src/web/qr-code.tsx';

const page = renderPage({
  language: languageOf('ar-EG'),
  title: '<b>Really?</b>',
  sender: { name: 'Acme </style><script>', color: '#ff8800' },
  body: 'text',
});

test('the policy allows one style by hash and no script', () => {
  const styles = [...page.html.matchAll(/<style>(.*?)<\/style>/gs)].map(([, style]) => style!);
  const hash = createHash('sha256').update(styles[0]!).digest('base64');
  assert.equal(styles.length, 1);
  const policy = page.headers['Content-Security-Policy']!;
  assert.ok(policy.includes(`style-src 'sha256-${hash}';`));
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /script-src|unsafe/);
});

test('a page has the language and its direction', () => {
  assert.match(page.html, /^<!doctype html><html lang="ar" dir="rtl">/);
});

test('names and titles are escaped', () => {
  assert.doesNotMatch(page.html, /<script>|<b>/);
  assert.match(page.html, /Acme &lt;\/style&gt;&lt;script&gt;/);
});

test('pages are not indexed, cached, framed or sent as referrer', () => {
  assert.equal(page.headers['Referrer-Policy'], 'no-referrer');
  assert.equal(page.headers['X-Robots-Tag'], 'noindex, nofollow');
  assert.equal(page.headers['Cache-Control'], 'no-store');
  assert.match(page.headers['Content-Security-Policy']!, /frame-ancestors 'none'/);
});

const monograms: [name: string, letter: string][] = [
  ['acme', 'A'],
  ['  «Über» ', 'Ü'],
  ['7 Seas', '7'],
  ['ياسمين', 'ي'],
  ['!!!', '·'],
];

for (const [name, letter] of monograms) {
  test(`${name} has the monogram ${letter}`, () => assert.equal(monogram(name), letter));
}

const accepted: [header: string | null | undefined, tag: string][] = [
  [undefined, 'en'],
  [null, 'en'],
  ['', 'en'],
  ['*', 'en'],
  ['sv', 'en'],
  ['de-AT', 'de'],
  ['sv, fr;q=0.4, nl ; q=0.7', 'nl'],
  ['fr, de', 'fr'],
  ['de;q=0, it;q=0.1', 'it'],
  ['de;q=0', 'en'],
  ['PT_br', 'pt'],
];
for (const [header, tag] of accepted) {
  test(`a browser with ${header} gets ${tag}`, () => {
    const language = preferredLanguage(header);
    assert.deepEqual([language.tag, language.texts], [tag, languages.get(tag)]);
  });
}

test('ten languages have texts, and all others fall back to English', () => {
  const tags = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'ar', 'ja'];
  assert.deepEqual([...languages.keys()], tags);
  for (const tag of tags) {
    assert.ok(isTranslated(`${tag}-XX`));
    assert.equal(languageOf(tag.toUpperCase()).tag, tag);
  }
  assert.ok(!isTranslated('sv'));
  assert.equal(languageOf('sv').tag, 'en');
  assert.equal(isolate('a'), '\u2068a\u2069');
});

test('Polish stars have the right plural', () => {
  assert.deepEqual(
    [1, 2, 4, 5].map((count) => pl.stars(count)),
    ['1 gwiazdka', '2 gwiazdki', '4 gwiazdki', '5 gwiazdek'],
  );
});

test('a QR code draws exactly its dark squares', () => {
  const text = 'https://askback.example/s/abcdef';
  const { data, size } = encode(text, { border: 2 });
  const drawn = Array.from({ length: size }, () => Array.from({ length: size }, () => false));
  const strokes = String(QrCode({ text, title: 'Code' })).matchAll(/M(\d+) (\d+)h(\d+)v1h-(\d+)z/g);
  for (const [, x, y, there, back] of strokes) {
    assert.equal(there, back);
    drawn[Number(y)]!.fill(true, Number(x), Number(x) + Number(there));
  }
  assert.deepEqual(drawn, data);
});
