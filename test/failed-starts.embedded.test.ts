import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Settings } from '../src/settings.ts';
import { secretKey, startService } from './support/processes/program.ts';

const known = Object.keys(Settings.entries);
const folder = mkdtempSync(join(tmpdir(), 'askback-start-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const external = { ASKBACK_SECRET_KEY: secretKey, ASKBACK_DATABASE_WAIT_SECONDS: '2', PORT: '0' };

type FailedStart = {
  environment: Record<string, string>;
  /** The one setting at fault. */
  setting: string;
  code: number;
  withinSeconds: number;
};

/** Starts the service and expects one sentence that names one existing setting, within the limit. */
async function expectFailure({ environment, setting, code, withinSeconds }: FailedStart) {
  const service = startService({ ASKBACK_DATA_DIR: join(folder, 'data'), ...environment });
  const late = AbortSignal.timeout(withinSeconds * 1000);
  const ended = await Promise.race([service.exited, once(late, 'abort').then(() => 'too late')]);
  const said = service.stderr.lines.join('\n');
  assert.equal(ended, code, said);
  const [failure = ''] = /askback: [\s\S]*/.exec(said) ?? [];
  const named = known.filter((name) => new RegExp(`\\b${name}\\b`).test(failure));
  assert.deepEqual(named, [setting], said);
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  return (server.address() as AddressInfo).port;
}

const databaseAt = (port: number) => `postgres://askback@127.0.0.1:${port}/askback`;

test('a metrics address in use is named', async () => {
  const port = await listening(createServer());
  await expectFailure({
    environment: { PORT: '0', ASKBACK_METRICS_LISTEN: `127.0.0.1:${port}` },
    setting: 'ASKBACK_METRICS_LISTEN',
    code: 1,
    withinSeconds: 20,
  });
});

test('a database address that speaks HTTP is named', async () => {
  const port = await listening(createHttpServer((_, response) => response.end('hello')));
  await expectFailure({
    environment: { ...external, DATABASE_URL: databaseAt(port) },
    setting: 'DATABASE_URL',
    code: 1,
    withinSeconds: 30,
  });
});

test('a database that accepts connections and never responds is named', async () => {
  const port = await listening(createServer(() => {}));
  await expectFailure({
    environment: { ...external, DATABASE_URL: databaseAt(port) },
    setting: 'DATABASE_URL',
    code: 1,
    withinSeconds: 30,
  });
});

test('a missing database is named', async () => {
  await expectFailure({
    environment: { ...external, DATABASE_URL: databaseAt(1) },
    setting: 'DATABASE_URL',
    code: 1,
    withinSeconds: 30,
  });
});

test('a data folder on a read-only file system is named', async (t) => {
  const readOnly = mkdtempSync(join(folder, 'read-only-'));
  const isMounted = mounted(readOnly);
  t.after(() => isMounted && execFileSync('umount', [readOnly]));
  await expectFailure({
    environment: { PORT: '0', ASKBACK_DATA_DIR: isMounted ? join(readOnly, 'data') : '/sys/x' },
    setting: 'ASKBACK_DATA_DIR',
    code: 1,
    withinSeconds: 30,
  });
});

/** True if this account could mount an empty read-only file system there. */
function mounted(path: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', path], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
