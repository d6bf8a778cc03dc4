import { randomUUID } from 'node:crypto';
import type { TransactionSql } from 'postgres';
import { commandWriter } from '../../src/audit/acts.ts';
import { advanceCampaign } from '../../src/campaigns/advance.ts';
import { sendAutomatically } from '../../src/campaigns/automation.ts';
import { createCampaign } from '../../src/campaigns/campaign.ts';
import { connect, type Db } from '../../src/lib/db/db.ts';
import { createLog } from '../../src/lib/log/log.ts';
import { readSmtpUrl } from '../../src/lib/smtp/settings.ts';
import { createSmtpPool } from '../../src/lib/smtp/smtp.ts';
import { claim } from '../../src/sends/claim.ts';
import { createMailer, createMailJobs } from '../../src/sends/mail-job.ts';
import { readContact } from '../../src/sends/rules.ts';
import { mailed } from '../../src/signals.ts';
import type { Order, Place, Point } from './mail-points.ts';

const settings = { sendDeadlineSeconds: 60 };
const connections = 4;

type MailOrTurn = {
  id: string;
  task: 'sends.mail' | 'campaigns.advance';
  payload: { org_id: string; mail_ids: string[]; campaign_id: string; turn: number };
};

export type Sender = ReturnType<typeof createSender>;

/** Claims and sends mails like the service, and reports each point that it passes. */
export function createSender({ databaseUrl, smtpUrl }: Place, pass: (point: Point) => void) {
  const db = connect(databaseUrl, { connections });
  const pool = createSmtpPool(readSmtpUrl(smtpUrl).settings, {
    onStage: (stage) => pass(stage === 'before_data' ? 'before DATA' : 'after the 250'),
  });
  const mailer = createMailer({
    transport: pool,
    concurrency: connections,
    publicUrl: 'https://ask.example',
    dkim: null,
    bounceDomain: null,
  });
  const progress = { report: async () => {} };
  const log = createLog({ level: 'fatal' });
  const mailJobs = createMailJobs({ db, log, mailer, progress, settings });
  const deafen = mailed.subscribe(() => pass('after the record'));

  const passing = passingBeforeCommit(db, pass);
  const tools = { db: passing };
  const run = ({ task, payload }: MailOrTurn) =>
    task === 'sends.mail'
      ? mailJobs.run(payload.org_id, payload.mail_ids)
      : advanceCampaign(tools, payload);
  const automatically = async () => {
    await sendAutomatically(tools);
    pass('after the claim');
  };
  const begin = {
    /** Creates one campaign, even if called again. */
    async campaign({ orgId, surveyId }: Omit<Order, 'emails' | 'cause'>) {
      const [known] = await db`select from campaigns where survey_id = ${surveyId}`;
      if (!known) await createCampaign(tools, commandWriter(orgId), { surveyId });
      pass('after the claim');
    },
    reminder: () => automatically(),
    round: () => automatically(),
  };

  return {
    /** Claims the mails, or lets a campaign, reminders or rounds claim them in steps. */
    async cause({ emails, cause, ...where }: Order) {
      if (cause !== 'send') return await begin[cause](where);
      const submitted = emails.map((email) => readContact({ email }));
      const wish = { requestId: randomUUID(), submitted, traceparent: null };
      await claim(passing, where, wish);
      pass('after the claim');
    },
    /** Runs the remaining jobs of an organization concurrently. */
    async mail(orgId: string) {
      for (;;) {
        const jobs = await db<MailOrTurn[]>`
          select j.id, t.identifier as task, j.payload
          from graphile_worker._private_jobs j
          join graphile_worker._private_tasks t on t.id = j.task_id
          where t.identifier in ('sends.mail', 'campaigns.advance') and j.payload ->> 'org_id' = ${orgId}`;
        if (jobs.length === 0) return;
        await Promise.all(jobs.map(run));
        await db`delete from graphile_worker._private_jobs where id = any (${jobs.map(({ id }) => id)})`;
      }
    },
    async close() {
      deafen();
      await pool.close();
      await db.end();
    },
  };
}

/** All statements of the transaction have run, but COMMIT was not sent. */
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
