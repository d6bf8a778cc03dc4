import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLanguage } from '../../../src/lib/validation/parse.ts';

test('a tag names a language', () => {
  for (const tag of ['en', 'pt-BR', 'zh-Hant-TW', 'DE', 'gsw', 'ast', 'rm-CH'])
    assert.ok(isLanguage(tag), tag);
});

test('words and codes of no language are none', () => {
  for (const tag of ['english', 'deutsch', 'xx', 'qq-DE', 'e', '', 'und', 'en_US', 'en-', 'x-mine'])
    assert.ok(!isLanguage(tag), tag);
});

test('a tag that says more than a language is none, because nothing can name it', () => {
  for (const tag of ['en-u-ca-buddhist', 'en-x-a', 'art-x-klingon', 'de-t-en'])
    assert.ok(!isLanguage(tag), tag);
  for (const tag of ['de-1996', 'sr-Latn-RS', 'es-419']) assert.ok(isLanguage(tag), tag);
});
