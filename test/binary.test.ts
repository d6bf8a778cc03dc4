import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { startCollector } from './support/fakes/collector.ts';
import { nameServer } from './support/fakes/dns.ts';
import { scriptedSmtp } from './support/fakes/smtp-server.ts';
import { until } from './support/probe/until.ts';
import { binary, buildBinary, command, emptyFolder, service } from './support/processes/binary.ts';

before(buildBinary);

async function makeKey(cwd: string): Promise<string> {
  const organization = await command(cwd, ['org', 'create', '--name', 'Acme', '--json']);
  const { id } = JSON.parse(organization.stdout);
  const made = await command(cwd, ['key', 'create', '--org', id, '--name', 'k', '--json']);
  return JSON.parse(made.stdout).key;
}

/** True if the service knows the key: the new organization then gets an empty list of surveys. */
async function knows(url: string, key: string): Promise<boolean> {
  const response = await fetch(`${url}/api/v1/surveys`, { headers: { 'X-API-Key': key } });
  if (response.status === 401) return false;
  assert.equal(response.status, 200);
  const { data } = (await response.json()) as { data: unknown[] };
  assert.deepEqual(data, []);
  return true;
}

test('the binary is one file of at most 150 MB', () => {
  assert.ok(statSync(binary).size <= 150_000_000);
});

test('the binary contains the migrations and the embedded Postgres', () => {
  const content = readFileSync(binary);
  for (const name of [...readdirSync('sql/migrations'), 'postgres.zst', 'postgres.json']) {
    assert.ok(content.includes(name), name);
  }
});

test('the binary serves, creates a key and stops in an empty folder', async (t) => {
  const cwd = emptyFolder(t);
  const { child, url, ended, seconds } = await service(cwd);
  t.diagnostic(`first start: ${seconds.toFixed(2)} s`);
  const key = await makeKey(cwd);
  assert.equal(await knows(url, key), true);
  assert.equal(await knows(url, key.replace(/_.{8}_/, '_00000000_')), false);
  child.kill('SIGTERM');
  assert.equal(await ended, 0);
  assert.deepEqual(readdirSync(cwd), ['askback-data']);
});

test("the binary contains the app's styles and scripts, compressed", async (t) => {
  const { url } = await service(emptyFolder(t));
  const page = await (await fetch(`${url}/sign-in`)).text();
  const assets = [...page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path!);
  assert.ok(assets.length >= 4);
  for (const path of assets) {
    const answer = await fetch(url + path, { headers: { 'Accept-Encoding': 'gzip' } });
    assert.equal(answer.headers.get('Content-Encoding'), 'gzip', path);
    assert.ok((await answer.arrayBuffer()).byteLength > 200, path);
  }
});

test('the binary reads comments in a thread that runs nothing else', async (t) => {
  const cwd = emptyFolder(t);
  const { url } = await service(cwd, { ASKBACK_RATE_LIMIT: '1000000' });
  const made = async (words: string[]) =>
    JSON.parse((await command(cwd, [...words, '--json'])).stdout);
  const { id: org } = await made(['org', 'create', '--name', 'Acme', '--ai']);
  const { key } = await made(['key', 'create', '--org', org, '--name', 'k']);
  const asks = ['--question', 'How?', '--from-name', 'Ann', '--from-email', 'ann@acme.test'];
  const survey = await made(['survey', 'create', '--org', org, '--name', 'N', ...asks]);
  const posted = await fetch(url + new URL(survey.share_url).pathname, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ score: 1, comment: 'The app crashes all the time and it is terrible.' }),
  });
  assert.equal(posted.status, 201);

  const headers = { 'X-API-Key': key };
  let read: { ai_summary: string | null } | undefined;
  await until('the comment is read', async () => {
    const list = await fetch(`${url}/api/v1/responses`, { headers });
    [read] = ((await list.json()) as { data: { ai_summary: string | null }[] }).data;
    return read?.ai_summary != null;
  });
  assert.equal(
    read?.ai_summary,
    'A detractor (score 1) writes in a negative tone about mobile and reliability.',
  );
});

