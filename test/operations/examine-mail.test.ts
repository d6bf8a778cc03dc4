import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examineMail } from '../../src/operations/doctor-mail.ts';
import { fakeResolver, type Zone } from '../support/fakes/dns.ts';

/** Findings and DNS queries for one sender. The sending addresses are unknown without a mail server. */
async function look(zone: Zone, over: { smtpUrl?: string; sendsFrom?: string[] } = {}) {
  const asked: string[] = [];
  const { smtpUrl = null, sendsFrom = [] } = over;
  const found = await examineMail(
    { dns: fakeResolver(zone, asked), settings: { smtpUrl, bounceDomain: null, dkim: null } },
    { senders: ['ann@a.example'], sendsFrom, publicUrl: null },
  );
  const of = (name: string) => found.find((finding) => finding.name === `${name} a.example`);
  return { asked, spf: of('SPF')?.message, mx: of('MX')?.message };
}

const counts: [domains: number, looked: number, said?: string][] = [
  [1, 1],
  [20, 20],
  [21, 20, 'only 20 of 21 domains were checked'],
];
for (const [domains, looked, said] of counts) {
  test(`examineMail checks ${looked} of ${domains} sender domains`, async () => {
    const names = Array.from({ length: domains }, (_, n) => `shop${n}.example`);
    const asked: string[] = [];
    const found = await examineMail(
      {
        dns: fakeResolver({}, asked),
        settings: { smtpUrl: null, bounceDomain: null, dkim: null },
      },
      { senders: names.map((name) => `ann@${name}`), sendsFrom: ['192.0.2.1'], publicUrl: null },
    );
    const known = names.filter((name) => asked.includes(`TXT _dmarc.${name}`));
    assert.deepEqual(known, names.slice(0, looked));
    const complaints = found.filter(({ name }) => name === 'sender').map(({ message }) => message);
    assert.deepEqual(complaints, said ? [said] : []);
  });
}

const closed: Zone = {
  'TXT a.example': ['v=spf1 -all'],
  'A localhost': ['127.0.0.1', '8.8.8.8'],
};
const unseen =
  'is well-formed, 0 of 10 lookups; to check whether it allows your mail server, use --sends-from';
const servers: [why: string, smtpUrl: string, message: string, asked: string[]][] = [
  [
    'examineMail resolves the mail server to public addresses',
    'smtp://LocalHost:1',
    'the record does not allow 8.8.8.8, the address of localhost; if emails are sent from elsewhere, use --sends-from',
    ['A localhost', 'AAAA localhost'],
  ],
  [
    'examineMail does not resolve the IP address of a mail server',
    'smtp://127.0.0.1:1',
    unseen,
    [],
  ],
];
for (const [why, smtpUrl, message, lookedUp] of servers) {
  test(why, async () => {
    const { spf, asked } = await look(closed, { smtpUrl });
    assert.equal(spf, message);
    assert.deepEqual(
      asked.filter(
        (question) => /^(PTR|AA?A?A?) /.test(question) && !/ a\.example$/.test(question),
      ),
      lookedUp,
    );
  });
}

test('--sends-from replaces the addresses of the mail server', async () => {
  const over = { smtpUrl: 'smtp://localhost:1', sendsFrom: ['192.0.2.7', '192.0.2.8'] };
  const { spf, asked } = await look(closed, over);
  assert.equal(spf, 'the record does not let 192.0.2.7 (fail), 192.0.2.8 (fail) send');
  assert.ok(!asked.includes('A localhost'));
  assert.deepEqual(
    asked.filter((question) => question.startsWith('PTR ')),
    ['PTR 192.0.2.7', 'PTR 192.0.2.8'],
  );
});
