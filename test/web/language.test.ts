import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  hasTexts,
  isolate,
  languageOf,
  languages,
  preferredLanguage,
} from '../../src/web/language.ts';
import { pl } from '../../src/web/languages/pl.ts';

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
  [`${'sv,'.repeat(19)}ja`, 'ja'],
  [`${'sv,'.repeat(20)}ja`, 'en'],
];
for (const [header, tag] of accepted) {
  test(`a browser that says ${header?.slice(-30)} of itself reads ${tag}`, () => {
    assert.deepEqual(preferredLanguage(header), { tag, texts: languages.get(tag) });
  });
}

test('ten languages have texts, by their primary tag, and any other is read in English', () => {
  const tags = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'ar', 'ja'];
  assert.deepEqual([...languages.keys()], tags);
  for (const tag of tags) {
    assert.ok(hasTexts(`${tag}-XX`));
    assert.equal(languageOf(tag.toUpperCase()).tag, tag);
  }
  assert.ok(!hasTexts('sv'));
  assert.equal(languageOf('sv').tag, 'en');
  assert.equal(isolate('a'), '\u2068a\u2069');
});

test('Polish counts stars as Polish does', () => {
  assert.deepEqual(
    [1, 2, 4, 5].map((count) => pl.stars(count)),
    ['1 gwiazdka', '2 gwiazdki', '4 gwiazdki', '5 gwiazdek'],
  );
});
