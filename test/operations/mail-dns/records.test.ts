import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  compareDkim,
  dkimRecordFor,
  readDkim,
} from '../../../src/operations/mail-dns/dkim-record.ts';
import { organizationalDomain } from '../../../src/operations/mail-dns/dmarc.rules.ts';
import { walkDmarc, walkOf } from '../../../src/operations/mail-dns/dmarc.ts';
import { isDmarc, readDmarc } from '../../../src/operations/mail-dns/dmarc-record.ts';
import { shortened } from '../../../src/operations/mail-dns/tag-list.ts';
import { fakeResolver, servfail, type Zone } from '../../support/fakes/dns.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const record = dkimRecordFor(pem);
const p = /p=(.+)$/.exec(record)![1]!;

test('the record that belongs to a private key is recognized as its own', () => {
  assert.deepEqual(compareDkim(record, pem), {
    isOurs: true,
    bits: 2048,
    testing: false,
    mistakes: [],
  });
});

test('a key published without its wrapping is the same key', () => {
  const bare = createPublicKey(privateKey).export({ type: 'pkcs1', format: 'der' });
  assert.ok(compareDkim(`v=DKIM1; p=${bare.toString('base64')}`, pem).isOurs);
});

const keyRecords: [text: string, mistakes: string[]][] = [
  [`p=${p}`, []],
  [`v=DKIM1;p=${p.replace(/.{64}/g, '$& ')};`, []],
  [`v=DKIM1; k=RSA; h=sha1:sha256; s=email; t=s; n=note; p=${p}`, []],
  ['v=DKIM1; k=rsa', ['p= is missing']],
  ['v=DKIM1; p=', []],
  [`v=DKIM2; p=${p}`, ['v= must be DKIM1']],
  [`v=DKIM1; k=ed25519; p=${p}`, ['k= must be rsa']],
  [`v=DKIM1; h=sha1; p=${p}`, ['h= leaves out sha256']],
  [`v=DKIM1; s=other; p=${p}`, ['s= leaves out email']],
  [`v=DKIM1; p=${p.slice(0, 100)}`, ['p= holds no RSA public key']],
  ['v=DKIM1; p="MIIB"', ['p= holds no RSA public key']],
  [`v=DKIM1; p=${p}; p=${p}`, ['p= is given twice']],
  [`v=DKIM1; nonsense; p=${p}`, ["'nonsense' is not name=value"]],
  [`v=DKIM1; H=SHA1 : SHA256; S=other:EMAIL; P=${p}==`, []],
  [`v=DKIM1; p=${p}===`, ['p= holds no RSA public key']],
  [
    'v=DKIM2; nonsense; k=ed25519; h=sha1; s=other; =x; s=other',
    [
      "'nonsense' is not name=value",
      "'=x' is not name=value",
      's= is given twice',
      'p= is missing',
      'v= must be DKIM1',
      'k= must be rsa',
      'h= leaves out sha256',
      's= leaves out email',
    ],
  ],
  ['v=DKIM2; x; p=y', ["'x' is not name=value", 'p= holds no RSA public key', 'v= must be DKIM1']],
];

for (const [text, mistakes] of keyRecords) {
  test(`key record ${text.replace(p, '(key)').slice(0, 60)}`, () =>
    assert.deepEqual(readDkim(text).mistakes, mistakes));
}

const policies: [text: string, read: object][] = [
  [
    'v=DMARC1; p=none',
    { policy: 'none', subdomainPolicy: 'none', dkim: 'relaxed', spf: 'relaxed' },
  ],
  ['v=DMARC1;p=reject;sp=quarantine', { policy: 'reject', subdomainPolicy: 'quarantine' }],
  [
    'v=DMARC1; p=Quarantine; adkim=s; aspf=S',
    { policy: 'quarantine', dkim: 'strict', spf: 'strict' },
  ],
  ['v = DMARC1 ; p = reject ;', { policy: 'reject', mistakes: [] }],
  ['v=DMARC1; p=reject; pct=20; fo=1; x=y', { mistakes: [] }],
  [
    'v=DMARC1; p=reject; rua=mailto:a@b.example, mailto:c@d.example!10m',
    { mistakes: [], reports: ['mailto:a@b.example', 'mailto:c@d.example!10m'] },
  ],
  ['v=DMARC1', { policy: 'none', mistakes: ['p= is missing'] }],
  [
    'v=DMARC1; p=block',
    { policy: 'none', mistakes: ['p=block must be none, quarantine or reject'] },
  ],
  ['v=DMARC1; p=none; adkim=x', { dkim: 'relaxed', mistakes: ['adkim=x must be r or s'] }],
  [
    'v=DMARC1; p=none; rua=me@b.example',
    { mistakes: ['rua=me@b.example must be an address such as mailto:dmarc@example.com'] },
  ],
  ['v=DMARC1; p=none; psd=y', { publicSuffix: true }],
  ['v=DMARC1; P=reject', { policy: 'reject', mistakes: [] }],
  [
    'v=DMARC1; x; sp=a; np=b; adkim=c; aspf=d; rua=MAILTO:a@b.example?subject=e, f, g',
    {
      reports: ['MAILTO:a@b.example?subject=e', 'f', 'g'],
      mistakes: [
        "'x' is not name=value",
        'p= is missing',
        'sp=a must be none, quarantine or reject',
        'np=b must be none, quarantine or reject',
        'adkim=c must be r or s',
        'aspf=d must be r or s',
        'rua=f must be an address such as mailto:dmarc@example.com',
        'rua=g must be an address such as mailto:dmarc@example.com',
      ],
    },
  ],
];

