import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../src/lib/db/db.ts';
import {
  type Crowd,
  noneWrong,
  startCrowd,
  type Use,
  uses,
  type WrongUses,
} from './neighbour-crowd.ts';
import { makeTenant, partyOf } from './neighbour-party.ts';
import { startMailServer, startSubscriber } from './neighbour-servers.ts';
import { environment } from './scene.ts';
import { createService } from './service.ts';

/** The allowed slowdown for another organization, compared with an idle service. */
const mostTimes = 3;
/** Times below this vary too much to compare. */
const unsteadyMs = 100;

/**
 * For each shared resource, one organization causes its heaviest load while another calls the API, is answered, gets an
 * event delivered and sends a mail. Compares the times of the other with an idle service, and describes each wrong
 * outcome.
 */
export async function* runNeighbours(databaseUrl: string, crowds: readonly Crowd[]) {
  for (const crowd of crowds) {
    const { idle, crowded, wrong } = await measure(databaseUrl, crowd);
    for (const use of uses) {
      const [before, during] = [percentiles(idle[use]), percentiles(crowded[use])];
      const allowedMs = Math.max(mostTimes * before.p99, unsteadyMs);
      const tooSlow =
        during.p99 > allowedMs
          ? [`${crowd.shared}, ${use}: ${during.p99} ms, on an idle service ${before.p99} ms`]
          : [];
      const counts = {
        shared: crowd.shared,
        use,
        times: crowded[use].length,
        idle_p50: before.p50,
        idle_p99: before.p99,
        crowded_p50: during.p50,
        crowded_p99: during.p99,
        wrong: wrong[use].length,
      };
      yield { counts, wrong: [...tooSlow, ...wrong[use]] };
    }
  }
}

async function measure(databaseUrl: string, crowd: Crowd) {
  const scene = await openScene(databaseUrl, crowd);
  try {
    await scene.useAll(10); // warms up connections and plans
    const idle = (await scene.useAll()).times;
    await scene.crowd.begin();
    const { times: crowded, wrong } = await scene.useAll();
    const wrongInCrowd = await scene.crowd.leave();
    for (const use of uses) wrong[use].push(...wrongInCrowd[use]);
    return { idle, crowded, wrong };
  } finally {
    await scene.close();
  }
}

function percentiles(times: readonly number[]) {
  const sorted = times.toSorted((one, other) => one - other);
  const part = (share: number) => Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? NaN);
  return { p50: part(0.5), p99: part(0.99) };
}

type UseTimes = Record<Use, number[]>;

const mailConnections = 10;
const arriveWithinMs = 30_000;
/** Enough samples per use that a short pause of the machine does not determine the p99. */
const samples = 500;
/** Concurrent requests per use, each after a pause. At most 15 start per second. */
const atOnce = 4;
const pauseMs = 270;

/**
 * The service with a timed organization and the crowd of another one. The crowd, the mail server and the subscriber run
 * in their own threads, so that only their load on the service affects the times.
 */
async function openScene(databaseUrl: string, { shared, exchangeMs = 5 }: Crowd) {
  const [mails, subscriber] = [await startMailServer(exchangeMs), await startSubscriber()];
  const service = await createService({
    ...environment(databaseUrl),
    ASKBACK_SMTP_URL: `smtp://127.0.0.1:${mails.port}?tls=none&connections=${mailConnections}`,
    ASKBACK_RATE_LIMIT: '1000',
  });
  const db = connect(databaseUrl, { connections: atOnce });
  await service.start();
  const { address } = service;
  const [many, other] = [await makeTenant(db), partyOf(await makeTenant(db), { db, address })];
  const crowd = await startCrowd({
    shared,
    databaseUrl,
    address,
    many,
    subscriber: subscriber.url,
  });
  await other.addWebhook(`${subscriber.url}/other`);

  /** Each creates its rows and returns the function to time. */
  const ordinary: Record<Use, () => Promise<() => Promise<string | undefined>>> = {
    call: async () => async () => {
      const answer = await fetch(`${address}/api/v1/surveys`, { headers: other.read });
      const { data } = (await answer.json()) as { data?: unknown[] };
      return data?.length ? undefined : `a list was answered ${answer.status}`;
    },
    answer: async () => {
      const link = await other.makeLink();
      return async () => {
        const { status } = await other.answer({ score: 9, comment: 'Good service' }, link);
        return status === 201 ? undefined : `an answer was answered ${status}`;
      };
    },
    delivery: async () => {
      const link = await other.makeLink();
      return async () => {
        const { id } = await other.answer({ score: 9 }, link);
        const arrived = id && (await subscriber.arrived(id, arriveWithinMs));
        return arrived ? undefined : `an event did not arrive within ${arriveWithinMs / 1000} s`;
      };
    },
    mail: async () => {
      const survey = await other.makeSurvey();
      return async () => {
        const [result] = await other.send(['ann@people.test'], survey);
        return result?.status === 'sent' ? undefined : `a single mail: ${JSON.stringify(result)}`;
      };
    },
  };

  /** Runs all uses concurrently. */
  async function useAll(count = samples) {
    const times: UseTimes = { call: [], answer: [], delivery: [], mail: [] };
    const wrong: WrongUses = noneWrong();
    const repeat = async (use: Use, turn: number) => {
      await sleep((turn * pauseMs) / atOnce);
      for (let n = turn; n < count; n += atOnce) {
        const run = await ordinary[use]();
        const begunAt = performance.now();
        const complaint = await run();
        times[use].push(performance.now() - begunAt);
        if (complaint) wrong[use].push(complaint);
        await sleep(pauseMs);
      }
    };
    const turns = Array.from({ length: atOnce }, (_, turn) => turn);
    await Promise.all(uses.flatMap((use) => turns.map((turn) => repeat(use, turn))));
    return { times, wrong };
  }

  async function close() {
    await crowd.end();
    await service.kill();
    // Deletes unfinished work, so that the next crowd starts with an idle service.
    await db`delete from organizations where id in ${db([many.id, other.id])}`;
    await db.end({ timeout: 1 });
    await Promise.all([mails.close(), subscriber.close()]);
  }

  return { crowd, useAll, close };
}
