import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { type Finding, recordLine } from '../../../src/operations/finding.ts';
import { judgeDkim, unsigned } from '../../../src/operations/mail-dns/dkim.rules.ts';
import { compareDkim, dkimRecordFor } from '../../../src/operations/mail-dns/dkim-record.ts';
import { judgeAlignment, judgeDmarc } from '../../../src/operations/mail-dns/dmarc.rules.ts';
import { readDmarc } from '../../../src/operations/mail-dns/dmarc-record.ts';
import { type DnsAnswer, mapAnswer } from '../../../src/operations/mail-dns/resolver.ts';
import { judgeMx, judgePtr } from '../../../src/operations/mail-dns/route.rules.ts';
import {
  judgeSpf,
  type MailOrigins,
  type SpfFacts,
  type SpfResult,
} from '../../../src/operations/mail-dns/spf.rules.ts';
import { readSpfRecords } from '../../../src/operations/mail-dns/spf-record.ts';

const found = <T>(...records: T[]): DnsAnswer<T> => ({ kind: 'found', records });
const nothing: DnsAnswer<never> = { kind: 'nothing' };
const noName: DnsAnswer<never> = { kind: 'no_name' };
const failed: DnsAnswer<never> = {
  kind: 'failed',
  why: 'no name server answered within 3 seconds',
};

type Row = [
  why: string,
  finding: Finding,
  status: Finding['status'],
  says: RegExp,
  ...add: string[],
];

function check(rows: readonly Row[]) {
  for (const [why, finding, status, says, ...records] of rows) {
    test(why, () => {
      assert.equal(finding.status, status, finding.message);
      assert.match(finding.message, says);
      assert.deepEqual((finding.records ?? []).map(recordLine), records);
    });
  }
}

const neutral: SpfFacts['whole'] = { result: 'neutral', why: null, lookups: 0 };
const noOrigins: MailOrigins = { hosts: [], certain: false, relay: 'localhost' };
const host = (ip: string, result: SpfResult) => ({ ip, outcome: { result, why: null } });
const named = (...hosts: MailOrigins['hosts']): MailOrigins => ({
  hosts,
  certain: true,
  relay: null,
});
const at = (relay: string, ...hosts: MailOrigins['hosts']): MailOrigins => ({
  hosts,
  certain: false,
  relay,
});
const spf = (
  texts: DnsAnswer<string>,
  origins = noOrigins,
  whole: Partial<SpfFacts['whole']> = {},
) =>
  judgeSpf({
    domain: 'example.com',
    records: mapAnswer(texts, readSpfRecords),
    whole: { ...neutral, ...whole },
    origins,
  });

const knownRelays = [
  ['smtp.gmail.com', 'include:_spf.google.com'],
  ['smtp-relay.google.com', 'include:_spf.google.com'],
  ['smtp.office365.com', 'include:spf.protection.outlook.com'],
  ['mail.protection.outlook.com', 'include:spf.protection.outlook.com'],
  ['email-smtp.eu-central-1.amazonaws.com', 'include:amazonses.com'],
  ['email-smtp.us-gov-west-1.amazonaws.com', 'include:amazonses.com'],
  ['sendgrid.net', 'include:sendgrid.net'],
  ['smtp.eu.mailgun.org', 'include:mailgun.org'],
] as [relay: string, include: string][];