for (const [text, expected] of policies) {
  test(`policy record ${text}`, () => {
    const read: Record<string, unknown> = readDmarc(text);
    const asked = Object.fromEntries(Object.keys(expected).map((name) => [name, read[name]]));
    assert.deepEqual(asked, expected);
  });
}

test('a policy record begins with its version, spelled exactly', () => {
  const texts = [
    'v=DMARC1',
    'v=DMARC1; p=none',
    'v=dmarc1; p=none',
    'p=none; v=DMARC1',
    'v=DMARC12',
  ];
  assert.deepEqual(texts.map(isDmarc), [true, true, false, false, false]);
});

test('the walk goes up to the top, past the middle of a very long name', () => {
  assert.deepEqual(walkOf('a.mail.example.com'), [
    'a.mail.example.com',
    'mail.example.com',
    'example.com',
    'com',
  ]);
  assert.deepEqual(walkOf('a.b.c.d.e.f.g.h.i.example.com').slice(0, 2), [
    'a.b.c.d.e.f.g.h.i.example.com',
    'e.f.g.h.i.example.com',
  ]);
  assert.equal(walkOf('a.b.c.d.e.f.g.h.i.example.com').length, 8);
});

const organizations: [zone: Zone, domain: string, organization: string][] = [
  [{}, 'mail.example.com', 'mail.example.com'],
  [{ 'TXT _dmarc.example.com': ['v=DMARC1; p=none'] }, 'mail.example.com', 'example.com'],
  [{ 'TXT _dmarc.mail.example.com': ['v=DMARC1; p=none'] }, 'mail.example.com', 'mail.example.com'],
  [
    {
      'TXT _dmarc.mail.example.com': ['v=DMARC1; p=none; psd=n'],
      'TXT _dmarc.example.com': ['v=DMARC1; p=none'],
    },
    'mail.example.com',
    'mail.example.com',
  ],
  [
    {
      'TXT _dmarc.mail.example.com': ['v=DMARC1; p=none'],
      'TXT _dmarc.example.com': ['v=DMARC1; p=none'],
    },
    'mail.example.com',
    'example.com',
  ],
  [
    { 'TXT _dmarc.gov.example': ['v=DMARC1; p=none; psd=y'] },
    'a.tax.gov.example',
    'tax.gov.example',
  ],
  [{ 'TXT _dmarc.com': [servfail] }, 'example.com', 'example.com'],
];

for (const [zone, domain, organization] of organizations) {
  test(`${domain} belongs to ${organization} next to ${Object.keys(zone).join(' and ') || 'nothing'}`, async () => {
    const walked = await walkDmarc(fakeResolver(zone), domain);
    assert.ok('steps' in walked);
    assert.equal(organizationalDomain(walked.steps), organization);
  });
}

const quotes: [text: string, quoted: string][] = [
  ['ä'.repeat(60), 'ä'.repeat(60)],
  ['ä'.repeat(61), `${'ä'.repeat(60)}...`],
  ['😀'.repeat(60), '😀'.repeat(60)],
  ['a \t\r\n\u0007 b', 'a b'],
];
for (const [text, quoted] of quotes) {
  test(`a text of ${text.length} units is quoted with ${quoted.length} of them`, () =>
    assert.equal(shortened(text), quoted));
}

test('no record of either kind is too odd to be read', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string().map((rest) => `v=DMARC1; p=${rest}`),
  );
  fc.assert(
    fc.property(text, (each) => {
      for (const mistake of [...readDkim(each).mistakes, ...readDmarc(each).mistakes]) {
        assert.match(mistake, /^[^\p{Cc}]{1,200}$/u);
      }
    }),
    { numRuns: 1000 },
  );
});
