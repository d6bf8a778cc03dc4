import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Db } from '../../src/lib/db/db.ts';
import type { Party, Tenant } from './neighbour-party.ts';

export const uses = ['call', 'answer', 'delivery', 'mail'] as const;
export type Use = (typeof uses)[number];
export type WrongUses = Record<Use, string[]>;

export const noneWrong = (): WrongUses => ({ call: [], answer: [], delivery: [], mail: [] });

/** The heaviest load of one organization on one shared resource. */
export type Crowd = {
  shared: string;
  /** The time that the mail server takes per message. */
  exchangeMs?: number;
  prepare?: (scene: CrowdScene) => Promise<unknown>;
  /** Starts the load. Returns a function that stops it and reports wrong outcomes. */
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

/** Parameters of the crowd's thread. */
export type CrowdPlace = {
  shared: string;
  databaseUrl: string;
  address: string;
  many: Tenant;
  subscriber: string;
};

/** Runs a crowd in its own thread. */
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
    /** Stops the crowd and returns its wrong outcomes. */
    leave: () => answer<WrongUses>('leave'),
    end: () => thread.terminate(),
  };
}
