import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Db } from '../../src/lib/db/db.ts';
import { mergeQuestions } from '../../src/questions/definition.ts';
import { readResults } from '../../src/questions/results.ts';
import { type BenchDatabase, benchDatabase } from './database.ts';
import { applyLoad, type Measured, percentiles, post } from './load.ts';
import { number, type Section, table, verdict } from './report.ts';
import { postgresCpuMs } from './send-scene.ts';
import { usageOf } from './service.ts';
import { addContacts, addSurveys, type SurveyOf } from './surveys.ts';

const connections = 32;
const respondents = 6000;
const warmUp = 1000;
const manyResponses = 1_000_000;
const readings = 30;

const options = ['Taste', 'Price', 'Delivery', 'Packaging'].map((label, at) => ({
  id: `o_${at}`,
  label,
}));
const questions = mergeQuestions(
  [],
  [
    { kind: 'choice', text: 'What matters most?', options },
    { kind: 'scale', text: 'How was the taste?', min: 0, max: 10 },
    { kind: 'text', text: 'What can we improve?' },
  ],
  new Set(),
);
const [choice, scale, text] = questions;

/** Measures saving three follow-up answers compared with the score alone, and counting a million answers. */
export async function followUps(server: string): Promise<Section[]> {
  const answering = await measureAnswers(server);
  const counting = await measureResults(server);
  return [{ title: 'Follow-up questions', lines: [...answering, '', ...counting] }];
}

async function measureAnswers(server: string) {
  const database = await benchDatabase(server);
  const listener = fork(fileURLToPath(new URL('./listener.ts', import.meta.url)));
  try {
    const { db } = database;
    const surveys = await addSurveys(db, { surveys: 1000, webhooks: false });
    await db`update surveys set questions = ${db.json(questions as never)}`;
    const tokens = await addContacts(db, surveys, respondents / 1000);
    await db`vacuum analyze organizations, surveys, contacts, survey_tallies`;
    listener.send({ url: database.url });
    const [port] = (await once(listener, 'message')) as [number];
    const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
    const measure = (path: string, body: object) =>
      withCpu({ pid: listener.pid!, database }, async () => {
        const requests = tokens.map((token) =>
          post(`/s/${token}${path}`, JSON.stringify(body), headers),
        );
        const load = { port, connections, seconds: 60, once: true };
        await applyLoad({ ...load, requests: requests.slice(0, warmUp) });
        return await applyLoad({ ...load, requests: requests.slice(warmUp) });
      });
    const score = await measure('', { score: 3, comment: 'quick and helpful' });
    const answers = await measure('/answers', {
      answers: [
        { question_id: choice!.id, value: 'o_1' },
        { question_id: scale!.id, value: 7 },
        { question_id: text!.id, value: 'Darker roasts and larger bags' },
      ],
    });
    const factor = 1 + answers.us / score.us;
    const row = (what: string, { perSecond, p50, us }: typeof score) => [
      what,
      `${number(perSecond)}/s`,
      number(p50, 1),
      number(us),
    ];
    return table(
      ['', 'rate', 'p50 ms', 'CPU µs', 'expected', ''],
      [
        [...row('score', score), '', ''],
        [...row('three answers after it', answers), '', ''],
        [
          `score and answers: ${number(factor, 2)} of a score`,
          '',
          '',
          number(score.us + answers.us),
          'at most 1.6',
          verdict(factor <= 1.6),
        ],
      ],
    );
  } finally {
    listener.kill();
    await database.drop();
  }
}

/** Microseconds of the service and of Postgres together, for each request. */
async function withCpu(
  { pid, database }: { pid: number; database: BenchDatabase },
  load: () => Promise<Measured>,
) {
  const usage = usageOf(pid);
  const spent = async () => usage.cpuMs() + (await postgresCpuMs(database));
  const before = await spent();
  const measured = await load();
  const refused = Object.entries(measured.refused);
  if (refused.length > 0) throw new Error(`some were refused: ${JSON.stringify(refused)}`);
  return { ...measured, us: (1000 * ((await spent()) - before)) / respondents };
}

async function measureResults(server: string) {
  const database = await benchDatabase(server);
  try {
    const [survey] = await addSurveys(database.db, { surveys: 1, webhooks: false });
    await seedAnswers(database.db, survey!);
    const latencies: number[] = [];
    for (let n = 0; n < readings; n++) {
      const begun = performance.now();
      await readResults(database.db, survey!.orgId, survey!.id, null);
      latencies.push(performance.now() - begun);
    }
    const { p50, p99 } = percentiles(latencies);
    return table(
      ['', 'p50 ms', 'p99 ms', 'expected', ''],
      [
        [
          `results of a question, ${number(manyResponses)} answers`,
          number(p50, 1),
          number(p99, 1),
          'under 150 ms',
          verdict(p50 < 150),
        ],
      ],
    );
  } finally {
    await database.drop();
  }
}

/** Writes rows and facets as the triggers would, in one statement each. */
async function seedAnswers(db: Db, { orgId, id }: SurveyOf) {
  const asked = [choice!];
  await db`update surveys set questions = ${db.json(asked as never)} where org_id = ${orgId} and id = ${id}`;
  await db`alter table responses disable trigger user`;
  await db`alter table response_answers disable trigger user`;
  await db`
    insert into responses (org_id, survey_id, source, score, category, created_at)
    select ${orgId}, ${id}, 'share', n % 11,
           case when n % 11 <= 6 then 'detractor' when n % 11 <= 8 then 'passive' else 'promoter' end,
           now() - make_interval(secs => n * 20)
    from generate_series(1, ${manyResponses}::int) n`;
  await db`
    insert into response_answers (org_id, response_id, answers, sent, completed_at)
    select org_id, id, jsonb_build_object(${choice!.id}::text, jsonb_build_object('value', 'o_' || score % 4)),
           true, now()
    from responses
    where org_id = ${orgId}`;
  await db`
    insert into response_facets (org_id, facet, created_at, response_id, survey_id, category, score)
    select org_id, facet_of('answer', ${choice!.id}::text, 'o_' || score % 4), created_at, id, survey_id, category, score
    from responses
    where org_id = ${orgId}`;
  await db`vacuum analyze`;
}
