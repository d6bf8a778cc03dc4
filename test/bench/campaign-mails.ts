import { once } from 'node:events';
import { type Sink, startSink } from './mail.ts';
import { costOf } from './processor-time.ts';
import { type Scene, withScene } from './scene.ts';
import { readWrites, writesBetween } from './writes.ts';

const requests = 20;
const contactsEach = 1000;
const atOnce = 10;
const warmUpRequests = 2;

/** 20,000 mails asked for in twenty requests, ten at once, over so many connections. */
export async function campaignMails(server: string, connections: number) {
  const sink = await startSink();
  const settings = { ASKBACK_SMTP_URL: `${sink.url}?tls=none&connections=${connections}` };
  try {
    return await withScene(server, settings, async (scene) => {
      await sendAll(scene, warmUpRequests);
      await mailsAt(sink);
      const mails = requests * contactsEach;
      const before = await readWrites(scene.db);
      const { us } = await costOf({ units: mails, parts: scene.parts }, () =>
        sendAll(scene, requests),
      );
      const { count, firstAt, lastAt } = await mailsAt(sink);
      if (count !== mails) throw new Error(`${count} mails arrived`);
      const writes = writesBetween(before, await readWrites(scene.db), mails);
      return { perSecond: (mails * 1000) / (lastAt - firstAt), ...us, ...writes };
    });
  } finally {
    await sink.worker.terminate();
  }
}

async function sendAll(scene: Scene, requests: number) {
  const organization = await scene.makeOrganization();
  const surveys: string[] = [];
  for (let n = 0; n < requests; n += 1) surveys.push(await organization.makeSurvey());
  const worker = async () => {
    for (let id = surveys.pop(); id; id = surveys.pop()) {
      const body = { contacts: contactsOf(id) };
      const { data } = (await organization.call(`/api/v1/surveys/${id}/send`, body)) as {
        data: { sent: number };
      };
      if (data.sent !== contactsEach) throw new Error(`a send sent ${data.sent} mails`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

const contactsOf = (surveyId: string) =>
  Array.from({ length: contactsEach }, (_, n) => ({
    email: `person${n}.${surveyId.slice(0, 8)}@people.example`,
    name: `Person ${n}`,
  }));

/** How many mails arrived since the last time this was asked, the first and the last of them. */
export async function mailsAt({ worker }: Sink) {
  worker.postMessage('arrived');
  const [arrived] = (await once(worker, 'message')) as [
    { count: number; firstAt: number; lastAt: number },
  ];
  return arrived;
}
