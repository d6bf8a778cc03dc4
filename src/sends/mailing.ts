import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, isDatabaseAway, isDeadlock } from '../platform/db.ts';
import type { Log } from '../platform/log.ts';
import {
  beginMails,
  type ClaimedMail,
  giveUpBegun,
  listClaimed,
  lockMonths,
  type SettledMail,
  settleMails,
} from './mailing.queries.ts';
import { type MailOutcome, settle, unknownOutcome } from './rules.ts';
import type { Waiting } from './waiting.ts';

const groupedAtOnce = 200;
const writeAgainMs = 250;
const writeForMs = 60_000;

/** Writes and sends one mail; it never throws for what the mail server does. */
export type Mailer = {
  /** Mails that are worth having under way at once. */
  concurrency: number;
  send(mail: ClaimedMail): Promise<MailOutcome>;
};

export type MailingTools = { db: Db; log: Log; mailer: Mailer; waiting: Waiting };

export type Mailing = ReturnType<typeof createMailing>;

/**
 * Mails what jobs have claimed. Jobs of a process share its connections and its two writers: what is
 * about to go out is marked in groups, and outcomes are written in groups; while one group is being
 * written the next gathers.
 */
export function createMailing({ db, log, mailer, waiting }: MailingTools) {
  const slots = createSlots(mailer.concurrency);
  const begin = grouped<ClaimedMail, number | undefined>(async (mails) => {
    const begun = new Map(
      (await tryOn(() => beginMails(db, mails), isDeadlock)).map(({ id, attempts }) => [
        id,
        attempts,
      ]),
    );
    return mails.map(({ id }) => begun.get(id));
  });
  const record = grouped<SettledMail, void>(async (settled) => {
    const mayPass = (error: unknown) => isDatabaseAway(error) || isDeadlock(error);
    await tryOn(() => writeOutcomes(db, settled), mayPass);
    return settled.map(() => undefined);
  });

  /**
   * A job: every mail of it that is still to go out. Run again after a crash, it repeats none. It does
   * not end before all of them: run again while some are on their way, it would give these up.
   */
  async function mail(orgId: string, sendIds: readonly string[]) {
    const lost = await giveUpBegun(db, orgId, sendIds, unknownOutcome);
    const mails = await listClaimed(db, orgId, sendIds);
    try {
      const ends = await Promise.allSettled(mails.map(mailOne));
      const failure = ends.find(({ status }) => status === 'rejected');
      if (failure) throw (failure as PromiseRejectedResult).reason;
    } finally {
      const requests = [...lost, ...mails].map(({ request_id }) => request_id);
      await waiting.tell(requests).catch((error: unknown) => log.warn({ err: error }, 'not told'));
    }
  }

  async function mailOne(mail: ClaimedMail) {
    for (;;) {
      const tried = await slots.run(async () => {
        const attempt = await begin(mail);
        return attempt === undefined ? null : { attempt, outcome: await mailer.send(mail) };
      });
      if (!tried) return;
      const settlement = settle(tried.outcome, tried.attempt);
      await record(settledMail(mail, tried.attempt, settlement));
      if (settlement.status !== 'again') return;
      await sleep(settlement.inMs);
    }
  }

  return { mail };
}

function settledMail(
  { id, org_id }: ClaimedMail,
  attempt: number,
  settlement: ReturnType<typeof settle>,
): SettledMail {
  const row = { id, org_id, attempt, reason: null, bounced: false };
  switch (settlement.status) {
    case 'sent':
      return { ...row, status: 'sent', contact_status: 'sent' };
    case 'again':
      return { ...row, status: 'claimed', contact_status: 'pending', reason: settlement.reason };
    case 'unknown':
      return { ...row, status: 'unknown', contact_status: 'failed', reason: settlement.reason };
    case 'failed': {
      const contact_status = settlement.bounced ? 'bounced' : 'failed';
      const { reason, bounced } = settlement;
      return { ...row, status: 'failed', contact_status, reason, bounced };
    }
  }
}

/** One statement, but for mails that failed: their months are locked first. */
async function writeOutcomes(db: Db, settled: readonly SettledMail[]) {
  const failed = settled.filter(({ status }) => status === 'failed');
  if (failed.length === 0) return await settleMails(db, settled);
  await db.begin(async (tx) => {
    const ids = failed.map(({ id }) => id);
    await Promise.all([lockMonths(tx, ids), settleMails(tx, settled)]);
  });
}

/** What a mail server has said must not be forgotten because Postgres is away, or others stood in the way. */
async function tryOn<T>(write: () => Promise<T>, mayPass: (error: unknown) => boolean) {
  for (let waitedMs = 0; ; waitedMs += writeAgainMs) {
    try {
      return await write();
    } catch (error) {
      if (!mayPass(error) || waitedMs >= writeForMs) throw error;
      await sleep(writeAgainMs);
    }
  }
}

/** At most so many at once; the others wait in line. */
function createSlots(most: number) {
  let free = most;
  const line: (() => void)[] = [];
  async function run<T>(work: () => Promise<T>): Promise<T> {
    if (free > 0) free -= 1;
    else await new Promise<void>((turn) => line.push(turn));
    try {
      return await work();
    } finally {
      const next = line.shift();
      if (next) next();
      else free += 1;
    }
  }
  return { run };
}

type Waiter<In, Out> = { item: In; resolve: (out: Out) => void; reject: (error: unknown) => void };

/** Collects calls while one group is being written, and writes them as the next. */
function grouped<In, Out>(write: (items: In[]) => Promise<Out[]>) {
  const gathered: Waiter<In, Out>[] = [];
  let writing = false;

  async function writeAll() {
    writing = true;
    while (gathered.length > 0) {
      const group = gathered.splice(0, groupedAtOnce);
      try {
        const written = await write(group.map(({ item }) => item));
        for (const [place, { resolve }] of group.entries()) resolve(written[place]!);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    writing = false;
  }

  return (item: In) =>
    new Promise<Out>((resolve, reject) => {
      gathered.push({ item, resolve, reject });
      if (!writing) queueMicrotask(() => void (writing || writeAll()));
    });
}
