import { Agent, request } from 'undici';
import { connect } from '../../src/lib/db/db.ts';
import { startTemporary } from '../../src/lib/embedded-postgres/embedded.ts';
import { makeClient } from '../support/make/rows.ts';
import type { Line } from './books.ts';
import { stage } from './scene.ts';

const clients = 1000;
const pool = 10;
const patienceMs = 30_000;
/** Short drills run on busy machines, which may delay the service. */
const patienceOfShortMs = 90_000;

/** A thousand concurrent callers of one organization with ten connections, and one caller of another organization. */
export async function crowd({ short }: { short: boolean }): Promise<Line[]> {
  const [seconds, longestMs] = short ? [12, patienceOfShortMs] : [30, patienceMs];
  await using ends = new AsyncDisposableStack();
  const server = ends.adopt(await startTemporary(), ({ stop }) => stop());
  const db = ends.adopt(connect(server.url, { connections: 2 }), (it) => it.end({ timeout: 1 }));
  const settings = {
    ASKBACK_DB_POOL: String(pool),
    // The callers come through a proxy: one client address may have 256 connections.
    ASKBACK_TRUSTED_PROXIES: '127.0.0.1/32',
  };
  const staged = await stage({ databaseUrl: server.url, processes: 1, answers: 200, settings });
  const scene = ends.adopt(staged, ({ close }) => close());
  const dispatcher = new Agent({
    connections: clients + 1,
    connect: { timeout: longestMs },
    headersTimeout: longestMs,
    bodyTimeout: longestMs,
  });
  ends.defer(() => dispatcher.destroy());
  const other = await makeClient(db);
  const until = performance.now() + seconds * 1000;
  const url = `${scene.addresses[0]}/api/v1/responses?limit=20`;
  const call = (headers: Record<string, string>) => callUntil(until, { url, headers, dispatcher });
  const [others, ...all] = await Promise.all([
    call(other.read),
    ...Array.from({ length: clients }, () => call(scene.client.read)),
  ]);
  const calls = all.flat();
  const unexpected = [...calls, ...others!].filter(
    ({ status }) => status !== 200 && status !== 503,
  );
  const fewest = Math.min(...all.map(({ length }) => length));
  const usual = percentile(calls, 0.5);
  return [
    { what: 'callers of one organization', count: clients },
    { what: 'connections', count: pool },
    { what: 'requests answered', count: calls.length, atLeast: clients },
    { what: 'answered with 503', count: calls.filter(({ status }) => status === 503).length },
    { what: 'answered with anything other than 200 and 503', count: unexpected.length, atMost: 0 },
    { what: 'requests of the caller with the fewest', count: fewest, atLeast: 1 },
    { what: 'longest wait of the crowd, ms', count: percentile(calls, 1), atMost: longestMs },
    { what: 'requests of the other organization', count: others!.length },
    { what: 'half of the crowd waits at least, ms', count: usual },
    {
      what: 'half of its requests wait at least, ms',
      count: percentile(others!, 0.5),
      atMost: usual,
    },
  ];
}

type Call = { status: number | string; ms: number };
type Caller = { url: string; headers: Record<string, string>; dispatcher: Agent };

async function callUntil(until: number, { url, headers, dispatcher }: Caller): Promise<Call[]> {
  const calls: Call[] = [];
  while (performance.now() < until) {
    const begun = performance.now();
    const status = await request(url, { headers, dispatcher }).then(
      async ({ statusCode, body }) => {
        await body.dump();
        return statusCode;
      },
      (error: NodeJS.ErrnoException) => error.code ?? error.message,
    );
    calls.push({ status, ms: Math.round(performance.now() - begun) });
  }
  return calls;
}

function percentile(calls: readonly Call[], part: number): number {
  const sorted = calls.map(({ ms }) => ms).sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0;
}