check([
  [
    'SPF: the domain cannot be looked up',
    spf(failed),
    'fail',
    /^cannot be looked up: no name server/,
  ],
  ['SPF: the domain does not exist', spf(noName), 'fail', /does not exist/],
  ['SPF: no record, and the sending addresses are unknown', spf(nothing), 'fail', /--sends-from/],
  [
    'SPF: no record, and the sending addresses are named',
    spf(found('hello'), named(host('192.0.2.7', 'none'), host('2001:db8::7', 'none'))),
    'fail',
    /no SPF record/,
    'add: example.com TXT "v=spf1 ip4:192.0.2.7 ip6:2001:db8::7 ~all"',
  ],
  [
    'SPF: no record, and the relay is a known one',
    spf(nothing, at('smtp.gmail.com', host('142.250.1.1', 'none'))),
    'fail',
    /no SPF record/,
    'add: example.com TXT "v=spf1 include:_spf.google.com ~all"',
  ],
  ['SPF: two records', spf(found('v=spf1 -all', 'v=spf1 a -all')), 'fail', /there are 2 records/],
  [
    'SPF: a mistake',
    spf(found('v=spf1 ip4:1.2.3 -all')),
    'fail',
    /'ip4:1\.2\.3' is no term of SPF/,
  ],
  [
    'SPF: too many lookups',
    spf(found('v=spf1 a -all'), noOrigins, { lookups: 11 }),
    'fail',
    /11 lookups, and receivers give up after 10/,
  ],
  [
    'SPF: ten lookups are not too many',
    spf(found('v=spf1 a -all'), noOrigins, { lookups: 10 }),
    'ok',
    /10 of 10 lookups/,
  ],
  [
    'SPF: what it includes is wrong',
    spf(found('v=spf1 include:a.example -all'), noOrigins, {
      result: 'permerror',
      why: 'a.example has 2 SPF records',
    }),
    'fail',
    /a\.example has 2/,
  ],
  [
    'SPF: what it includes is away',
    spf(found('v=spf1 include:a.example -all'), noOrigins, {
      result: 'temperror',
      why: 'a.example cannot be looked up: x',
    }),
    'fail',
    /cannot be followed/,
  ],
  [
    'SPF: a record without end takes too many lookups',
    spf(found('v=spf1 include:a.example -all'), noOrigins, {
      result: 'permerror',
      why: 'it takes more than 60 lookups',
      lookups: 61,
    }),
    'fail',
    /^the record takes 61 lookups, and receivers give up after 10/,
  ],
  [
    'SPF: what is wrong goes before what is too open',
    spf(found('v=spf1 include:a.example +all'), noOrigins, { result: 'permerror', why: 'odd' }),
    'fail',
    /^receivers ignore the record: odd$/,
  ],
  ['SPF: the whole world may send', spf(found('v=spf1 +all')), 'fail', /whole world/],
  ['SPF: all means +all', spf(found('v=spf1 all')), 'fail', /whole world/],
  ['SPF: of several all the first counts', spf(found('v=spf1 -all +all')), 'ok', /well-formed/],
  ['SPF: the first all is for the world', spf(found('v=spf1 +all -all')), 'fail', /whole world/],
  [
    'SPF: the first all says nothing about the others',
    spf(found('v=spf1 ?all -all')),
    'warn',
    /says nothing about other senders/,
  ],
  [
    'SPF: mistakes are listed as they stand',
    spf(found('v=spf1 x redirect=a.b redirect=c.d exp=1 y')),
    'fail',
    /wrong: 'x' is no term of SPF; redirect= is given twice; '1' is no domain; 'y' is no term of SPF$/,
  ],
  [
    'SPF: the named addresses may send',
    spf(found('v=spf1 ip4:192.0.2.7 -all'), named(host('192.0.2.7', 'pass'))),
    'ok',
    /^lets 192\.0\.2\.7 send/,
  ],
  [
    'SPF: one of the named addresses may not send',
    spf(
      found('v=spf1 ip4:192.0.2.7 -all'),
      named(host('192.0.2.7', 'pass'), host('192.0.2.8', 'fail')),
    ),
    'fail',
    /does not let 192\.0\.2\.8 \(fail\) send/,
    'change: example.com TXT "v=spf1 ip4:192.0.2.8 ip4:192.0.2.7 -all"',
  ],
  [
    'SPF: softly refused is refused',
    spf(found('v=spf1 ~all'), named(host('192.0.2.8', 'softfail'))),
    'fail',
    /softfail/,
    'change: example.com TXT "v=spf1 ip4:192.0.2.8 ~all"',
  ],
  [
    'SPF: the relay’s own address may send',
    spf(found('v=spf1 a:mail.example.com -all'), at('mail.example.com', host('192.0.2.7', 'pass'))),
    'ok',
    /^lets 192\.0\.2\.7 send/,
  ],
  ...knownRelays.map(([relay, include]): Parameters<typeof check>[0][number] => [
    `SPF: what the relay ${relay} is included by`,
    spf(nothing, at(relay, host('192.0.2.7', 'none'))),
    'fail',
    /no SPF record/,
    `add: example.com TXT "v=spf1 ${include} ~all"`,
  ]),
  [
    'SPF: a relay may send from elsewhere',
    spf(found('v=spf1 -all'), at('mail.example.com', host('192.0.2.7', 'fail'))),
    'warn',
    /--sends-from/,
    'change: example.com TXT "v=spf1 ip4:192.0.2.7 -all"',
  ],
  [
    'SPF: a known relay that is included',
    spf(
      found('v=spf1 include:sendgrid.net -all'),
      at('smtp.sendgrid.net', host('192.0.2.7', 'fail')),
    ),
    'ok',
    /include:sendgrid\.net/,
  ],
  [
    'SPF: a known relay whose name is included in capitals',
    spf(found('v=spf1 include:SendGrid.NET -all'), at('smtp.sendgrid.net')),
    'ok',
    /include:sendgrid\.net/,
  ],
  [
    'SPF: a known relay that is not included',
    spf(found('v=spf1 mx -all'), at('smtp.sendgrid.net', host('192.0.2.7', 'fail'))),
    'warn',
    /does not include/,
    'change: example.com TXT "v=spf1 include:sendgrid.net mx -all"',
  ],
  [
    'SPF: a name that only looks like a known relay',
    spf(found('v=spf1 mx -all'), at('smtp.notsendgrid.net')),
    'ok',
    /cannot be seen from here/,
  ],
  [
    'SPF: nothing about the others',
    spf(found('v=spf1 ip4:192.0.2.7'), named(host('192.0.2.7', 'pass'))),
    'warn',
    /says nothing about other senders/,
  ],
  [
    'SPF: ?all is nothing about the others',
    spf(found('v=spf1 ip4:192.0.2.7 ?all'), named(host('192.0.2.7', 'pass'))),
    'warn',
    /says nothing about other senders/,
  ],
  [
    'SPF: a redirect says it elsewhere',
    spf(found('v=spf1 redirect=a.example'), named(host('192.0.2.7', 'pass'))),
    'ok',
    /^lets/,
  ],
  [
    'SPF: ptr goes before the others',
    spf(found('v=spf1 ptr'), named(host('192.0.2.7', 'pass'))),
    'warn',
    /ptr is no longer honoured/,
  ],
  [
    'SPF: ptr is out of use',
    spf(found('v=spf1 ptr -all'), named(host('192.0.2.7', 'pass'))),
    'warn',
    /ptr/,
  ],
]);

