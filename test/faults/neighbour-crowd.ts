import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Db } from '../../src/lib/db/db.ts';
import type { Party, Tenant } from './neighbour-party.ts';

export const uses = ['call', 'answer', 'delivery', 'mail'] as const;
export type Use = (typeof uses)[number];
export type WrongUses = Record<Use, string[]>;

export const noneWrong = (): WrongUses => ({ call: [], answer: [], delivery: [], mail: [] });

/** One organization at its worst with one shared thing. */
export type Crowd = {
  shared: string;
  /** How long the mail server takes for a message. */
  exchangeMs?: number;
  prepare?: (scene: CrowdScene) => Promise<unknown>;
  /** Begins the worst. What it returns ends it, and says what went wrong in it. */
  start: (
    scene: CrowdScene,
    gone: AbortSignal,
  ) => Promise<((wrong: WrongUses) => Promise<unknown>) | undefined>;
};

export type CrowdScene = {
  db: Db;
  address: string;
  many: Party;
  urlOf: (path: string) => string;
};

/** Start parameters of the thread of a crowd. */
export type CrowdPlace = {
  shared: string;
  databaseUrl: string;
  address: string;
  many: Tenant;
  subscriber: string;
};

/** A crowd in a thread of its own. */
export async function startCrowd(place: CrowdPlace) {
  const thread = new Worker(new URL('./neighbour-crowd-thread.ts', import.meta.url), {
    workerData: place,
  });

  async function answer<Reply>(question?: 'begin' | 'leave'): Promise<Reply> {
    const answered = once(thread, 'message');
    if (question) thread.postMessage(question);
    return (await answered)[0] as Reply;
  }

  await answer();
  return {
    begin: () => answer<void>('begin'),
    /** Returns what went wrong in it. */
    leave: () => answer<WrongUses>('leave'),
    end: () => thread.terminate(),
  };
}
