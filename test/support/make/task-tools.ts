import { createAppMailer } from '../../../src/app-mailer.ts';
import type { Db } from '../../../src/lib/db/db.ts';
import { createLog } from '../../../src/lib/log/log.ts';
import { redact, redactedExcerpt } from '../../../src/lib/redact/redact.ts';
import { createMailbox } from '../../../src/mailbox/mailbox.ts';
import { noErasureFile } from '../../../src/people/receipts-file.ts';
import { createMailer, createMailJobs } from '../../../src/sends/mail-job.ts';
import { createBuiltinAnalyst } from '../../../src/summaries/analyst.ts';
import { readComment } from '../../../src/summaries/builtin.ts';
import { createAnalystQueue } from '../../../src/summaries/comment-reader.ts';
import type { TaskTools } from '../../../src/tasks.ts';
import { createDeliveryWorker } from '../../../src/webhooks/worker.ts';
import { plainSecrets, subscriber } from '../fakes/subscriber.ts';

/** Tools of jobs with the built-in mailbox and subscribers that accept everything. */
export function taskTools(db: Db): TaskTools {
  const log = createLog({ level: 'silent' });
  const publicUrl = 'https://askback.test';
  const progress = { report: async () => {} };
  const transport = createMailbox(db);
  const mailer = createMailer({
    transport,
    publicUrl,
    concurrency: 5,
    dkim: null,
    bounceDomain: null,
  });
  return {
    db,
    log,
    publicUrl,
    redact,
    excerpt: redactedExcerpt,
    outbound: subscriber(200).outbound,
    secrets: plainSecrets,
    erasureFile: noErasureFile,
    settings: { sendDeadlineSeconds: 60 },
    appMailer: createAppMailer({ transport, dkim: null, mailFrom: null, publicUrl }),
    analyst: createBuiltinAnalyst(readComment),
    analystQueue: createAnalystQueue({ db }),
    mailer,
    progress,
    mailJobs: createMailJobs({ db, log, mailer, progress, settings: { sendDeadlineSeconds: 60 } }),
    deliveries: createDeliveryWorker({
      db,
      log,
      secrets: plainSecrets,
      settings: { serviceName: 'Service' },
      outbound: subscriber(200).outbound,
      claimer: () => 'test',
    }),
  };
}
