import { connect } from '../../src/lib/db/db.ts';
import { costOf, processorTimeOf, processorTimeOfPostgres } from './processor-time.ts';

const connections = 8;
const seconds = 1;
const rows = 1000;

/**
 * Bare statements that never change, whatever the service sends: a row read by its key, and a row written
 * and committed. They show what a figure of another day is worth today.
 */
export async function fixedFloor(server: string) {
  const db = connect(server, { connections });
  try {
    await db`drop table if exists bench_floor`;
    await db`create table bench_floor (id int primary key generated always as identity, body text not null)`;
    await db`insert into bench_floor (body) select repeat('x', 200) from generate_series(1, ${rows}::int)`;
    const parts = {
      service: processorTimeOf(process.pid),
      postgres: await processorTimeOfPostgres(db),
    };
    const body = 'x'.repeat(200);
    const read = () =>
      db`select id, body from bench_floor where id = ${1 + ((next++ * 7919) % rows)}`;
    const write = () => db`insert into bench_floor (body) values (${body})`;
    let next = 0;
    await repeat(read, 0.2);
    return { read: await measure(read), write: await measure(write) };

    async function measure(work: () => Promise<unknown>) {
      const { result, ms, us } = await costOf({ units: 1, parts }, () => repeat(work, seconds));
      const each = (total: number) => total / result;
      return {
        perSecond: (result * 1000) / ms,
        service: each(us.service),
        postgres: each(us.postgres),
      };
    }
  } finally {
    await db`drop table if exists bench_floor`;
    await db.end();
  }
}

async function repeat(work: () => Promise<unknown>, forSeconds: number): Promise<number> {
  const end = performance.now() + forSeconds * 1000;
  let done = 0;
  const worker = async () => {
    while (performance.now() < end) {
      await work();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return done;
}