test('after a kill -9 the next start of the binary serves the same data', async (t) => {
  const cwd = emptyFolder(t);
  const first = await service(cwd);
  const key = await makeKey(cwd);
  first.child.kill('SIGKILL');
  await first.ended;

  const second = await service(cwd);
  t.diagnostic(`start after a kill: ${second.seconds.toFixed(2)} s`);
  assert.equal(await knows(second.url, key), true);
});

test('a later start of the binary unpacks nothing and keeps the data', async (t) => {
  const cwd = emptyFolder(t);
  const key = await makeKey(cwd);
  const unpacked = readdirSync(join(cwd, 'askback-data')).find((name) => /^postgres-/.test(name));
  const before = statSync(join(cwd, 'askback-data', unpacked!)).ino;

  const { url, seconds } = await service(cwd);
  t.diagnostic(`later start: ${seconds.toFixed(2)} s`);
  assert.equal(await knows(url, key), true);
  assert.equal(statSync(join(cwd, 'askback-data', unpacked!)).ino, before);
});

test("a hostile working directory does not change the binary's behavior", async (t) => {
  const cwd = emptyFolder(t);
  const trace = "require('node:fs').writeFileSync('ran', '')";
  for (const name of ['.graphile-workerrc.cjs', '.graphile-workerrc.js', 'graphile.config.js']) {
    writeFileSync(join(cwd, name), trace);
  }
  mkdirSync(join(cwd, 'tasks'));
  writeFileSync(join(cwd, 'tasks/expire.js'), trace);
  writeFileSync(join(cwd, 'crontab'), 'not a crontab');
  writeFileSync(join(cwd, '.env'), 'PORT=not-a-port');
  const hostile = { NODE_OPTIONS: '--require ./tasks/expire.js' };
  const { url, child, ended } = await service(cwd, hostile);
  assert.equal(await knows(url, await makeKey(cwd)), true);
  child.kill('SIGTERM');
  assert.equal(await ended, 0);
  assert.equal(readdirSync(cwd).includes('ran'), false);
});

test('neither the serving process nor its Postgres runs as root', async (t) => {
  const cwd = emptyFolder(t);
  const { child } = await service(cwd);
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  assert.doesNotMatch(status, /^Uid:.*\b0\b/m);
  assert.notEqual(statSync(join(cwd, 'askback-data/cluster/postmaster.pid')).uid, 0);
});

test('a second process on the same data folder exits with a reason', async (t) => {
  const cwd = emptyFolder(t);
  await service(cwd);
  const second = await command(cwd, ['serve'], { PORT: '0' });
  assert.equal(second.code, 1);
  assert.match(
    second.stderr,
    /^askback: ASKBACK_DATA_DIR: another process already serves from .*/m,
  );
});

test('the binary exits with a reason when its Postgres dies', async (t) => {
  const cwd = emptyFolder(t);
  const { ended, errors } = await service(cwd);
  const pid = readFileSync(join(cwd, 'askback-data/cluster/postmaster.pid'), 'utf8').split('\n')[0];
  const begun = performance.now();
  process.kill(Number(pid), 'SIGKILL');
  assert.equal(await ended, 1);
  assert.ok(performance.now() - begun < 20_000);
  assert.match(await errors, /askback: the embedded Postgres has ended/);
});

