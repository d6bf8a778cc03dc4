import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../../src/lib/log/log.ts';
import { createLifecycle } from '../../../src/lib/process/lifecycle.ts';

const quiet = createLog({ level: 'silent' });

test('parts stop in reverse order, even if one of them fails', async () => {
  const stopped: string[] = [];
  const lines: { level: string; part: string; msg: string }[] = [];
  const to = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const parts = createLifecycle(createLog({ level: 'debug', to }));
  await parts.start(
    'first',
    () => 1,
    () => stopped.push('first'),
  );
  await parts.start(
    'second',
    () => 2,
    () => {
      stopped.push('second');
      throw new Error('stuck');
    },
  );
  await parts.start(
    'third',
    () => 3,
    () => stopped.push('third'),
  );

  await parts.stop();

  assert.deepEqual(stopped, ['third', 'second', 'first']);
  assert.deepEqual(
    lines.map(({ level, part, msg }) => `${level} ${part} ${msg}`),
    [
      'debug first started',
      'debug second started',
      'debug third started',
      'debug third stopped',
      'error second did not stop cleanly',
      'debug first stopped',
    ],
  );
});

test('stop waits for a starting part and starts no other', async () => {
  const stopped: string[] = [];
  const parts = createLifecycle(quiet);
  const half = Promise.withResolvers<number>();
  const starting = parts.start(
    'half',
    () => half.promise,
    () => stopped.push('half'),
  );

  const stopping = parts.stop();
  half.resolve(1);
  await Promise.all([starting, stopping]);

  assert.deepEqual(stopped, ['half']);
  await assert.rejects(
    parts.start('late', () => 1),
    /stopped while starting/,
  );
});
