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

/** The examples of RFC 7208, 7.4. */
const strongBad = { ip: '192.0.2.3', local: 'strong-bad', domain: 'email.example.com', helo: 'mx' };
const examples: [text: string, expanded: string][] = [
  ['%{s}', 'strong-bad@email.example.com'],
  ['%{o}', 'email.example.com'],
  ['%{d}', 'email.example.com'],
  ['%{d4}', 'email.example.com'],
  ['%{d3}', 'email.example.com'],
  ['%{d2}', 'example.com'],
  ['%{d1}', 'com'],
  ['%{dr}', 'com.example.email'],
  ['%{d2r}', 'example.email'],
  ['%{l}', 'strong-bad'],
  ['%{l-}', 'strong.bad'],
  ['%{lr}', 'strong-bad'],
  ['%{lr-}', 'bad.strong'],
  ['%{l1r-}', 'strong'],
  ['%{ir}.%{v}._spf.%{d2}', '3.2.0.192.in-addr._spf.example.com'],
  ['%{lr-}.lp._spf.%{d2}', 'bad.strong.lp._spf.example.com'],
  ['%{ir}.%{v}.%{l1r-}.lp._spf.%{d2}', '3.2.0.192.in-addr.strong.lp._spf.example.com'],
  ['%{d2}.trusted-domains.example.net', 'example.com.trusted-domains.example.net'],
];
for (const [text, expanded] of examples) {
  test(`${text} of the RFC stands for ${expanded}`, () =>
    assert.equal(expandMacros(text, strongBad.domain, strongBad), expanded));
}
