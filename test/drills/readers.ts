import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Db } from '../../src/lib/db/db.ts';
import { makeClient, makeSurvey } from '../support/make/rows.ts';

/** How often each organization writes: one that writes all the time reads the primary all the time. */
const writeEveryMs = [150, 400, 1000, 2500];
const readersEach = 2;
const readPauseMs = 25;
const patienceMs = 30_000;

export type Read = { at: number; ms: number; status: number | string; isStale: boolean };

export type Reading = { reads: Read[]; writes: number; failedWrites: number };

type Organization = { path: string; headers: Record<string, string>; written: number };

/**
 * Each organization counts in the name of a survey, through any process. A read that shows less than what was
 * acknowledged before it began is older than what its reader wrote.
 */
export async function startReaders(db: Db, addresses: readonly string[]) {
  const agent = new Agent({ connections: 100, headersTimeout: patienceMs });
  const reading: Reading = { reads: [], writes: 0, failedWrites: 0 };
  const inFlight = new Set<Promise<void>>();
  let over = false;
  let turn = 0;

  async function ask({ path, headers }: Organization, body?: object) {
    turn += 1;
    return await request(`${addresses[turn % addresses.length]}${path}`, {
      headers,
      dispatcher: agent,
      method: body ? 'PATCH' : 'GET',
      ...(body && { body: JSON.stringify(body) }),
    }).then(
      async ({ statusCode, body: got }) => ({ status: statusCode, text: await got.text() }),
      (error: NodeJS.ErrnoException) => ({ status: error.code ?? error.message, text: '' }),
    );
  }

  async function write(organization: Organization, everyMs: number) {
    for (let count = 1; !over; count += 1) {
      const { status } = await ask(organization, { name: `count ${count}` });
      reading.writes += 1;
      if (status === 200) organization.written = count;
      else reading.failedWrites += 1;
      await sleep(everyMs);
    }
  }

  async function read(organization: Organization) {
    while (!over) {
      const one = readOnce(organization);
      inFlight.add(one);
      await one;
      inFlight.delete(one);
      await sleep(readPauseMs);
    }
  }

  async function readOnce(organization: Organization) {
    const [at, { written }] = [performance.now(), organization];
    const { status, text } = await ask(organization);
    const isStale = status === 200 && countIn(text) < written;
    reading.reads.push({ at, ms: performance.now() - at, status, isStale });
  }

  const organizations = await Promise.all(writeEveryMs.map(() => makeOne(db)));
  const callers = Promise.all(
    organizations.flatMap((organization, at) => [
      write(organization, writeEveryMs[at]!),
      ...Array.from({ length: readersEach }, () => read(organization)),
    ]),
  );
  callers.catch(() => {});
  return {
    reading,
    /** Resolves when the reads that have begun are over. */
    async inFlight() {
      await Promise.all(inFlight);
    },
    async stop() {
      over = true;
      await callers;
      await agent.destroy();
    },
  };
}

async function makeOne(db: Db): Promise<Organization> {
  const { id, write } = await makeClient(db);
  const survey = await makeSurvey(db, id, { name: 'count 0' });
  const headers = { ...write, 'Content-Type': 'application/json' };
  return { path: `/api/v1/surveys/${survey}`, headers, written: 0 };
}

const countIn = (text: string) =>
  Number((JSON.parse(text) as { data: { name: string } }).data.name.split(' ')[1]);
