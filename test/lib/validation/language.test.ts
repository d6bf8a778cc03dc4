import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLanguage } from '../../../src/lib/validation/language.ts';

test('a tag names a language', () => {
  for (const tag of ['en', 'pt-BR', 'zh-Hant-TW', 'DE', 'gsw', 'ast', 'rm-CH'])
    assert.ok(isLanguage(tag), tag);
});

test('words and codes of no language are none', () => {
  for (const tag of ['english', 'deutsch', 'xx', 'qq-DE', 'e', '', 'und', 'en_US', 'en-', 'x-mine'])
    assert.ok(!isLanguage(tag), tag);
});
