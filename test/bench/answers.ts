import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Db } from '../../src/lib/db/db.ts';
import { benchDatabase } from './database.ts';
import { applyLoad, get, type Measured, percentiles, post } from './load.ts';
import {
  costOf,
  type ProcessorTime,
  processorTimeOf,
  processorTimeOfPostgres,
} from './processor-time.ts';
import { number, type Section, table, verdict } from './report.ts';
import { addContacts, addSurveys, type SurveyOf } from './surveys.ts';

const connections = 64;
const seconds = 3;
const spreadOver = 1000;
const contactsEach = 24;
const answersAtMost = spreadOver * contactsEach;
const warmUp = 1000;

/** Measures posting answers, and the page with the form. */
export async function answers(server: string): Promise<Section[]> {
  const database = await benchDatabase(server);
  const listener = fork(fileURLToPath(new URL('./listener.ts', import.meta.url)));
  try {
    const spread = await addSurveys(database.db, { surveys: spreadOver, webhooks: true });
    const hot = await addSurveys(database.db, { surveys: 1, webhooks: true });
    const tokens = {
      spread: await addContacts(database.db, spread, contactsEach),
      hot: await addContacts(database.db, hot, answersAtMost),
    };
    // Leaves out tables that are still empty. Their statistics would cause sequential scans as they grow.
    await database.db`vacuum analyze organizations, surveys, contacts, survey_tallies, webhooks`;
    listener.send({ url: database.url });
    const [port] = (await once(listener, 'message')) as [number];

    const parts = {
      service: processorTimeOf(listener.pid!),
      postgres: await processorTimeOfPostgres(database.db),
    };
    const figures = {
      spread: await withCpu(parts, () => postAnswers(port, tokens.spread)),
      hot: await withCpu(parts, () => postAnswers(port, tokens.hot)),
      spreadFloor: await insertBare(database.db, spread),
      hotFloor: await insertBare(database.db, hot),
      pages: await withCpu(parts, () => getPages(port, tokens.hot)),
    };
    return [
      { title: `Responses: ${connections} connections, jobs not running`, lines: lines(figures) },
    ];
  } finally {
    listener.kill();
    await database.drop();
  }
}

type Parts = Readonly<Record<'service' | 'postgres', ProcessorTime>>;

/** On a shared machine, the CPU time per request is more reliable than the rate. */
async function withCpu(parts: Parts, measure: () => Promise<Measured[]>) {
  const { result: measured, us } = await costOf({ units: 1, parts }, measure);
  const requests = measured.reduce((sum, { count }) => sum + count, 0);
  return {
    ...measured.at(-1)!,
    us: { service: us.service / requests, postgres: us.postgres / requests },
  };
}

/** Each personal link accepts one answer. Neighbouring tokens belong to different surveys. */
async function postAnswers(port: number, tokens: readonly string[]): Promise<Measured[]> {
  const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
  const requests = tokens.map((token, n) =>
    post(`/s/${token}`, JSON.stringify({ score: n % 11, comment: 'quick and helpful' }), headers),
  );
  const load = { port, connections, seconds, once: true };
  const first = await applyLoad({ ...load, requests: requests.slice(0, warmUp) });
  const measured = await applyLoad({ ...load, requests: requests.slice(warmUp) });
  const refused = Object.entries(measured.refused);
  if (refused.length > 0) throw new Error(`answers were refused: ${JSON.stringify(refused)}`);
  return [first, measured];
}

async function getPages(port: number, tokens: readonly string[]): Promise<Measured[]> {
  const requests = tokens.slice(-5000).map((token) => get(`/s/${token}?score=9`));
  return [await applyLoad({ port, connections, seconds, requests })];
}

/** The floor: inserts only the row of an answer, with the same driver and pool. */
async function insertBare(db: Db, surveys: readonly SurveyOf[]) {
  const latencies: number[] = [];
  const begun = performance.now();
  const end = begun + seconds * 1000;
  let next = 0;
  const worker = async () => {
    for (let at = performance.now(); at < end; at = performance.now()) {
      const { orgId, id } = surveys[next++ % surveys.length]!;
      await db`
        insert into responses (org_id, survey_id, source, score, category, comment)
        values (${orgId}, ${id}, 'share', 9, 'promoter', 'quick and helpful')`;
      latencies.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return {
    perSecond: (latencies.length * 1000) / (performance.now() - begun),
    ...percentiles(latencies),
  };
}

type Rate = Pick<Measured, 'perSecond' | 'p50' | 'p99'> & { us?: Record<keyof Parts, number> };
type Figures = Record<'spread' | 'hot' | 'spreadFloor' | 'hotFloor' | 'pages', Rate>;

function lines({ spread, hot, spreadFloor, hotFloor, pages }: Figures): string[] {
  const row = (what: string, { perSecond, p50, p99, us }: Rate, expected = '', met?: boolean) => [
    what,
    `${number(perSecond)}/s`,
    number(p50, 1),
    number(p99, 1),
    us ? number(us.service) : '',
    us ? number(us.postgres) : '',
    expected,
    met === undefined ? '' : verdict(met),
  ];
  const hotPart = hot.perSecond / spread.perSecond;
  return [
    ...table(
      ['', 'rate', 'p50 ms', 'p99 ms', 'CPU µs', 'Postgres µs', 'expected', ''],
      [
        row(
          `responses over ${number(spreadOver)} surveys`,
          spread,
          '2,000/s',
          spread.perSecond >= 2000,
        ),
        row('floor: the bare insert', spreadFloor),
        row(
          `responses of one survey (${number(hotPart, 2)} of spread)`,
          hot,
          '0.7 of spread',
          hotPart >= 0.7,
        ),
        row('floor: the bare insert', hotFloor),
        row('pages', pages, '4,000/s', pages.perSecond >= 4000),
      ],
    ),
    '',
    `A survey has ${contactsEach} contacts, the single one ${number(answersAtMost)}. So each response to one of the many surveys may complete it, and waits until the previous response is committed. ` +
      "The bare insert includes the tallies' triggers.",
  ];
}