const newKey = (modulusLength: number) =>
  generateKeyPairSync('rsa', { modulusLength }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string;
const [key, otherKey, smallKey] = [newKey(2048), newKey(2048), newKey(1024)];
const dkim = (texts: DnsAnswer<string>, own = key) =>
  judgeDkim({
    at: 'ask._domainkey.example.com',
    expected: dkimRecordFor(own),
    published: mapAnswer(texts, (found) => found.map((text) => compareDkim(text, own))),
  });
const value = dkimRecordFor(key);
const line = `ask._domainkey.example.com TXT "${value.slice(0, 255)}" "${value.slice(255)}"`;

check([
  ['DKIM: not set', unsigned(), 'warn', /ASKBACK_DKIM_KEY_FILE/],
  ['DKIM: the key is there', dkim(found(value)), 'ok', /RSA 2048 bits/],
  ['DKIM: no such name', dkim(noName), 'fail', /no such record/, `add: ${line}`],
  ['DKIM: nothing under the name', dkim(nothing), 'fail', /no such record/, `add: ${line}`],
  ['DKIM: it cannot be looked up', dkim(failed), 'fail', /cannot be looked up/],
  ['DKIM: two records', dkim(found(value, value)), 'fail', /2 records/, `change: ${line}`],
  [
    'DKIM: another key',
    dkim(found(dkimRecordFor(otherKey))),
    'fail',
    /another key/,
    `change: ${line}`,
  ],
  ['DKIM: withdrawn', dkim(found('v=DKIM1; p=')), 'fail', /withdrawn/, `change: ${line}`],
  [
    'DKIM: a mistake',
    dkim(found(`k=ed25519; ${value.slice(value.indexOf('p='))}`)),
    'fail',
    /k= must be rsa/,
    `change: ${line}`,
  ],
  [
    'DKIM: a mistake in a record that was withdrawn',
    dkim(found('v=DKIM2; p=')),
    'fail',
    /v= must be DKIM1/,
    `change: ${line}`,
  ],
  [
    'DKIM: another key, in testing',
    dkim(found(`${dkimRecordFor(otherKey)}; t=y`)),
    'fail',
    /another key/,
    `change: ${line}`,
  ],
  ['DKIM: in testing', dkim(found(`${value}; t=y`)), 'warn', /t=y/, `change: ${line}`],
  [
    'DKIM: a small key',
    dkim(found(dkimRecordFor(smallKey)), smallKey),
    'warn',
    /1024 bits: make one of 2048/,
  ],
]);

const steps = (records: Record<string, string[]>, domain: string) => ({
  domain,
  walked: {
    steps: domain
      .split('.')
      .map((_, place, all) => all.slice(place).join('.'))
      .map((each) => ({ domain: each, records: (records[each] ?? []).map(readDmarc) })),
  },
});
const none = { 'example.com': ['v=DMARC1; p=none'] };
const strict = { 'example.com': ['v=DMARC1; p=reject; adkim=s; aspf=s'] };
const dmarc = (records: Record<string, string[]>, domain = 'example.com') =>
  judgeDmarc(steps(records, domain));

check([
  [
    'DMARC: no record',
    dmarc({}),
    'fail',
    /no DMARC record/,
    'add: _dmarc.example.com TXT "v=DMARC1; p=none"',
  ],
  [
    'DMARC: no record at a subdomain',
    dmarc({}, 'news.example.com'),
    'fail',
    /no DMARC record/,
    'add: _dmarc.news.example.com TXT "v=DMARC1; p=none"',
  ],
  ['DMARC: none', dmarc(none), 'ok', /its record says none/],
  ['DMARC: reject', dmarc(strict), 'ok', /its record says reject/],
  [
    'DMARC: the organization’s record',
    dmarc({ 'example.com': ['v=DMARC1; p=reject; sp=none'] }, 'news.example.com'),
    'ok',
    /the record of example\.com says none/,
  ],
  [
    'DMARC: the domain’s own record goes first',
    dmarc({ ...strict, 'news.example.com': ['v=DMARC1; p=quarantine'] }, 'news.example.com'),
    'ok',
    /its record says quarantine/,
  ],
  [
    'DMARC: two records',
    dmarc({ 'example.com': ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] }),
    'fail',
    /2 records/,
  ],
  [
    'DMARC: two records, and two of the organization',
    dmarc(
      {
        'news.example.com': ['v=DMARC1; p=none', 'v=DMARC1; p=reject'],
        'example.com': ['v=DMARC1; p=none', 'v=DMARC1', 'v=DMARC1; p=reject'],
      },
      'news.example.com',
    ),
    'fail',
    /^_dmarc\.news\.example\.com has 2 records/,
  ],
  ['DMARC: a mistake', dmarc({ 'example.com': ['v=DMARC1; p=block'] }), 'fail', /p=block must be/],
  [
    'DMARC: it cannot be looked up',
    judgeDmarc({
      domain: 'example.com',
      walked: { failed: '_dmarc.example.com cannot be looked up: x' },
    }),
    'fail',
    /cannot be looked up/,
  ],
]);

