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

test('doctor shows a missing record and passes once it exists', async () => {
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

test('doctor sends no email, and does not log in without a user', async () => {
  const { server } = await nameServer({});
  await doctor(['--resolver', server]);
  const words = seen.commands.map((line) => line.split(' ')[0]);
  assert.deepEqual([...new Set(words)].sort(), ['EHLO', 'QUIT']);
});

test('doctor checks active senders and named ones', async () => {
  const { server } = await nameServer({ 'TXT broken.example': [servfail] });
  const { mail } = await checksOf(['--resolver', server, '--from', 'a@Bücher.example']);
  const looked = mail.flatMap(({ name }) => /^DMARC (.*)/.exec(name)?.[1] ?? []);
  assert.deepEqual(looked, ['xn--bcher-kva.example', 'news.example.com']);
});
