import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import {
  dkimRecordFor,
  examineDkim,
  examineDmarc,
  examineMx,
  examinePtr,
  examineSpf,
  type Machines,
} from '../../../src/operations/doctor-dns.ts';
import { type Finding, recordLine } from '../../../src/operations/findings.ts';
import { fakeResolver, servfail, type Zone } from '../../support/fakes/dns.ts';

function checkFinding(
  finding: Finding | undefined,
  status: Finding['status'],
  says: RegExp,
  records: string[] = [],
) {
  assert.ok(finding);
  assert.equal(finding.status, status, finding.message);
  assert.match(finding.message, says);
  assert.deepEqual((finding.records ?? []).map(recordLine), records);
}

const unknown: Machines = { ips: [], isExact: false, relay: 'localhost' };
const named = (...ips: string[]): Machines => ({ ips, isExact: true, relay: null });
const at = (relay: string, ...ips: string[]): Machines => ({ ips, isExact: false, relay });
const elsewhere: Zone = {
  'TXT _spf.relay.example': ['v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/32 -all'],
  'TXT loop.example': ['v=spf1 include:loop.example -all'],
  'TXT bad.example': ['v=spf1 ip4:1.2.3 -all'],
  'TXT broken.example': [servfail],
  'TXT two.example': ['v=spf1 -all', 'v=spf1 +all'],
  'A mail.example.com': ['192.0.2.7'],
  'A 192.0.2.7.list.example.com': ['127.0.0.2'],
  'TXT sendgrid.net': ['v=spf1 ip4:192.0.2.99 -all'],
  ...Object.fromEntries(
    Array.from({ length: 11 }, (_, n) => [`TXT i${n}.example`, ['v=spf1 ip4:203.0.113.1 -all']]),
  ),
};
const includes = (count: number) =>
  Array.from({ length: count }, (_, n) => `include:i${n}.example`).join(' ');

type SpfCase = [
  why: string,
  texts: string[],
  machines: Machines,
  status: Finding['status'],
  says: RegExp,
  record?: string,
];
const spfCases: SpfCase[] = [
  ['cannot be looked up', [servfail], unknown, 'fail', /^cannot be looked up: its name servers/],
  ['is missing and the senders are unknown', ['hello'], unknown, 'fail', /--sends-from/],
  [
    'is missing and the senders are named',
    ['hello'],
    named('192.0.2.7', '2001:db8::7'),
    'fail',
    /no SPF record/,
    'add: example.com TXT "v=spf1 ip4:192.0.2.7 ip6:2001:db8::7 ~all"',
  ],
  [
    'is missing and the relay is known',
    ['hello'],
    at('smtp.gmail.com', '142.250.1.1'),
    'fail',
    /no SPF record/,
    'add: example.com TXT "v=spf1 include:_spf.google.com ~all"',
  ],
  ['is there twice', ['v=spf1 -all', 'v=spf1 a -all'], unknown, 'fail', /there are 2 records/],
  ['has a mistake', ['v=spf1 ip4:1.2.3 -all'], unknown, 'fail', /ignore the record: .*ip4/],
  ['needs ten lookups', [`v=spf1 ${includes(10)} -all`], unknown, 'ok', /10 of 10 lookups/],
  ['needs eleven lookups', [`v=spf1 ${includes(11)} -all`], unknown, 'fail', /more than 10 lookup/],
  [
    'includes a domain whose lookup fails',
    ['v=spf1 include:broken.example -all'],
    unknown,
    'fail',
    /: broken\.example cannot be looked up/,
  ],
  ['lets anyone send', ['v=spf1 +all'], unknown, 'fail', /lets anyone send/],
  [
    'names the machine',
    ['v=spf1 ip4:192.0.2.7 -all'],
    named('192.0.2.7'),
    'ok',
    /^lets 192\.0\.2\.7 send, 0 of 10 lookups$/,
  ],
  [
    'names the machine by an include',
    ['v=spf1 include:_spf.relay.example -all'],
    named('192.0.2.7', '2001:db8::7'),
    'ok',
    /^lets 192\.0\.2\.7, 2001:db8::7 send, 1 of 10 lookups$/,
  ],
  [
    'names one of two machines',
    ['v=spf1 ip4:192.0.2.7 -all'],
    named('192.0.2.7', '192.0.2.8'),
    'fail',
    /does not let 192\.0\.2\.8 \(fail\) send/,
    'change: example.com TXT "v=spf1 ip4:192.0.2.8 ip4:192.0.2.7 -all"',
  ],
  [
    'names the relay',
    ['v=spf1 a:mail.example.com -all'],
    at('mail.example.com', '192.0.2.7'),
    'ok',
    /^lets 192\.0\.2\.7 send/,
  ],
  [
    'does not name the relay, which may send from elsewhere',
    ['v=spf1 -all'],
    at('mail.example.com', '192.0.2.7'),
    'warn',
    /--sends-from/,
    'change: example.com TXT "v=spf1 ip4:192.0.2.7 -all"',
  ],
  [
    'does not include a known relay',
    ['v=spf1 ip4:192.0.2.1 -all'],
    at('smtp.sendgrid.net', '192.0.2.7'),
    'warn',
    /does not include/,
    'change: example.com TXT "v=spf1 include:sendgrid.net ip4:192.0.2.1 -all"',
  ],
  [
    'does not restrict other senders',
    ['v=spf1 ip4:192.0.2.7'],
    named('192.0.2.7'),
    'warn',
    /does not restrict other senders/,
  ],
];
for (const [why, texts, machines, status, says, record] of spfCases) {
  test(`SPF is ${status} when the record ${why}`, async () => {
    const dns = fakeResolver({ ...elsewhere, 'TXT example.com': texts });
    const finding = await examineSpf(dns, 'example.com', machines);
    checkFinding(finding, status, says, record ? [record] : []);
  });
}

