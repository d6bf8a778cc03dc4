import { randomUUID } from 'node:crypto';
import { connect, type Db } from '../../src/platform/db.ts';
import { createLog } from '../../src/platform/log.ts';
import { readSmtpUrl } from '../../src/platform/mail/settings.ts';
import { createSmtpPool } from '../../src/platform/mail/smtp.ts';
import { claim } from '../../src/sends/claim.ts';
import { createMailer } from '../../src/sends/mailer.ts';
import { createMailing } from '../../src/sends/mailing.ts';
import { readContact } from '../../src/sends/rules.ts';
import type { Orders, Point } from './mail-points.ts';

/** Sends as the service does, in a process of its own that dies by SIGKILL at the point it is told. */
async function send({ databaseUrl, smtpUrl, point, ...order }: Orders) {
  const db = connect(databaseUrl, { connections: 4 });
  const log = createLog({ level: 'fatal' });
  const dieAt = (here: Point) => {
    if (here === point) process.kill(process.pid, 'SIGKILL');
  };
  const pool = createSmtpPool(readSmtpUrl(smtpUrl).settings, {
    onStage: (stage) => dieAt(stage === 'before_data' ? 'before DATA' : 'after the 250'),
  });
  const mailer = createMailer({
    ...{ transport: pool, concurrency: 4, publicUrl: 'https://ask.example' },
    ...{ dkim: null, bounceDomain: null },
  });
  const waiting = {
    nextNews: async () => {},
    tell: async () => dieAt('after the record'),
    stop: async () => {},
  };
  const settings = { sendDeadlineSeconds: 60 };
  const mailing = createMailing({ db, log, mailer, waiting, settings });

  if (order.emails.length > 0) {
    const dying = point === 'before the claim commits' ? strikingBeforeCommit(db, dieAt) : db;
    const submitted = order.emails.map((email) => readContact({ email }, () => true));
    await claim(dying, order, { requestId: randomUUID(), submitted, traceparent: null });
    dieAt('after the claim');
  }
  const jobs = await db<{ payload: { org_id: string; send_ids: string[] } }[]>`
    select payload from outbox where task = 'sends.mail' and payload ->> 'org_id' = ${order.orgId}`;
  for (const { payload } of jobs) await mailing.mail(payload.org_id, payload.send_ids);
  await db`delete from outbox where payload ->> 'org_id' = ${order.orgId}`;
  await pool.close();
  await db.end();
}

/** All statements of a transaction have run, and the process dies with its COMMIT unsaid. */
function strikingBeforeCommit(db: Db, dieAt: (here: Point) => void): Db {
  return new Proxy(db, {
    get(target, name) {
      if (name !== 'begin') return Reflect.get(target, name);
      return (work: Parameters<Db['begin']>[1]) =>
        target.begin(async (tx) => {
          const result = await work(tx);
          dieAt('before the claim commits');
          return result;
        });
    },
  });
}

await send(JSON.parse(process.argv[2]!) as Orders);
