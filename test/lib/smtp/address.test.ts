import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addressKey, mailableAddress, normalizeEmail } from '../../../src/lib/smtp/address.ts';

const cases: [why: string, text: string, mailed: string | undefined][] = [
  ['an ordinary address', 'ada@example.com', 'ada@example.com'],
  ['the case of the local part is the receiver’s business', 'Ada@Example.COM', 'Ada@example.com'],
  ['space around it is a slip of copying', ' ada@example.com\n', 'ada@example.com'],
  ['plus and apostrophe', "o'hara+x@example.com", "o'hara+x@example.com"],
  ['a domain of other letters goes out in ASCII', 'ada@müller.de', 'ada@xn--mller-kva.de'],
  ['full-width letters are the letters they look like', 'ada@ｅxample.com', 'ada@example.com'],
  ['a local part of other letters would need SMTPUTF8 everywhere', 'адам@example.com', undefined],
  [
    'a line break inside would begin another command',
    'ada@example.com\r\nRCPT TO:<eve@x.org>',
    undefined,
  ],
  ['a NUL', 'ada\0@example.com', undefined],
  ['two addresses', 'ada@example.com, eve@example.com', undefined],
  ['a name in front of it', 'Ada <ada@example.com>', undefined],
  ['quotes, whose @ servers disagree about', '"ada@evil.org"@example.com', undefined],
  ['two @', 'ada@evil.org@example.com', undefined],
  ['no local part', '@example.com', undefined],
  ['no domain', 'ada@', undefined],
  ['no @', 'ada.example.com', undefined],
  ['nothing', '', undefined],
  ['a machine in the local network', 'root@localhost', undefined],
  ['an address literal', 'ada@[10.0.0.1]', undefined],
  ['a bare IP address', 'ada@10.0.0.1', undefined],
  ['a number that is read as an IP address', 'ada@0x7f.1', undefined],
  ['two dots', 'ada..b@example.com', undefined],
  ['a dot at the end', 'ada@example.com.', undefined],
  ['a label that begins with a hyphen', 'ada@-example.com', undefined],
  ['an escaped letter', 'ada@ex%61mple.com', undefined],
  ['64 letters before the @', `${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
  ['65 letters before the @', `${'a'.repeat(65)}@example.com`, undefined],
  ['254 letters', `ada@${domainOf(250)}`, `ada@${domainOf(250)}`],
  ['255 letters', `ada@${domainOf(251)}`, undefined],
];

function domainOf(length: number) {
  const labels = `${'x'.repeat(60)}.`.repeat(5).slice(0, length - 4);
  return `${labels.replace(/\.$/, 'x')}.com`;
}

for (const [why, text, mailed] of cases) {
  test(`an address is ${mailed ? 'accepted' : 'rejected'}: ${why}`, () =>
    assert.equal(mailableAddress(text), mailed));
}

test('an accepted address is printable ASCII and stays the same', () => {
  const anything = fc.oneof(fc.emailAddress(), fc.string({ unit: 'binary' }));
  fc.assert(
    fc.property(anything, (text) => {
      const mailed = mailableAddress(text);
      if (mailed === undefined) return;
      assert.match(mailed, /^[\x21-\x7e]+@[a-z0-9.-]+$/);
      assert.equal(mailableAddress(mailed), mailed);
    }),
    { numRuns: 2000 },
  );
});

test('an address stays as written, except for a domain beyond ASCII', () => {
  assert.equal(normalizeEmail(' Ada@Example.COM '), 'Ada@Example.COM');
  assert.equal(normalizeEmail('Ada@Bücher.example'), 'Ada@xn--bcher-kva.example');
  assert.equal(
    normalizeEmail('ada@İstanbul.example'),
    normalizeEmail('ada@i\u0307stanbul.example'),
  );
  assert.equal(normalizeEmail('ada'), undefined);
});

test('different spellings of an address are equal', () => {
  const same = [
    'Ada@Bücher.example',
    'ada@BÜCHER.example',
    'ada@bu\u0308cher.example',
    'ADA@XN--BCHER-KVA.EXAMPLE',
  ];
  assert.deepEqual([...new Set(same.map(addressKey))], ['ada@xn--bcher-kva.example']);
});
