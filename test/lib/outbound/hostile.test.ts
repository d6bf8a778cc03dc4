import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { FailureKind } from '../../../src/lib/outbound/connect.ts';
import { createOutbound, type OutboundAnswer } from '../../../src/lib/outbound/post.ts';
import { type Behaviour, startHostile } from '../../support/fakes/hostile-subscriber.ts';

/** For subscribers that only end at the deadline, and for the ones that answer before. */
const deadlineMs = 2_000;
const deadlineOfAnsweringMs = 8_000;
const graceMs = 10_000;
/** For all other subscribers, so that a busy machine does not look like a slow one. */
const ampleMs = 60_000;
const atOnce = 100;
const maxGrowthBytes = 96 * 1024 * 1024;

const outbound = createOutbound({ allow: ['127.0.0.0/8'], http: true, perHostConnections: 1_000 });
const polite = createServer((request, answer) =>
  request.resume().on('end', () => answer.end('ok')),
);
let hostile: Awaited<ReturnType<typeof startHostile>>;

before(async () => {
  hostile = await startHostile();
  await once(polite.listen(0, '127.0.0.1'), 'listening');
  // Warms up, so that later measurements do not include the start.
  await Promise.all(Array.from({ length: atOnce }, postPolitely));
});

after(async () => {
  await outbound.close();
  hostile.stop();
  polite.close();
});

type Outcome = { statusCode: number | null; errorKind: FailureKind | null };

const outcomes: Record<Behaviour, Outcome> = {
  silent: { statusCode: null, errorKind: 'timeout' },
  slowAccept: { statusCode: null, errorKind: 'timeout' },
  dripsBody: { statusCode: 200, errorKind: 'timeout' },
  dripsHeaders: { statusCode: null, errorKind: 'timeout' },
  endlessChunks: { statusCode: 200, errorKind: null },
  endlessLength: { statusCode: 200, errorKind: null },
  endlessError: { statusCode: 500, errorKind: null },
  endlessExtension: { statusCode: 200, errorKind: null },
  endlessLineEnds: { statusCode: null, errorKind: 'protocol' },
  hugeHeaders: { statusCode: null, errorKind: 'protocol' },
  manyHeaders: { statusCode: null, errorKind: 'protocol' },
  resetsInBody: { statusCode: 200, errorKind: 'reset' },
  endsInBody: { statusCode: 200, errorKind: 'reset' },
  resetsAtOnce: { statusCode: null, errorKind: 'reset' },
  gzipBomb: { statusCode: 200, errorKind: null },
  floods103: { statusCode: null, errorKind: 'protocol' },
  floods102: { statusCode: null, errorKind: 'protocol' },
  says100: { statusCode: null, errorKind: 'protocol' },
  switches: { statusCode: null, errorKind: 'protocol' },
  bodyAfter204: { statusCode: 204, errorKind: null },
  bodyAfter304: { statusCode: 304, errorKind: null },
  lengthOn204: { statusCode: 204, errorKind: null },
  notHttp: { statusCode: null, errorKind: 'protocol' },
  twoLengths: { statusCode: null, errorKind: 'protocol' },
};

const outcomesOverTls: Partial<Record<Behaviour, Outcome>> = {
  notHttp: { statusCode: null, errorKind: 'tls' },
  resetsAtOnce: { statusCode: null, errorKind: 'tls' },
  silent: { statusCode: null, errorKind: 'timeout' },
  slowAccept: { statusCode: null, errorKind: 'timeout' },
};

const cases = [
  ...Object.entries(outcomes).map((each) => ['http', ...each] as const),
  ...Object.entries(outcomesOverTls).map((each) => ['https', ...each] as const),
];

for (const [scheme, name, outcome] of cases) {
  test(`${name} over ${scheme}: a hundred posts end in time and delay no others`, async () => {
    const memory = watchMemory();
    const port = hostile.ports[name as Behaviour];
    const limitMs = limitFor(outcome);
    const posts = Array.from({ length: atOnce }, () => post(port, scheme, limitMs));
    const other = await postPolitely();
    const answers = await Promise.all(posts);

    assert.deepEqual([other.statusCode, other.error], [200, null]);
    for (const answer of answers) {
      assert.deepEqual({ statusCode: answer.statusCode, errorKind: answer.errorKind }, outcome);
      assert.equal(answer.error === null, outcome.errorKind === null);
      assert.ok(answer.durationMs <= limitMs + graceMs, `${answer.durationMs} ms`);
      assert.ok(Buffer.byteLength(answer.body) <= 4_096);
      assert.doesNotMatch(answer.body, /\0|forged/);
    }
    const growth = memory.growth();
    assert.ok(growth < maxGrowthBytes, `grew by ${Math.round(growth / 1024 / 1024)} MiB`);
  });
}

test('bytes after an answer do not become the next answer', async () => {
  for (let round = 0; round < 20; round++) {
    assert.equal((await post(hostile.ports.bodyAfter204)).statusCode, 204);
  }
});

function limitFor({ statusCode, errorKind }: Outcome): number {
  if (errorKind !== 'timeout') return ampleMs;
  return statusCode === null ? deadlineMs : deadlineOfAnsweringMs;
}

const postPolitely = () => post((polite.address() as AddressInfo).port);

const post = (port: number, scheme = 'http', limitMs = ampleMs): Promise<OutboundAnswer> =>
  outbound.post(`${scheme}://127.0.0.1:${port}/`, {
    group: 'a',
    headers: { 'content-type': 'application/json' },
    body: '{"version":"1"}',
    deadlineMs: limitMs,
  });

/** Measures the peak memory of the process above its current use. */
function watchMemory() {
  const start = process.memoryUsage.rss();
  let peak = start;
  const look = () => {
    peak = Math.max(peak, process.memoryUsage.rss());
  };
  const timer = setInterval(look, 20).unref();
  const growth = () => {
    clearInterval(timer);
    look();
    return peak - start;
  };
  return { growth };
}
