import { randomUUID } from 'node:crypto';
import type { TransactionSql } from 'postgres';
import { connect, type Db } from '../../src/lib/db/db.ts';
import { createLog } from '../../src/lib/log/log.ts';
import { readSmtpUrl } from '../../src/lib/smtp/settings.ts';
import { createSmtpPool } from '../../src/lib/smtp/smtp.ts';
import { claim } from '../../src/sends/claim.ts';
import { createMailJobs } from '../../src/sends/mail-job.ts';
import { createMailer } from '../../src/sends/mailer.ts';
import { readContact } from '../../src/sends/rules.ts';
import { mailed } from '../../src/signals.ts';
import type { Order, Place, Point } from './mail-points.ts';

const settings = { sendDeadlineSeconds: 60 };
const connections = 4;

export type Sender = ReturnType<typeof createSender>;

/** Claims and mails as the service does, and says when it comes past a point. */
export function createSender({ databaseUrl, smtpUrl }: Place, pass: (point: Point) => void) {
  const db = connect(databaseUrl, { connections });
  const pool = createSmtpPool(readSmtpUrl(smtpUrl).settings, {
    onStage: (stage) => pass(stage === 'before_data' ? 'before DATA' : 'after the 250'),
  });
  const mailer = createMailer({
    ...{ transport: pool, concurrency: connections, publicUrl: 'https://ask.example' },
    ...{ dkim: null, bounceDomain: null },
  });
  const progress = { nextNews: async () => {}, notify: async () => {}, stop: async () => {} };
  const log = createLog({ level: 'fatal' });
  const mailJobs = createMailJobs({ db, log, mailer, progress, settings });
  const deafen = mailed.subscribe(() => pass('after the record'));

  return {
    async claim({ emails, ...where }: Order) {
      const submitted = emails.map((email) => readContact({ email }));
      const wish = { requestId: randomUUID(), submitted, traceparent: null };
      await claim(passingBeforeCommit(db, pass), where, wish);
      pass('after the claim');
    },
    /** The jobs that an organization has left, side by side. */
    async mail(orgId: string) {
      const jobs = await db<{ id: string; mail_ids: string[] }[]>`
        select id, payload -> 'mail_ids' as mail_ids from outbox
        where task = 'sends.mail' and payload ->> 'org_id' = ${orgId}`;
      await Promise.all(jobs.map(({ mail_ids }) => mailJobs.run(orgId, mail_ids)));
      await db`delete from outbox where id = any (${jobs.map(({ id }) => id)})`;
    },
    async close() {
      deafen();
      await pool.close();
      await db.end();
    },
  };
}

/** All statements of a transaction have run, and its COMMIT is still unsaid. */
function passingBeforeCommit(db: Db, pass: (point: Point) => void): Db {
  return new Proxy(db, {
    get(target, name) {
      if (name !== 'begin') return Reflect.get(target, name);
      return (options: string, work: (tx: TransactionSql) => Promise<unknown>) =>
        target.begin(options, async (tx) => {
          const result = await work(tx);
          pass('before the claim commits');
          return result;
        });
    },
  });
}
