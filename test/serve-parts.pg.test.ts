import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from './support/probe/database.ts';
import { secretKey, startService } from './support/processes/program.ts';

const { url } = await testDatabase();

type Line = { part?: string; msg?: string };

/** Whatever listens, answers or works. Those that begin at once have no order among each other. */
const parts = [
  'claims of deliveries',
  'counting',
  'database',
  'deliveries',
  'file of erasures',
  'jobs',
  'lease',
  'lines',
  'mails',
  'metrics',
  'metrics address',
  'outbound',
  'port',
  'probes',
  'readiness',
  'requests',
  'schema',
  'secrets',
  'send progress',
  'smtp',
  'telemetry',
  'text reader',
];
/** What leaves nothing to stop. */
const done = ['schema', 'secrets'];

test('each part of the service starts once and stops once, those that others stand on last', async () => {
  const service = startService({
    DATABASE_URL: url,
    ASKBACK_SECRET_KEY: secretKey,
    PORT: '0',
    LOG_LEVEL: 'debug',
    ASKBACK_SMTP_URL: 'smtp://127.0.0.1:1',
    ASKBACK_METRICS_LISTEN: '127.0.0.1:0',
  });
  await service.ready();
  assert.equal(await service.stop(), 0);
  const lines = service.stderr.lines
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);
  const named = (msg: string) =>
    lines.flatMap((line) => (line.msg === msg && line.part ? [line.part] : []));
  assert.deepEqual(named('started').toSorted(), parts);
  const stopped = named('stopped');
  assert.deepEqual(
    stopped.toSorted(),
    parts.filter((part) => !done.includes(part)),
  );
  assert.deepEqual(stopped.slice(-3), ['counting', 'telemetry', 'lines']);
  const at = (part: string) => stopped.indexOf(part);
  for (const part of ['deliveries', 'jobs', 'mails', 'claims of deliveries', 'probes']) {
    assert.ok(at('requests') < at(part), `${part} stops after requests, whose work it does`);
    assert.ok(at(part) < at('database'), `${part} stops before the database`);
  }
});