test('mail preview works while a service runs', async (t) => {
  const cwd = emptyFolder(t);
  const made = async (words: string[]) => {
    const { stdout } = await command(cwd, [...words, '--json']);
    return JSON.parse(stdout).id as string;
  };
  const org = await made(['org', 'create', '--name', 'Acme']);
  const asks = ['--question', 'Wie war’s?', '--from-name', 'Ann', '--from-email', 'ann@acme.test'];
  const survey = await made(['survey', 'create', '--org', org, '--name', 'N', ...asks]);
  const names = [`mail-${survey}.html`, `mail-${survey}.txt`];

  const alone = await command(cwd, ['mail', 'preview', '--survey', survey]);
  assert.deepEqual([alone.code, alone.stdout], [0, `${names.join('\n')}\n`]);

  const out = join(cwd, 'looked-at');
  mkdirSync(out);
  await service(cwd);
  const meanwhile = await command(cwd, ['mail', 'preview', '--survey', survey, '--out', out]);
  assert.equal(meanwhile.code, 0, meanwhile.stderr);
  assert.deepEqual(readdirSync(out), names);
  for (const name of names) assert.match(readFileSync(join(out, name), 'utf8'), /Wie war’s\?/);
});

test('a backup of the running binary restores into an empty deployment', async (t) => {
  const [old, fresh] = [emptyFolder(t), emptyFolder(t)];
  await service(old);
  const key = await makeKey(old);
  const file = join(old, 'backup');
  const made = await command(old, ['backup', file]);
  assert.equal(made.code, 0, made.stderr);
  const restored = await command(fresh, ['restore', file]);
  assert.equal(restored.code, 0, restored.stderr);
  const { url } = await service(fresh);
  assert.equal(await knows(url, key), true);
});

test('the healthcheck of a container needs no shell and no other program', async (t) => {
  const cwd = emptyFolder(t);
  const { url, child, ended } = await service(cwd);
  const PORT = new URL(url).port;
  const well = await command(cwd, ['healthcheck', '--ready', '--json'], { PORT });
  assert.deepEqual([well.code, well.stderr], [0, '']);
  assert.deepEqual(JSON.parse(well.stdout), { url: `${url}/readyz`, status: 200, healthy: true });
  assert.equal((await command(cwd, ['healthcheck'], { PORT: '0' })).code, 0);
  child.kill('SIGKILL');
  await ended;
  assert.equal((await command(cwd, ['healthcheck'], { PORT })).code, 1);
});

test('the doctor of the binary may ask DNS and the mail server', async (t) => {
  const cwd = emptyFolder(t);
  const smtp = await scriptedSmtp();
  const { server } = await nameServer({
    'TXT example.com': ['v=spf1 ip4:192.0.2.7 -all'],
    'TXT _dmarc.example.com': ['v=DMARC1; p=reject'],
    'MX example.com': ['10 mx.example.com'],
    'A mx.example.com': ['192.0.2.25'],
  });
  const words = ['doctor', '--json', '--from', 'ann@example.com', '--sends-from', '192.0.2.7'];
  const { stdout } = await command(cwd, [...words, '--resolver', server], {
    ASKBACK_SMTP_URL: smtp.url,
  });
  const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string }[] };
  const statusOf = Object.fromEntries(checks.map(({ name, status }) => [name, status]));
  const asked = [
    `SMTP ${smtp.url.slice(7)}`,
    'SPF example.com',
    'DMARC example.com',
    'MX example.com',
  ];
  assert.deepEqual(
    asked.map((name) => statusOf[name]),
    ['ok', 'ok', 'ok', 'ok'],
  );
});

test('the binary exports traces with its built-in SDK', async (t) => {
  const cwd = emptyFolder(t);
  const collector = await startCollector();
  const { child, url, ended } = await service(cwd, {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
  });
  assert.equal((await fetch(`${url}/api/v1/surveys`)).status, 401);
  child.kill('SIGTERM');
  assert.equal(await ended, 0);
  const asked = collector.spans.find(({ name }) => name === 'GET /api/v1/surveys');
  assert.equal(asked?.attributes['http.response.status_code'], 401);
});

test('the binary refuses an unsupported export protocol', async (t) => {
  const asked = { OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
  const { code, stderr } = await command(emptyFolder(t), ['check-config'], asked);
  assert.equal(code, 2);
  assert.match(stderr, /OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not supported: use http/);
});
