import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, suite, test } from 'node:test';
import { connect as connectSecurely } from 'node:tls';
import { maxUploadBytes } from '../../src/contacts/upload.ts';
import { makeCertificate } from '../support/fakes/certificate.ts';
import { testDatabase } from '../support/probe/database.ts';
import { until } from '../support/probe/until.ts';
import { freePort } from '../support/processes/free-port.ts';
import { addressIn, secretKey, startService } from '../support/processes/program.ts';

const name = 'feedback.example.com';
/** Requests per minute that a client may make without a working key. */
const strangersLimit = 60;
const folder = mkdtempSync(join(tmpdir(), 'askback-proxies-'));
const { key, cert } = makeCertificate(name);
const file = (path: string, text: string) => {
  writeFileSync(join(folder, path), text);
  return join(folder, path);
};
const certFile = file('feedback.pem', cert);
const keyFile = file('feedback.key', key);
const bothFile = file('feedback-with-key.pem', `${cert}${key}`);
const page = readFileSync('ops/proxy.md', 'utf8');
after(() => rmSync(folder, { recursive: true, force: true }));

/** The configuration from the manual. */
function configurationFor(language: string): string {
  const [, text] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
  assert.ok(text, `ops/proxy.md has a configuration for ${language}`);
  return text;
}

/** Replaces the manual's ports and paths, all of which must be present. */
function adapted(language: string, changes: readonly [from: string, to: string][]): string {
  return changes.reduce((text, [from, to]) => {
    assert.ok(text.includes(from), `${language}: ${from}`);
    return text.replaceAll(from, to);
  }, configurationFor(language));
}

type Ports = { own: number; upstream: string };

const proxies: Record<string, (ports: Ports) => [program: string, ...words: string[]]> = {
  caddy: ({ own, upstream }) => {
    const text = adapted('caddy', [
      ['\tservers {', '\tadmin off\n\tauto_https disable_redirects\n\tservers {'],
      [`${name} {`, `https://${name}:${own} {\n\tbind 127.0.0.1\n\ttls ${certFile} ${keyFile}`],
      ['127.0.0.1:8080', upstream],
    ]);
    return ['caddy', 'run', '--adapter', 'caddyfile', '--config', file('Caddyfile', text)];
  },
  nginx: ({ own, upstream }) => {
    const text = adapted('nginx', [
      ['listen 443 ssl', `listen 127.0.0.1:${own} ssl`],
      ['/etc/ssl/feedback.pem', certFile],
      ['/etc/ssl/feedback.key', keyFile],
      ['127.0.0.1:8080', upstream],
    ]);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
      .join('\n');
    const whole = `${process.getuid?.() === 0 ? 'user root;\n' : ''}daemon off;\npid ${folder}/nginx.pid;\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${text}}\n`;
    return ['nginx', '-e', 'stderr', '-p', folder, '-c', file('nginx.conf', whole)];
  },
  haproxy: ({ own, upstream }) => {
    const text = adapted('haproxy', [
      ['bind :443', `bind 127.0.0.1:${own}`],
      ['/etc/ssl/feedback-with-key.pem', bothFile],
      ['127.0.0.1:8080', upstream],
    ]);
    return ['haproxy', '-db', '-f', file('haproxy.cfg', text)];
  },
};

type Asking = { port: number; from?: string; headers?: Record<string, string> };

/** Status of a request through the proxy from one of this machine's addresses. */
async function ask(path: string, { port, from = '127.0.0.2', headers = {} }: Asking) {
  const sent = request({
    host: '127.0.0.1',
    port,
    path,
    localAddress: from,
    agent: false,
    servername: name,
    ca: cert,
    headers: { Host: name, ...headers },
  });
  const [answer] = await once(sent.end(), 'response');
  answer.resume();
  return answer.statusCode as number;
}

/** Sends a part of a body and waits. Returns everything that the client receives. */
async function holdBody(port: number): Promise<string> {
  const socket = connectSecurely({ host: '127.0.0.1', port, servername: name, ca: cert });
  socket.on('error', () => {});
  const length = 'Content-Type: application/json\r\nContent-Length: 100';
  socket.write(`POST /f/nothing HTTP/1.1\r\nHost: ${name}\r\n${length}\r\n\r\n{`);
  return await text(socket).catch(() => '');
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

// Each test waits a minute until its held request ends.
suite('proxies', { concurrency: true }, () => {
  for (const [kind, commandFor] of Object.entries(proxies)) {
    test(`each client behind ${kind} has its own limit, and slow bodies time out`, async (t) => {
      const { url } = await testDatabase();
      const service = startService({
        DATABASE_URL: url,
        ASKBACK_SECRET_KEY: secretKey,
        PORT: '0',
        ASKBACK_PUBLIC_URL: `https://${name}`,
        ASKBACK_TRUSTED_PROXIES: '127.0.0.1/32',
      });
      const upstream = new URL(addressIn(await service.ready())).host;
      const port = await freePort();
      const [program, ...words] = commandFor({ own: port, upstream });
      const proxy: ChildProcess = spawn(program, words, {
        stdio: 'ignore',
        env: { ...process.env, HOME: folder },
      });
      t.after(() => proxy.kill());
      await until(
        `${kind} forwards`,
        async () => (await accepts(port)) && (await ask('/healthz', { port })) === 200,
      );

      const held = holdBody(port);
      const forged = (place: number) => ({
        'X-Forwarded-For': `198.51.100.${place}`,
        Forwarded: `for=198.51.100.${place}`,
      });
      const statuses = await Promise.all(
        Array.from({ length: 2 * strangersLimit + 1 }, (_, place) =>
          ask('/api/v1/surveys', { port, headers: forged(place) }),
        ),
      );
      assert.ok(statuses.includes(429), 'one client is limited as one');
      assert.equal(await ask('/api/v1/surveys', { port, from: '127.0.0.3' }), 401);
      assert.equal(await ask('/metrics', { port }), 403);
      assert.equal(await ask('/mailbox', { port }), 403);

      // nginx disconnects without a response, and askback never sees the request.
      const answer = await held;
      if (kind === 'nginx') assert.equal(answer, '');
      else assert.match(answer, /^HTTP\/1.1 408 [\s\S]*"code":"request_timeout"/);
      assert.equal(await service.stop(), 0);
    });
  }
});

test('the body limit of nginx allows the largest contact list', () => {
  const [, mebibytes] = /client_max_body_size (\d+)m;/.exec(configurationFor('nginx')) ?? [];
  assert.ok(Number(mebibytes) * 1024 ** 2 > maxUploadBytes, `${mebibytes} MiB`);
});
