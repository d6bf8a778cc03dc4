import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../src/lib/db/db.ts';
import { reckon } from '../faults/ledger.ts';
import { answersOf, drained, webhooks } from '../faults/scene.ts';
import type { DrillScene } from './scene.ts';
import type { Attempt, Kind, Traffic } from './traffic.ts';

/** A line of the ledger. With a limit it is a promise. */
export type Line = { what: string; count: number | string; atMost?: number; atLeast?: number };

export const isBroken = ({ count, atMost, atLeast }: Line) =>
  (atMost !== undefined && Number(count) > atMost) ||
  (atLeast !== undefined && Number(count) < atLeast);

const outcomesWithinMs = 60_000;

/** Compares promises to callers with the data of the database, the mail server and the subscribers. */
export async function balance(db: Db, scene: DrillScene, traffic: Traffic): Promise<Line[]> {
  const orgId = scene.client.id;
  const undelivered = await drained(db, orgId);
  const mails = await mailLines(db, scene, traffic);
  const committed = await answersOf(db, orgId);
  const { acknowledged } = traffic;
  const { arrivals } = scene.subscribers;
  const books = reckon({ webhooks, committed, acknowledged, arrivals, faults: [] });
  return [
    { what: 'answers acknowledged', count: acknowledged.length, atLeast: 1 },
    { what: 'answers in the database', count: committed.size },
    { what: 'answers acknowledged and lost', count: books.acknowledged_but_lost, atMost: 0 },
    ...mails,
    { what: 'deliveries expected', count: books.expected },
    { what: 'deliveries arrived', count: books.arrived },
    { what: 'deliveries missing', count: books.missing + undelivered, atMost: 0 },
    { what: 'deliveries invented', count: books.invented, atMost: 0 },
    { what: 'deliveries repeated (at least once is promised)', count: books.duplicates },
  ];
}

async function mailLines(db: Db, { mailedSurvey, mails }: DrillScene, traffic: Traffic) {
  const rows = await finishedMails(db, mailedSurvey);
  const recorded = new Set(rows.flatMap((row) => (row.status === 'sent' ? [row.email] : [])));
  const count = (...words: string[]) => rows.filter(({ status }) => words.includes(status)).length;
  const called = [...traffic.sent];
  return [
    { what: 'mails acknowledged as sent', count: called.length, atLeast: 1 },
    { what: 'mails recorded as sent', count: recorded.size },
    { what: 'mails at the mail server', count: [...mails.values()].reduce((sum, n) => sum + n, 0) },
    {
      what: 'mails acknowledged and lost',
      count: called.filter((to) => !mails.has(to)).length,
      atMost: 0,
    },
    {
      what: 'mails recorded and lost',
      count: [...recorded].filter((to) => !mails.has(to)).length,
      atMost: 0,
    },
    {
      what: 'mails that arrived twice',
      count: [...mails.values()].filter((n) => n > 1).length,
      atMost: 0,
    },
    { what: 'mails without an outcome', count: count('claimed', 'sending'), atMost: 0 },
    { what: 'mails of unknown outcome or failed', count: count('unknown', 'failed') },
  ] satisfies Line[];
}

type MailRow = { email: string; status: string };

async function finishedMails(db: Db, surveyId: string): Promise<readonly MailRow[]> {
  const late = performance.now() + outcomesWithinMs;
  for (;;) {
    const rows = await db<MailRow[]>`select email, status from mails where survey_id = ${surveyId}`;
    const isOpen = rows.some(({ status }) => status === 'claimed' || status === 'sending');
    if (!isOpen || performance.now() > late) return rows;
    await sleep(100);
  }
}

/** Statuses of requests, with a line for each kind. */
export function requestLines({ attempts }: Traffic): Line[] {
  return [...Map.groupBy(attempts, ({ kind }) => kind)].map(([kind, all]) => {
    const counts = [...Map.groupBy(all, ({ status }) => status)].map(
      ([status, { length }]) => `${status}: ${length}`,
    );
    return { what: `${kind} requests by status`, count: counts.toSorted().join(', ') };
  });
}

/** Errors that the services logged, and services that ended. */
export function serviceLines({ services }: DrillScene): Line[] {
  const ended = services.flatMap((service) => service.ended);
  const errors = services.flatMap(({ logged }) => logged.filter((line) => line.startsWith('{')));
  const words = errors.map((line) => {
    const { msg, err } = JSON.parse(line) as { msg: string; err?: { message: string } };
    return err ? `${msg}: ${err.message}` : msg;
  });
  return [
    ...[...Map.groupBy(words, (each) => each)].map(([each, { length }]) => ({
      what: `logged as an error: ${each}`,
      count: length,
    })),
    ...ended.map((each) => ({ what: `a service ${each}`, count: 1 })),
    { what: 'services that ended by themselves', count: ended.length, atMost: 0 },
  ];
}

const kinds: readonly Kind[] = ['answer', 'send', 'read'];

/**
 * For each kind of request, the time from a moment until the first success. Requests that began after the limit must
 * not fail.
 */
export function resumedLines(
  { attempts }: Traffic,
  aliveAt: number,
  { limitMs, limited = kinds }: { limitMs: number; limited?: readonly Kind[] },
): Line[] {
  const later = attempts.filter(({ begunAt }) => begunAt > aliveAt + limitMs);
  return [
    ...kinds.map((kind) => {
      const first = attempts
        .filter((it) => it.kind === kind && it.endedAt >= aliveAt && isSuccess(it))
        .reduce((soonest, { endedAt }) => Math.min(soonest, endedAt), Number.POSITIVE_INFINITY);
      const line = { what: `first ${kind} after it, ms`, count: first - aliveAt };
      return limited.includes(kind) ? { ...line, atMost: limitMs } : line;
    }),
    {
      what: `requests that began more than ${limitMs / 1000} s after it`,
      count: later.length,
      atLeast: 1,
    },
    { what: 'of these without success', count: later.filter(isFailure).length, atMost: 0 },
  ];
}

const calmMs = 2000;

/** Waits until requests of each kind have succeeded for two seconds, including mails, and none has failed. */
export async function servedAgain(
  { attempts, sent }: Traffic,
  { after, limitMs }: { after: string; limitMs: number },
): Promise<Line> {
  const [since, sentBefore] = [Date.now(), sent.size];
  for (;;) {
    const failedAt = attempts.findLast(isFailure)?.begunAt ?? since;
    const waited = Math.max(0, failedAt - since);
    const later = attempts.filter(({ begunAt }) => begunAt > since + waited);
    const served = kinds.every((kind) => later.some((it) => it.kind === kind && isSuccess(it)));
    const isCalm = served && sent.size > sentBefore && Date.now() - since - waited > calmMs;
    const count = isCalm ? waited : Date.now() - since;
    if (isCalm || count > limitMs)
      return { what: `ms after ${after} until no request failed`, count, atMost: limitMs };
    await sleep(50);
  }
}

const isSuccess = ({ status }: Attempt) => Number(status) >= 200 && Number(status) < 300;
/** 409 means that an earlier attempt was recorded, although its response was lost. */
export const isFailure = (attempt: Attempt) => !isSuccess(attempt) && attempt.status !== 409;
