import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { languageOf } from '../../src/web/language.ts';
import { monogram, renderPage } from '../../src/web/layout.tsx';

const page = renderPage({
  language: languageOf('ar-EG'),
  title: '<b>Really?</b>',
  sender: { name: 'Acme </style><script>', color: '#ff8800' },
  body: 'text',
});

test('the policy names the one style of the page by its hash, and allows no script', () => {
  const styles = [...page.html.matchAll(/<style>(.*?)<\/style>/gs)].map(([, style]) => style!);
  const hash = createHash('sha256').update(styles[0]!).digest('base64');
  assert.equal(styles.length, 1);
  const policy = page.headers['Content-Security-Policy']!;
  assert.ok(policy.includes(`style-src 'sha256-${hash}';`));
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /script-src|unsafe/);
});

test('a page is in the language asked for, in its direction', () => {
  assert.match(page.html, /^<!doctype html><html lang="ar" dir="rtl">/);
});

test('a name or a title is text, whatever is in it', () => {
  assert.doesNotMatch(page.html, /<script>|<b>/);
  assert.match(page.html, /Acme &lt;\/style&gt;&lt;script&gt;/);
});

test('no page is indexed, cached, framed, or names its address to others', () => {
  assert.equal(page.headers['Referrer-Policy'], 'no-referrer');
  assert.equal(page.headers['X-Robots-Tag'], 'noindex, nofollow');
  assert.equal(page.headers['Cache-Control'], 'no-store');
  assert.match(page.headers['Content-Security-Policy']!, /frame-ancestors 'none'/);
});

const spoken: [tag: string, language: string][] = [
  ['de', 'de'],
  ['de-AT', 'de'],
  ['DE_at', 'de'],
  ['ar-EG', 'ar'],
  ['xx', 'en'],
  ['', 'en'],
  ['constructor', 'en'],
];

for (const [tag, language] of spoken) {
  test(`${JSON.stringify(tag)} is answered in ${language}`, () => {
    assert.equal(languageOf(tag).tag, language);
  });
}

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
