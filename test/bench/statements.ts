import { connect, type Db, type Sql } from '../../src/lib/db/db.ts';
import { testSettings } from '../support/make/settings.ts';
import { bareApp } from '../support/probe/app.ts';
import { percentiles } from './load.ts';

/** What a request asks of Postgres: its statements in their order, with their parameters. */
export type Statements = readonly { text: string; parameters: unknown[] }[];

export type Ask = { path: string; headers: Record<string, string> };

/** Runs requests through the application once, and writes down every statement that it sends. */
export async function recordStatements(url: string, asks: readonly Ask[]): Promise<Statements[]> {
  const db = connect(url, { connections: 1 });
  const app = bareApp(db, { settings: { ...testSettings, rateLimit: 1_000_000 } });
  let received: { text: string; parameters: unknown[] }[] = [];
  // A copy: the driver replaces the parameters by what it sends, and would write that as text once more.
  const receive = (_connection: number, text: string, parameters: unknown[]) => {
    received.push({ text, parameters: [...parameters] });
  };
  // postgres.js looks at this option at every statement; its type only knows it at the beginning.
  Object.assign(db.options, { debug: receive });
  const recorded: Statements[] = [];
  for (const { path, headers } of asks) {
    received = [];
    const { status } = await app.request(path, { headers });
    if (status !== 200) throw new Error(`${path} answered ${status}`);
    recorded.push(received.filter(({ text }) => !text.includes('pg_catalog')));
  }
  await db.end();
  return recorded;
}

/** Sends what one request asks of Postgres, in a transaction where it did so. */
async function send(db: Db, statements: Statements) {
  const begun = statements.findIndex(({ text }) => text.startsWith('begin '));
  if (begun < 0) return await sendEach(db, statements);
  await sendEach(db, statements.slice(0, begun));
  const inside = statements.slice(begun + 1).filter(({ text }) => text !== 'commit');
  await db.begin(statements[begun]!.text.slice('begin '.length), (tx) => sendEach(tx, inside));
}

async function sendEach(sql: Sql, statements: Statements) {
  for (const { text, parameters } of statements) {
    const [row] = await sql.unsafe(text, parameters as never[], { prepare: true });
    if (row && 'json' in row && row['json'] === null) throw new Error(`finds nothing: ${text}`);
  }
}

type Replay = { concurrency: number; seconds: number };

/**
 * The floor: the same statements bare through the driver, on as many connections as the service has. What made
 * an answer for the service must make one here too, or else it is no floor.
 */
export async function replay(
  db: Db,
  statements: readonly Statements[],
  { concurrency, seconds }: Replay,
) {
  const latencies: number[] = [];
  const begun = performance.now();
  const end = begun + seconds * 1000;
  let next = 0;
  const worker = async () => {
    for (let at = performance.now(); at < end; at = performance.now()) {
      await send(db, statements[next++ % statements.length]!);
      latencies.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const elapsed = (performance.now() - begun) / 1000;
  return { perSecond: latencies.length / elapsed, ...percentiles(latencies) };
}