const aligned = (
  records: Record<string, string[]>,
  from: string,
  dkimAs: string | null,
  returnPath: string,
) =>
  judgeAlignment({
    from: steps(records, from),
    dkim: dkimAs === null ? null : steps(records, dkimAs),
    returnPath: steps(records, returnPath),
  })!;
const other = { ...none, 'other.example': ['v=DMARC1; p=none'] };

check([
  [
    'alignment: both the same',
    aligned(none, 'example.com', 'example.com', 'example.com'),
    'ok',
    /both speak/,
  ],
  [
    'alignment: both under the same organization',
    aligned(none, 'news.example.com', 'example.com', 'bounces.example.com'),
    'ok',
    /both speak/,
  ],
  [
    'alignment: DKIM alone is enough',
    aligned(other, 'example.com', 'example.com', 'other.example'),
    'ok',
    /which is enough/,
  ],
  [
    'alignment: SPF alone is lost on the way',
    aligned(other, 'example.com', 'other.example', 'example.com'),
    'warn',
    /forwarded: set ASKBACK_DKIM_DOMAIN to example\.com or a name under it/,
  ],
  [
    'alignment: neither DKIM nor SPF',
    aligned(other, 'example.com', 'other.example', 'other.example'),
    'fail',
    /every mail fails DMARC: set ASKBACK_DKIM_DOMAIN/,
  ],
  [
    'alignment: unsigned, with a return address of its own',
    aligned(none, 'example.com', null, 'example.com'),
    'ok',
    /lost when a mail is forwarded/,
  ],
  [
    'alignment: unsigned, with a strange return address',
    aligned(other, 'example.com', null, 'other.example'),
    'warn',
    /unless your mail server signs as example\.com/,
  ],
  [
    'alignment: strict takes no name above',
    aligned(strict, 'news.example.com', 'example.com', 'news.example.com'),
    'warn',
    /set ASKBACK_DKIM_DOMAIN to news\.example\.com$/,
  ],
  [
    'alignment: strict takes no return address below',
    aligned(strict, 'example.com', 'example.com', 'bounces.example.com'),
    'ok',
    /aspf strict\) does not/,
  ],
  [
    'alignment: strict and both at other subdomains',
    aligned(strict, 'example.com', 'mail.example.com', 'bounces.example.com'),
    'fail',
    /adkim strict/,
  ],
]);