test('SPF fails when the domain does not exist', async () => {
  const finding = await examineSpf(fakeResolver({}), 'example.com', unknown);
  checkFinding(finding, 'fail', /does not exist/);
});

const newKey = (modulusLength: number) =>
  generateKeyPairSync('rsa', { modulusLength }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string;
const [key, otherKey, smallKey] = [newKey(2048), newKey(2048), newKey(1024)];
const value = dkimRecordFor(key);
const p = value.slice(value.indexOf('p='));
const keyName = 'ask._domainkey.example.com';
const keyLine = `${keyName} TXT "${value.slice(0, 255)}" "${value.slice(255)}"`;

type DkimCase = [why: string, texts: string[], status: Finding['status'], says: RegExp];
const dkimCases: DkimCase[] = [
  ['is ours', [value], 'ok', /RSA 2048 bits/],
  ['is there twice', [value, value], 'fail', /2 records/],
  ['is a different one', [`${dkimRecordFor(otherKey)}; t=y`], 'fail', /does not contain the key/],
  ['was revoked', ['v=DKIM1; p='], 'fail', /revoked/],
  ['is of another kind', [`k=ed25519; ${p}`], 'fail', /wrong: Unknown key type/],
  ['is for other hashes', [`v=DKIM1; h=sha1; ${p}`], 'fail', /sha256/],
  ['is cut off', [value.slice(0, 120)], 'fail', /record is wrong/],
  ['is in testing', [`${value}; t=y`], 'warn', /t=y/],
];
for (const [why, texts, status, says] of dkimCases) {
  test(`DKIM is ${status} when the key ${why}`, async () => {
    const finding = await examineDkim(fakeResolver({ [`TXT ${keyName}`]: texts }), keyName, key);
    checkFinding(finding, status, says, status === 'ok' ? [] : [`change: ${keyLine}`]);
  });
}

test('DKIM fails without a record, and shows the one to add', async () => {
  const finding = await examineDkim(fakeResolver({}), keyName, key);
  checkFinding(finding, 'fail', /no such record/, [`add: ${keyLine}`]);
});

test('DKIM fails when the name servers fail', async () => {
  const finding = await examineDkim(fakeResolver({ [`TXT ${keyName}`]: [servfail] }), keyName, key);
  checkFinding(finding, 'fail', /cannot be looked up/);
});

test('DKIM warns of a small key', async () => {
  const zone = { [`TXT ${keyName}`]: [dkimRecordFor(smallKey)] };
  const { status, message } = await examineDkim(fakeResolver(zone), keyName, smallKey);
  assert.equal(status, 'warn');
  assert.match(message, /1024 bits: use 2048 bits/);
});

type DmarcCase = [why: string, zone: Zone, status: Finding['status'], says: RegExp, add?: string];
const own = '_dmarc.news.example.com';
const dmarcCases: DmarcCase[] = [
  ['is missing', {}, 'fail', /no DMARC record/, `add: ${own} TXT "v=DMARC1; p=none"`],
  ['says none', { [`TXT ${own}`]: ['v=DMARC1; p=none'] }, 'ok', /its record says none/],
  [
    'is from the organizational domain',
    { 'TXT _dmarc.example.com': ['v=DMARC1; p=reject; sp=none'] },
    'ok',
    /the record of example\.com says none/,
  ],
  [
    'is there twice',
    { [`TXT ${own}`]: ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] },
    'fail',
    /^_dmarc\.news\.example\.com has 2 records/,
  ],
  ['has a wrong policy', { [`TXT ${own}`]: ['v=DMARC1; p=block'] }, 'fail', /receivers ignore its/],
  [
    'cannot be looked up',
    { [`TXT ${own}`]: [servfail] },
    'fail',
    /_dmarc\.news.* cannot be looked/,
  ],
];
for (const [why, zone, status, says, record] of dmarcCases) {
  test(`DMARC is ${status} when the policy ${why}`, async () => {
    const from = 'news.example.com';
    const parties = { from, signer: from, returnPath: from };
    const [finding] = await examineDmarc(fakeResolver(zone), parties);
    checkFinding(finding, status, says, record ? [record] : []);
  });
}

