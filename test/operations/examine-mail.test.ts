import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examineMail } from '../../src/operations/examine-mail.ts';
import { fakeResolver } from '../support/fakes/dns.ts';

const counts: [domains: number, looked: number, said?: string][] = [
  [1, 1],
  [20, 20],
  [21, 20, 'only 20 of 21 domains were looked at'],
];
for (const [domains, looked, said] of counts) {
  test(`of ${domains} domains that surveys are sent from ${looked} are looked at`, async () => {
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
