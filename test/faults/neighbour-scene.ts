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

export type UseTimes = Record<Use, number[]>;

const mailConnections = 10;
const arriveWithinMs = 30_000;
/** Of each use: one moment at which the machine stands still delays as many as run at once, and is not their p99. */
const samples = 500;
/** At most so many of one use at a time, each after a pause: no more than 15 begin in a second. */
const atOnce = 4;
const pauseMs = 270;

/**
 * The service with an organization whose uses are timed, and another one's crowd. The crowd, the mail server and the
 * subscriber have threads of their own: what they do delays the timed uses only by what it costs the service.
 */
export async function openScene(databaseUrl: string, { shared, exchangeMs = 5 }: Crowd) {
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

  /** Each makes what it needs, and returns what is timed. */
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

  /** All uses side by side, while the crowd is there or not. */
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
    // The next crowd begins with an empty service: no work of this one is taken up again.
    await db`delete from organizations where id in ${db([many.id, other.id])}`;
    await db.end({ timeout: 1 });
    await Promise.all([mails.close(), subscriber.close()]);
  }

  return { crowd, useAll, close };
}
