import type { CronItem } from 'graphile-worker';
import * as v from 'valibot';
import { expire } from './keys/cleanup.ts';
import type { Db } from './lib/db/db.ts';
import type { Jobs } from './lib/queue/outbox.ts';
import { type Task, task } from './lib/queue/task.ts';
import { Uuid } from './lib/validation/parse.ts';
import { deleteOldMessages } from './mailbox/mailbox.ts';
import { cleanUpVisits } from './responses/cleanup.ts';
import type { MailJobs } from './sends/mail-job.ts';
import { type RecoverTools, recoverStrandedMails } from './sends/recover.ts';
import { type AnalyzeTools, analyze } from './summaries/analyze.ts';
import { planMonths, type SummaryTools, summarizeMonth } from './summaries/summarize.ts';
import { foldTallies } from './surveys/queries.ts';
import { cleanUpDeliveries } from './webhooks/cleanup.ts';
import { type NotifyTools, notifyDeactivated } from './webhooks/notify-deactivated.ts';
import type { DeliveryWorker } from './webhooks/worker.ts';

/** Everything a job may need. A task hands on only the part of it that its room uses. */
export type TaskTools = { db: Db; deliveries: DeliveryWorker; mailJobs: MailJobs } & AnalyzeTools &
  RecoverTools &
  SummaryTools &
  NotifyTools;

const Nothing = v.object({});
const OneWebhook = v.object({ org_id: Uuid, webhook_id: Uuid });

/** The table of contents of the background work: a task checks its payload and calls its room. */
export const tasks = (tools: TaskTools): Record<keyof Jobs, Task> => ({
  'keys.expire': task(Nothing, () => expire(tools)),
  'surveys.fold_tallies': task(Nothing, () => foldTallies(tools.db)),
  'sends.mail': task(v.object({ org_id: Uuid, mail_ids: v.array(Uuid) }), (job, run) =>
    tools.mailJobs.run(job.org_id, job.mail_ids, run.traceparent),
  ),
  'sends.take_up_left': task(Nothing, () => recoverStrandedMails(tools)),
  'sends.forget_mailbox': task(Nothing, () => deleteOldMessages(tools)),
  'webhooks.deliver': task(OneWebhook, (webhook) => tools.deliveries.wake(webhook)),
  'webhooks.tell_deactivation': task(OneWebhook, (webhook) => notifyDeactivated(tools, webhook)),
  'webhooks.retire': task(Nothing, () => cleanUpDeliveries(tools)),
  'responses.forget_openings': task(Nothing, () => cleanUpVisits(tools)),
  'summaries.analyze': task(
    v.object({
      org_id: Uuid,
      response_id: Uuid,
      tries: v.number(),
      asked_at: v.optional(v.string()),
    }),
    (job, run) => analyze(tools, job, run.traceparent),
  ),
  'summaries.monthly': task(Nothing, (_, run) => planMonths(tools, run.traceparent)),
  'summaries.month': task(v.object({ org_id: Uuid, tries: v.number() }), (job, run) =>
    summarizeMonth(tools, job, run.traceparent),
  ),
});

/** What happens by the clock (UTC), once for all processes. */
export const crontab: CronItem[] = [
  { task: 'keys.expire', match: '*/5 * * * *', options: { maxAttempts: 5 } },
  { task: 'surveys.fold_tallies', match: '17 * * * *', options: { maxAttempts: 5 } },
  { task: 'sends.take_up_left', match: '* * * * *', options: { maxAttempts: 5 } },
  { task: 'sends.forget_mailbox', match: '29 * * * *', options: { maxAttempts: 5 } },
  { task: 'webhooks.retire', match: '41 3 * * *', options: { maxAttempts: 5 } },
  { task: 'responses.forget_openings', match: '23 3 * * *', options: { maxAttempts: 5 } },
  { task: 'summaries.monthly', match: '5 * * * *', options: { maxAttempts: 5 } },
];
