import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expandMacros } from '../../../src/operations/mail-dns/spf-macros.ts';

const sender = { ip: '192.0.2.7', local: 'ann', domain: 'example.com', helo: 'mail.example.com' };

/** Names of 253 characters and of more, and what is looked up in their place. */
const names: [name: string, lookedUp: string][] = [
  [`${'a'.repeat(241)}.%{d}`, `${'a'.repeat(241)}.example.com`],
  [`${'a'.repeat(242)}.%{d}`, 'example.com'],
  [`b.${'a'.repeat(241)}.%{d}`, `${'a'.repeat(241)}.example.com`],
  [`c.b.${'a'.repeat(242)}.%{d}`, 'example.com'],
  [`b${'a'.repeat(252)}`, `b${'a'.repeat(252)}`],
  [`b${'a'.repeat(253)}`, `b${'a'.repeat(252)}`],
];
for (const [name, lookedUp] of names) {
  test(`a name of ${name.replace('%{d}', 'example.com').length} characters in ${name.split('.').length} parts is looked up with ${lookedUp.length}`, () =>
    assert.equal(expandMacros(name, 'example.com', sender), lookedUp));
}
