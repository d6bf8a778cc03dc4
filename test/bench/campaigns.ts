import { setTimeout as sleep } from 'node:timers/promises';
import { signIn, slugOfOrganization } from '../support/make/session.ts';
import { campaignMails, mailsAt } from './campaign-mails.ts';
import { type Sink, startSink } from './mail.ts';
import { number, type Section, table, verdict } from './report.ts';
import { type Organization, type Scene, withScene } from './scene.ts';

const connections = 20;
const mails = 20_000;
const leastShare = 0.9;
const people = 100_000;
const judgedWithinMs = 3000;
const uploadedWithinMs = 10_000;
const mostMegabytes = 150;
const lookEveryMs = 50;

/** Campaigns next to direct sends, the judgement of many contacts, and the upload of a list. */
export async function campaigns(server: string): Promise<Section[]> {
  const direct = await campaignMails(server, connections);
  const sink = await startSink();
  const settings = { ASKBACK_SMTP_URL: `${sink.url}?tls=none&connections=${connections}` };
  try {
    const found = await withScene(server, settings, (scene) => measure(scene, sink));
    return [{ title, lines: lines({ ...found, direct: direct.perSecond }) }];
  } finally {
    await sink.worker.terminate();
  }
}

const title = `Campaigns: ${number(mails)} mails to a sink with ${connections} connections, ${number(people)} contacts judged and uploaded`;

async function measure(scene: Scene, sink: Sink) {
  const organization = await scene.makeOrganization();
  await mailAll(scene, { organization, contacts: 1000 });
  await mailsAt(sink);
  await mailAll(scene, { organization, contacts: mails });
  const { count, firstAt, lastAt } = await mailsAt(sink);
  if (count !== mails) throw new Error(`${count} mails arrived`);
  const perSecond = (mails * 1000) / (lastAt - firstAt);
  return { perSecond, ...(await upload(scene, organization)) };
}

type Crowd = { organization: Organization; contacts: number };

async function mailAll(scene: Scene, { organization, contacts }: Crowd) {
  const survey = await organization.makeSurvey();
  await organization.addContacts(survey, contacts);
  await organization.call(`/api/v1/surveys/${survey}/campaigns`, {});
  for (let isOn = true; isOn; ) {
    await sleep(lookEveryMs);
    const [open] = await scene.db`
      select from campaigns where survey_id = ${survey} and status = 'running'`;
    isOn = open !== undefined;
  }
}

/** Posts the list as a browser does, has its columns taken as they are guessed, and judges all of it. */
async function upload(scene: Scene, { orgId, makeSurvey, call }: Organization) {
  const survey = await makeSurvey();
  const { Cookie } = await signIn(scene.db, { org: orgId, role: 'editor' });
  const base = `http://127.0.0.1:${scene.service.port}`;
  const path = `/o/${await slugOfOrganization(scene.db, orgId)}/surveys/${survey}/contacts/uploads`;
  const post = async (to: string, body: FormData | URLSearchParams) => {
    const options = { method: 'POST', headers: { Cookie }, body, redirect: 'manual' } as const;
    const answer = await fetch(`${base}${to}`, options);
    if (answer.status !== 303) throw new Error(`${to}: ${answer.status} ${await answer.text()}`);
    return answer.headers.get('Location')!;
  };
  const before = scene.service.residentMegabytes() ?? 0;
  const memory = watchMemory(scene);
  const begun = performance.now();
  const form = new FormData();
  form.append('file', new File([list()], 'people.csv'));
  const mapping = await post(path, form);
  const columns = { column_0: 'email', column_1: 'name', column_2: 'property', header: 'on' };
  await post(mapping, new URLSearchParams(columns));
  const uploadMs = performance.now() - begun;
  const megabytes = memory.end() - before;
  await scene.db`analyze contacts`;
  const judging = performance.now();
  await call(`/api/v1/surveys/${survey}/campaigns?dry_run=true`, {});
  return { uploadMs, megabytes, judgeMs: performance.now() - judging };
}

const list = () =>
  `email,name,plan\n${Array.from({ length: people }, (_, n) => `person${n}@list.example,Person ${n},pro`).join('\n')}\n`;

/** The largest resident memory meanwhile. */
function watchMemory({ service }: Scene) {
  let most = 0;
  const look = () => {
    most = Math.max(most, service.residentMegabytes() ?? 0);
  };
  const timer = setInterval(look, lookEveryMs);
  return {
    end() {
      clearInterval(timer);
      look();
      return most;
    },
  };
}

type Figures = {
  direct: number;
  perSecond: number;
  judgeMs: number;
  uploadMs: number;
  megabytes: number;
};

function lines({ direct, perSecond, judgeMs, uploadMs, megabytes }: Figures) {
  const share = perSecond / direct;
  return table(
    ['', 'measured', 'target', ''],
    [
      ['mails a second of direct sends', number(direct), '', ''],
      [
        'mails a second of a campaign',
        `${number(perSecond)} (${number(share, 2)} of direct)`,
        `${leastShare} of direct`,
        verdict(share >= leastShare),
      ],
      [
        `judgement of ${number(people)} contacts`,
        `${number(judgeMs)} ms`,
        `${number(judgedWithinMs)} ms`,
        verdict(judgeMs < judgedWithinMs),
      ],
      [
        `upload of ${number(people)} rows`,
        `${number(uploadMs)} ms`,
        `${number(uploadedWithinMs)} ms`,
        verdict(uploadMs < uploadedWithinMs),
      ],
      [
        'its resident memory',
        `${number(megabytes)} MB more`,
        `${mostMegabytes} MB`,
        verdict(megabytes < mostMegabytes),
      ],
    ],
  );
}