const none: Zone = { 'TXT _dmarc.example.com': ['v=DMARC1; p=none'] };
const strict: Zone = { 'TXT _dmarc.example.com': ['v=DMARC1; p=reject; adkim=s; aspf=s'] };
const both: Zone = { ...none, 'TXT _dmarc.other.example': ['v=DMARC1; p=none'] };
const [news, bounces] = ['news.example.com', 'bounces.example.com'];
type AlignmentCase = [
  why: string,
  zone: Zone,
  parties: [from: string, signer: string | null, returnPath: string],
  status: Finding['status'],
  says: RegExp,
];
const alignmentCases: AlignmentCase[] = [
  [
    'all domains are equal',
    none,
    ['example.com', 'example.com', 'example.com'],
    'ok',
    /are aligned/,
  ],
  [
    'DKIM alone is aligned',
    both,
    ['example.com', 'example.com', 'other.example'],
    'ok',
    /which is enough/,
  ],
  [
    'SPF alone is aligned',
    both,
    [news, 'other.example', 'example.com'],
    'warn',
    /forwarded: set ASKBACK_DKIM_DOMAIN to example\.com or a name under it/,
  ],
  [
    'neither is aligned',
    both,
    ['example.com', 'other.example', 'other.example'],
    'fail',
    /every email fails DMARC: set ASKBACK_DKIM_DOMAIN/,
  ],
  [
    'nothing is signed',
    none,
    ['example.com', null, 'example.com'],
    'ok',
    /fails when an email is forwarded/,
  ],
  [
    'nothing is signed or aligned',
    both,
    ['example.com', null, 'other.example'],
    'warn',
    /unless your mail server signs as example\.com/,
  ],
  [
    'both are strict, and at other names',
    strict,
    ['example.com', news, bounces],
    'fail',
    /adkim strict/,
  ],
];
for (const [why, zone, [from, signer, returnPath], status, says] of alignmentCases) {
  test(`alignment is ${status} when ${why}`, async () => {
    const [, finding] = await examineDmarc(fakeResolver(zone), { from, signer, returnPath });
    checkFinding(finding, status, says);
  });
}

test('alignment is not checked without a policy', async () => {
  const parties = { from: news, signer: news, returnPath: news };
  assert.equal((await examineDmarc(fakeResolver({}), parties)).length, 1);
});

const mx = (...exchanges: string[]): Zone => ({ 'MX example.com': exchanges });
const mxCases: [why: string, zone: Zone, status: Finding['status'], says: RegExp][] = [
  [
    'the exchanger has an address',
    { ...mx('10 mx.example.com'), 'A mx.example.com': ['192.0.2.7'] },
    'ok',
    /bounces go to mx\.example\.com/,
  ],
  ['the exchanger has no address', mx('10 mx.example.com'), 'fail', /mx\.example\.com has no/],
  ['the MX is null', mx('0 .'), 'fail', /accepts no mail/],
  ['there is only an address', { 'A example.com': ['192.0.2.7'] }, 'warn', /no MX record/],
  ['the domain does not exist', {}, 'fail', /does not exist/],
  ['it cannot be looked up', mx(servfail), 'fail', /cannot be looked up/],
];
for (const [why, zone, status, says] of mxCases) {
  test(`MX is ${status} when ${why}`, async () =>
    checkFinding(await examineMx(fakeResolver(zone), 'example.com', 'bounces'), status, says));
}

const ptr = (...names: string[]): Zone => ({ 'PTR 192.0.2.7': names });
const ptrCases: [why: string, zone: Zone, status: Finding['status'], says: RegExp][] = [
  [
    'one of its names resolves back',
    { ...ptr('a.example.com', 'b.example.com'), 'A b.example.com': ['192.0.2.7'] },
    'ok',
    /^b\.example\.com resolves back to it$/,
  ],
  ['its name does not resolve back', ptr('host7.isp.example'), 'fail', /does not resolve back/],
  ['it cannot be looked up', ptr(servfail), 'warn', /cannot be looked up/],
];
for (const [why, zone, status, says] of ptrCases) {
  test(`PTR is ${status} when ${why}`, async () =>
    checkFinding(await examinePtr(fakeResolver(zone), '192.0.2.7'), status, says));
}
