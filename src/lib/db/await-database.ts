import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '../../errors.ts';
import { withinMs } from '../async/deadline.ts';
import { type Db, isDatabaseAway, isDatabaseFull } from './db.ts';
import { notWritable } from './servers.ts';

type Patience = { seconds: number; say: (sentence: string) => void };

const pollMs = 250;
const maxAnswerMs = 6000;
const minAnswerMs = 1500;

/** Waits while Postgres is starting or unreachable. Any other error, such as a wrong password, is thrown at once. */
export async function awaitDatabase(db: Db, { seconds, say }: Patience) {
  const endsAt = Date.now() + seconds * 1000;
  const limitMs = Math.min(maxAnswerMs, Math.max(seconds * 1000, minAnswerMs));
  const place = `${db.options.host[0]}:${db.options.port[0]}`;
  for (let tries = 1; ; tries++) {
    const failure = await findFailure(db, limitMs);
    if (failure === undefined) return;
    const { reason, isOneOfSeveral } = failure;
    if (Date.now() >= endsAt) {
      const sentence = isOneOfSeveral
        ? `no server took writes within ${seconds} seconds`
        : `the database at ${place} did not answer within ${seconds} seconds`;
      throw unavailable(`${sentence} (${reason})`);
    }
    if (tries === 1) {
      const what = isOneOfSeveral ? 'a server that takes writes' : `the database at ${place}`;
      say(`waiting up to ${seconds} seconds for ${what} (${reason})`);
    }
    await sleep(pollMs);
  }
}

export async function ping(db: Db): Promise<undefined> {
  await db`select 1`;
}

async function findFailure(db: Db, limitMs: number) {
  try {
    return await withinMs(ping(db), limitMs, () => ({
      reason: 'it accepts connections but does not respond like Postgres',
      isOneOfSeveral: false,
    }));
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
    const { message, code } = error as NodeJS.ErrnoException;
    return { reason: message || String(error), isOneOfSeveral: code === notWritable };
  }
}

type Fault = {
  code?: unknown;
  message?: unknown;
  path?: unknown;
  address?: unknown;
  port?: unknown;
};

/** Explains a system or Postgres error in a sentence that says what to do. */
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
    ? `${fault.path}: permission denied`
    : `${where(fault)}: permission denied; ports under 1024 need a privilege`;

const sentences: Readonly<Record<string, (fault: Fault) => string>> = {
  EADDRINUSE: (fault) =>
    `${where(fault)} is in use by another program; set PORT to another one, or to 0 for a free one`,
  EADDRNOTAVAIL: (fault) =>
    `${fault.address} is not an address of this machine; set HOST to one that is`,
  EACCES: denied,
  EPERM: denied,
  EROFS: ({ path }) => `${path} is on a read-only file system`,
  ENOTDIR: ({ path }) => `part of ${path} is not a folder`,
  EISDIR: ({ path }) => (path ? `${path} is a folder` : 'a folder was found instead of a file'),
  ENOSPC: ({ path }) => `the disk is full${path ? ` (${path})` : ''}`,
  EDQUOT: ({ path }) => `the disk quota is used up${path ? ` (${path})` : ''}`,
  '25006': () => 'the database is read-only; DATABASE_URL must name the primary',
  '28000': () => 'the database rejected the user in DATABASE_URL',
  '28P01': () => 'the database rejected the user or password in DATABASE_URL',
  '3D000': () => 'the database in DATABASE_URL does not exist on that server',
  '42501': ({ message }) => `the database user lacks a privilege: ${message}`,
};