test('alignment: nothing is said where there is no policy to go by', () => {
  assert.equal(aligned({}, 'example.com', 'other.example', 'other.example'), undefined);
});

const mx = (
  exchanges: DnsAnswer<{ exchange: string; priority: number }>,
  addresses: DnsAnswer<string>,
) => judgeMx({ domain: 'example.com', what: 'bounces', exchanges, addresses });
const exchange = { exchange: 'mx.example.com', priority: 10 };
const ptr = (names: DnsAnswer<string>, ...confirmed: string[]) =>
  judgePtr({ ip: '192.0.2.7', names, confirmed });

check([
  [
    'MX: an exchanger with an address',
    mx(found(exchange), found('192.0.2.7')),
    'ok',
    /bounces go to mx\.example\.com/,
  ],
  [
    'MX: an exchanger without an address',
    mx(found(exchange), noName),
    'fail',
    /mx\.example\.com has no address/,
  ],
  [
    'MX: an exchanger that cannot be looked up',
    mx(found(exchange), failed),
    'fail',
    /mx\.example\.com cannot/,
  ],
  [
    'MX: no mail wanted',
    mx(found({ exchange: '', priority: 0 }), nothing),
    'fail',
    /takes no mail/,
  ],
  [
    'MX: no mail wanted, next to an exchanger',
    mx(found(exchange, { exchange: '.', priority: 20 }), found('192.0.2.7')),
    'fail',
    /takes no mail/,
  ],
  [
    'MX: no mail wanted, by a name that cannot be looked up',
    mx(found({ exchange: '', priority: 0 }), failed),
    'fail',
    /takes no mail/,
  ],
  [
    'MX: none, and its address cannot be looked up',
    mx(nothing, failed),
    'fail',
    /^example\.com cannot/,
  ],
  ['MX: none, but an address', mx(nothing, found('192.0.2.7')), 'warn', /no MX record/],
  ['MX: neither MX nor address', mx(nothing, nothing), 'fail', /neither MX nor address/],
  ['MX: no such domain', mx(noName, noName), 'fail', /does not exist/],
  ['MX: it cannot be looked up', mx(failed, failed), 'fail', /cannot be looked up/],
  [
    'PTR: a name that leads back',
    ptr(found('mail.example.com'), 'mail.example.com'),
    'ok',
    /and back/,
  ],
  [
    'PTR: the first of the names that lead back',
    ptr(found('a.example.com', 'b.example.com', 'c.example.com'), 'b.example.com', 'c.example.com'),
    'ok',
    /^b\.example\.com, and back$/,
  ],
  [
    'PTR: a name that does not lead back',
    ptr(found('host7.isp.example')),
    'fail',
    /host7\.isp\.example does not lead back/,
  ],
  ['PTR: no name', ptr(noName), 'fail', /has no name/],
  ['PTR: it cannot be looked up', ptr(failed), 'warn', /cannot be looked up/],
]);
