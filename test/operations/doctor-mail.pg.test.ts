import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { nameServer, servfail } from '../support/fakes/dns.ts';
import { scriptedSmtp } from '../support/fakes/smtp-server.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { addressIn, askback, secretKey, startService } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const environment = { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey };
const service = startService({ ...environment, PORT: '0' });
const publicUrl = addressIn(await service.ready());
const { url: smtpUrl, seen } = await scriptedSmtp();
const organization = await makeOrganization(db);
await makeSurvey(db, organization, { from_email: 'Ann@News.Example.com' });
await makeSurvey(db, organization, {
  from_email: 'ann@gone.example',
  status: 'completed',
  completed_by: 'hand',
});

const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
}) as string;
const signing = {
  ASKBACK_DKIM_DOMAIN: 'example.com',
  ASKBACK_DKIM_SELECTOR: 'ask',
  ASKBACK_DKIM_KEY: key,
};

type Check = { name: string; status: string; message: string; records?: { value: string }[] };

const doctor = (words: string[], over: Record<string, string> = {}) =>
  askback(['doctor', ...words], {
    ...environment,
    ASKBACK_PUBLIC_URL: publicUrl,
    ASKBACK_SMTP_URL: smtpUrl,
    ASKBACK_BOUNCE_DOMAIN: 'bounces.example.com',
    ...over,
  });

async function checksOf(words: string[], over: Record<string, string> = {}) {
  const { code, stdout, stderr } = await doctor([...words, '--json'], over);
  assert.equal(stderr, '');
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Check[] };
  return {
    code,
    ok,
    mail: checks.slice(checks.findIndex(({ name }) => name === 'public URL') + 1),
  };
}

const statuses = (checks: Check[]) => checks.map(({ name, status }) => `${name} ${status}`);

test('a missing record is shown as it goes into DNS, and passes once it is there', async () => {
  const words = ['--sends-from', '192.0.2.7', '--resolver'];
  const bare = await nameServer({
    'MX news.example.com': ['10 mx.example.com'],
    'MX bounces.example.com': ['10 mx.example.com'],
    'A mx.example.com': ['192.0.2.25'],
    'PTR 7.2.0.192.in-addr.arpa': ['out.example.com'],
    'A out.example.com': ['192.0.2.7'],
  });
  const before = await checksOf([...words, bare.server], signing);
  assert.deepEqual([before.code, before.ok], [1, false]);
  assert.deepEqual(statuses(before.mail), [
    `SMTP ${smtpUrl.slice(7)} ok`,
    'unsubscribe URL warn',
    'DKIM ask._domainkey.example.com fail',
    'SPF bounces.example.com fail',
    'MX bounces.example.com ok',
    'DMARC news.example.com fail',
    'MX news.example.com ok',
    'PTR 192.0.2.7 ok',
  ]);

  const { stdout } = await doctor([...words, bare.server], signing);
  const added = [...stdout.matchAll(/^ +add: (\S+) TXT (".*")$/gm)].map(([, name, strings]) => [
    `TXT ${name}`,
    [[...strings!.matchAll(/"([^"]*)"/g)].map(([, string]) => string).join('')],
  ]);
  assert.deepEqual(
    added.map(([name]) => name),
    ['TXT ask._domainkey.example.com', 'TXT bounces.example.com', 'TXT _dmarc.news.example.com'],
  );

  const mended = await nameServer({
    ...Object.fromEntries(added),
    'TXT _dmarc.example.com': ['v=DMARC1; p=none'],
    'MX news.example.com': ['10 mx.example.com'],
    'MX bounces.example.com': ['10 mx.example.com'],
    'A mx.example.com': ['192.0.2.25'],
    'PTR 7.2.0.192.in-addr.arpa': ['out.example.com'],
    'A out.example.com': ['192.0.2.7'],
  });
  const after = await checksOf([...words, mended.server], signing);
  assert.deepEqual([after.code, after.ok], [0, true]);
  assert.deepEqual(
    statuses(after.mail).filter((line) => !line.endsWith(' ok')),
    ['unsubscribe URL warn'], // it is this machine's own address
  );
  assert.ok(after.mail.some(({ name }) => name === 'alignment news.example.com'));
});

test('the doctor sends no mail, and tries no login where none is set', async () => {
  const { server } = await nameServer({});
  await doctor(['--resolver', server]);
  const words = seen.commands.map((line) => line.split(' ')[0]);
  assert.deepEqual([...new Set(words)].sort(), ['EHLO', 'QUIT']);
});

test('only senders that may still send are looked at, and those that are named', async () => {
  const { server } = await nameServer({ 'TXT broken.example': [servfail] });
  const { mail } = await checksOf(['--resolver', server, '--from', 'a@Bücher.example']);
  const looked = mail.flatMap(({ name }) => /^DMARC (.*)/.exec(name)?.[1] ?? []);
  assert.deepEqual(looked, ['xn--bcher-kva.example', 'news.example.com']);
});

test('without a mail server a sender that is named is looked at all the same', async () => {
  const { server } = await nameServer({ 'TXT _dmarc.a.example': [servfail] });
  const { code, mail } = await checksOf(['--resolver', server, '--from', 'x@a.example'], {
    ASKBACK_SMTP_URL: '',
    ASKBACK_BOUNCE_DOMAIN: '',
  });
  assert.equal(code, 1);
  assert.deepEqual(statuses(mail), [
    'SMTP warn',
    'DKIM warn',
    'SPF a.example fail',
    'DMARC a.example fail',
    'MX a.example fail',
  ]);
  assert.match(mail[3]!.message, /SERVFAIL/);
});

test('before the first survey, what needs no sender is looked at', async () => {
  const { url: fresh } = await testDatabase();
  const { server } = await nameServer({ 'TXT bounces.example.com': ['v=spf1 -all'] });
  const { mail } = await checksOf(['--resolver', server], { ...signing, DATABASE_URL: fresh });
  assert.deepEqual(statuses(mail), [
    `SMTP ${smtpUrl.slice(7)} ok`,
    'unsubscribe URL warn',
    'DKIM ask._domainkey.example.com fail',
    'SPF bounces.example.com ok',
    'MX bounces.example.com fail',
    'sender warn',
  ]);
});

test('a service with PORT=0 is found by the service record', async () => {
  const { checks } = JSON.parse(
    (await doctor(['--json'], { PORT: '0', ASKBACK_PUBLIC_URL: '', ASKBACK_SMTP_URL: '' })).stdout,
  );
  const found = (checks as Check[]).find(({ name }) => name === 'public URL');
  assert.deepEqual(found, {
    name: 'public URL',
    status: 'ok',
    message: `${publicUrl} works on this machine only`,
  });
});

test('wrong options are refused before anything is examined', async () => {
  for (const words of [
    ['--resolver', 'dns.example'],
    ['--resolver', '127.0.0.1:0'],
    ['--resolver', '127.0.0.1:65536'],
    ['--from', 'no-address'],
    ['--sends-from', 'mail.example.com'],
  ]) {
    const { code, stderr } = await doctor(words);
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`${words[0]} must be an`));
  }
});
