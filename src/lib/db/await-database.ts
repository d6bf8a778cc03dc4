import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../../errors.ts';
import { withinMs } from '../async/deadline.ts';
import { type Db, isDatabaseAway, isDatabaseFull } from './db.ts';
import { notWritable } from './servers.ts';

type Patience = { seconds: number; say: (sentence: string) => void };

const pollMs = 250;
const answerLimitMs = 6000;
const leastAnswerLimitMs = 1500;
const noPostgres = 'it accepts connections, and does not answer as Postgres does';

/** Waits for a Postgres that is starting or unreachable. One that says no is not asked again. */
export async function awaitDatabase(db: Db, { seconds, say }: Patience) {
  const giveUpAt = Date.now() + seconds * 1000;
  const limitMs = Math.min(answerLimitMs, Math.max(seconds * 1000, leastAnswerLimitMs));
  const place = `${db.options.host[0]}:${db.options.port[0]}`;
  for (let tries = 1; ; tries++) {
    const away = await whyAway(db, limitMs);
    if (away === undefined) return;
    const { why, isOneOfSeveral } = away;
    if (Date.now() >= giveUpAt) {
      const sentence = isOneOfSeveral
        ? `no server took writes within ${seconds} seconds`
        : `the database at ${place} did not answer within ${seconds} seconds`;
      throw new Refusal('unavailable', `${sentence} (${why})`);
    }
    if (tries === 1) {
      const what = isOneOfSeveral ? 'a server that takes writes' : `the database at ${place}`;
      say(`waiting up to ${seconds} seconds for ${what} (${why})`);
    }
    await sleep(pollMs);
  }
}

/** Asks Postgres for nothing: an answer shows that it can be reached. */
export async function ping(db: Db): Promise<undefined> {
  await db`select 1`;
}

async function whyAway(
  db: Db,
  limitMs: number,
): Promise<{ why: string; isOneOfSeveral: boolean } | undefined> {
  const mute = { why: noPostgres, isOneOfSeveral: false };
  try {
    return await withinMs(ping(db), limitMs, () => mute);
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
    const { message, code } = error as NodeJS.ErrnoException;
    return { why: message || String(error), isOneOfSeveral: code === notWritable };
  }
}

type Fault = {
  code?: unknown;
  message?: unknown;
  path?: unknown;
  address?: unknown;
  port?: unknown;
};

export function explainError(error: unknown): string {
  const fault = (error ?? {}) as Fault;
  const sentence = sentences[String(fault.code)];
  if (sentence) return sentence(fault);
  if (isDatabaseFull(error)) return 'the disk of the database is full';
  if (isDatabaseAway(error)) return `the database cannot be reached (${fault.message})`;
  return String(fault.message ?? error);
}

const where = ({ address, port }: Fault) =>
  String(address).includes(':') ? `[${address}]:${port}` : `${address}:${port}`;

const denied = (fault: Fault) =>
  fault.port === undefined
    ? `${fault.path} belongs to another user or may not be used by this one`
    : `${where(fault)} may not be used by this user: ports under 1024 need a privilege`;

const sentences: Readonly<Record<string, (fault: Fault) => string>> = {
  EADDRINUSE: (fault) =>
    `${where(fault)} is in use by another program; set PORT to another one, or to 0 for a free one`,
  EADDRNOTAVAIL: (fault) => `${fault.address} is not an address of this machine; set HOST to one`,
  EACCES: denied,
  EPERM: denied,
  EROFS: ({ path }) => `${path} is on a file system that cannot be written to`,
  ENOTDIR: ({ path }) => `${path} leads through something that is not a folder`,
  EISDIR: ({ path }) => `${path ?? 'what should be a file'} is a folder`,
  ENOSPC: ({ path }) => `the disk is full${path ? ` (${path})` : ''}`,
  EDQUOT: ({ path }) => `the disk quota is used up${path ? ` (${path})` : ''}`,
  '25006': () => 'the database is read-only; DATABASE_URL must name the primary',
  '28000': () => 'the database does not accept the user that DATABASE_URL names',
  '28P01': () => 'the database does not accept the user or the password in DATABASE_URL',
  '3D000': () => 'the database that DATABASE_URL names does not exist on that server',
  '42501': ({ message }) => `the database user lacks a privilege: ${message}`,
};
