import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type Db } from '../../src/lib/db/db.ts';
import { makeClient, makeContact, makeSurvey } from '../support/make/rows.ts';
import { startMailServer, startSubscriber } from './neighbour-servers.ts';
import { environment } from './scene.ts';
import { createService } from './service.ts';

export const uses = ['call', 'answer', 'delivery', 'mail'] as const;
export type Use = (typeof uses)[number];
export type UseTimes = Record<Use, number[]>;
export type WrongUses = Record<Use, string[]>;

/** One organization at its worst with one shared thing. */
export type Crowd = {
  shared: string;
  /** How long the mail server takes for a message. */
  exchangeMs?: number;
  prepare?: (scene: Scene) => Promise<unknown>;
  /** Begins the worst. What it returns ends it, and says what went wrong in it. */
  start: (
    scene: Scene,
    gone: AbortSignal,
  ) => Promise<((wrong: WrongUses) => Promise<unknown>) | undefined>;
};

export type Scene = Awaited<ReturnType<typeof openScene>>;
export type Party = Awaited<ReturnType<typeof makeParty>>;

const mailConnections = 10;
const arriveWithinMs = 30_000;
/** Of each use, so that the worst two of them do not make its p99. */
const samples = 200;
/** At most so many of one use at a time, each after a pause: no more than 15 begin in a second. */
const atOnce = 4;
const pauseMs = 270;

export async function openScene(
  databaseUrl: string,
  { exchangeMs = 5 }: Pick<Crowd, 'exchangeMs'>,
) {
  const [mails, subscriber] = [await startMailServer(exchangeMs), await startSubscriber()];
  const service = await createService({
    ...environment(databaseUrl),
    ASKBACK_SMTP_URL: `smtp://127.0.0.1:${mails.port}?tls=none&connections=${mailConnections}`,
    ASKBACK_RATE_LIMIT: '1000',
  });
  const db = connect(databaseUrl, { connections: 2 });
  const ownDb = connect(databaseUrl, { connections: atOnce }); // the other never waits for the rig's statements of the crowd
  await service.start();
  const { address } = service;
  const [many, other] = [await makeParty(db, address), await makeParty(ownDb, address)];
  await other.addWebhook(subscriber.urlOf('/other'));

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
    const wrong: WrongUses = { call: [], answer: [], delivery: [], mail: [] };
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
    await service.kill();
    // The next crowd begins with an empty service: no work of this one is taken up again.
    await db`delete from organizations where id in ${db([many.id, other.id])}`;
    await Promise.all([db.end({ timeout: 1 }), ownDb.end({ timeout: 1 })]);
    await mails.close();
    subscriber.close();
  }

  return { db, address, many, other, urlOf: subscriber.urlOf, useAll, close };
}

type MailResult = { email: string; status: string; reason_code?: string };

async function makeParty(db: Db, address: string) {
  const client = await makeClient(db);
  const shareId = crypto.randomUUID().replaceAll('-', '').slice(0, 16);
  const survey_id = await makeSurvey(db, client.id, { share_id: shareId });
  const contact = { org_id: client.id, survey_id };
  await makeContact(db, contact); // stays open, so that the survey does

  const post = async (path: string, headers: Record<string, string>, body: object) => {
    const answer = await fetch(`${address}${path}`, {
      method: 'POST',
      headers: { Accept: 'application/json', 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as never };
  };

  async function makeLink(): Promise<string> {
    const token = `t${crypto.randomUUID().replaceAll('-', '')}`;
    await makeContact(db, contact, { token });
    return `/s/${token}`;
  }

  async function answer(body: object, link?: string) {
    const answered = await post(link ?? (await makeLink()), {}, body);
    return { ...answered, id: (answered.body as { data?: { id: string } }).data?.id };
  }

  const ownSurvey = () => makeSurvey(db, client.id);

  /** To a survey of its own for each call: to one survey an address is mailed once. */
  async function send(emails: readonly string[], survey?: string): Promise<MailResult[]> {
    const path = `/api/v1/surveys/${survey ?? (await ownSurvey())}/send`;
    const sent = await post(path, client.write, { contacts: emails.map((email) => ({ email })) });
    const { data, error } = sent.body as { data?: { results: MailResult[] }; error?: string };
    if (!data) throw new Error(`a send was answered ${sent.status}: ${error}`);
    return data.results;
  }

  async function addWebhook(url: string): Promise<string> {
    const made = await post('/api/webhooks', client.write, { url, events: ['response.received'] });
    return (made.body as { id: string }).id;
  }

  return {
    ...client,
    surveyId: survey_id,
    shareUrl: `${address}/f/${shareId}`,
    ...{ makeLink, makeSurvey: ownSurvey, answer, send, addWebhook },
  };
}
