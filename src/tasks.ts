import type { CronItem } from 'graphile-worker';
import { cleanUpAudit } from './audit/queries.ts';
import { advanceCampaign } from './campaigns/advance.ts';
import { sweepCampaigns } from './campaigns/automation.ts';
import { deleteOldUploads } from './contacts/upload.queries.ts';
import { checkImport, runImport } from './importers/import-files.ts';
import { deleteOldImports } from './importers/queries.ts';
import {
  enqueue,
  type JobName,
  type JobPayloads,
  maxSlowJobs,
  type NewJob,
  payloads,
  schedule,
  slowJobs,
} from './jobs.ts';
import { cleanUpKeys } from './keys/manage.ts';
import type { Secrets } from './lib/crypto/secrets.ts';
import type { Db } from './lib/db/db.ts';
import { poolForGroup } from './lib/db/fair-pool.ts';
import { type JobRun, type Task, task } from './lib/queue/task.ts';
import { deleteOldMessages } from './mailbox/mailbox.ts';
import { type MailLinkTools, mailLink, mailNotice, mailReset } from './members/mail.ts';
import { cleanUpMembers } from './members/sign-in.ts';
import { mailNotification, type NotificationTools } from './notifications/mail.ts';
import { postNotification, type SlackTools } from './notifications/slack.ts';
import {
  cleanUpNotifications,
  notifyAssigned,
  sweepDigests,
  sweepNotifications,
} from './notifications/sweep.ts';
import { finishErasure } from './people/erase.ts';
import { type ErasureFile, fileErasures } from './people/receipts-file.ts';
import { applyRetention } from './people/retention.ts';
import { publishCompleted, sweepCompletions } from './questions/completion.ts';
import { cleanUpReplies, type SendReplyTools, sendReply } from './replies/reply.ts';
import { cleanUpVisits } from './responses/erase.ts';
import { publishDetractor } from './responses/events.ts';
import { type MailJobs, type RecoverTools, recoverStrandedMails } from './sends/mail-job.ts';
import { cleanUpBlockedMails } from './sends/queries.ts';
import { sendTestMail, type TestTools } from './sends/test-mail.ts';
import type { AnalystQueue } from './summaries/comment-reader.ts';
import { makeSummary, planMonths, type SummaryTools } from './summaries/summarize.ts';
import { foldTallies } from './surveys/queries.ts';
import { type NotifyTools, notifyDeactivated } from './webhooks/manage.ts';
import { cleanUpDeliveries } from './webhooks/retention.ts';
import type { DeliveryWorker } from './webhooks/worker.ts';

export type TaskTools = {
  db: Db;
  deliveries: DeliveryWorker;
  mailJobs: MailJobs;
  analystQueue: AnalystQueue;
  erasureFile: ErasureFile;
  secrets: Secrets;
} & RecoverTools &
  SummaryTools &
  NotifyTools &
  NotificationTools &
  SlackTools &
  TestTools &
  SendReplyTools &
  MailLinkTools;

type Run<Name extends JobName> = (payload: JobPayloads[Name], job: JobRun) => Promise<unknown>;

export function tasks(tools: TaskTools): Record<JobName, Task> {
  const of = ({ org_id }: { org_id: string }) => ({ ...tools, db: poolForGroup(tools.db, org_id) });
  const runs: { [Name in JobName]: Run<Name> } = {
    'campaigns.advance': (job) => advanceCampaign(of(job), job),
    'campaigns.sweep': () => sweepCampaigns(tools),
    'contacts.clean_up': () => deleteOldUploads(tools),
    'audit.clean_up': () => cleanUpAudit(tools),
    'imports.check': (job) => checkImport(of(job), job),
    'imports.clean_up': () => deleteOldImports(tools),
    'imports.run': (job, run) => runImport(of(job), job, run),
    'keys.clean_up': () => cleanUpKeys(tools),
    'mailbox.clean_up': () => deleteOldMessages(tools),
    'members.clean_up': () => cleanUpMembers(tools),
    'members.mail_confirmation': (job) => mailLink(tools, 'email', job),
    'members.mail_invitation': (job) => mailLink(tools, 'invitation', job),
    'members.mail_notice': (job) => mailNotice(tools, job),
    'members.mail_reset': (job) => mailReset(tools, job),
    'notifications.assigned': (job) => notifyAssigned(of(job), job),
    'notifications.clean_up': () => cleanUpNotifications(tools),
    'notifications.digest': () => sweepDigests(tools),
    'notifications.mail': (job) => mailNotification(of(job), job),
    'notifications.post': (job) => postNotification(of(job), job),
    'notifications.sweep': () => sweepNotifications(tools),
    'people.apply_retention': () => applyRetention(tools),
    'people.file_erasures': () => fileErasures(tools),
    'people.finish_erasure': (job) => finishErasure(of(job), job),
    'questions.publish_completed': (job, { traceparent }) =>
      publishCompleted(of(job), job, traceparent),
    'questions.sweep': () => sweepCompletions(tools),
    'replies.clean_up': () => cleanUpReplies(tools),
    'replies.send': (job) => sendReply(of(job), job),
    'responses.clean_up': () => cleanUpVisits(tools),
    'responses.publish_detractor': (job, { traceparent }) =>
      publishDetractor(of(job), job, traceparent),
    'sends.clean_up': () => cleanUpBlockedMails(tools),
    'sends.mail': (job, { traceparent }) =>
      tools.mailJobs.run(job.org_id, job.mail_ids, traceparent, job.stuck_since),
    'sends.recover': () => recoverStrandedMails(tools),
    'sends.test': (job) => sendTestMail(of(job), job),
    'summaries.make': (payload, { traceparent }) =>
      tools.analystQueue.runJob(
        payload.org_id,
        { task: 'summaries.make', payload, traceparent },
        () => makeSummary(of(payload), payload, traceparent),
      ),
    'summaries.monthly': (_, { traceparent }) => planMonths(tools, traceparent),
    'surveys.fold_tallies': () => foldTallies(tools.db),
    'webhooks.clean_up': () => cleanUpDeliveries(tools),
    'webhooks.deliver': (webhook) => tools.deliveries.wake(webhook),
    'webhooks.notify_deactivated': (webhook) => notifyDeactivated(of(webhook), webhook),
  };
  const checked = Object.entries(payloads).map(([name, schema]) => {
    const run = runs[name as JobName] as Run<JobName>;
    return [name, task<JobPayloads[JobName]>(schema, run)];
  });
  const all: Record<string, Task> = Object.fromEntries(checked);
  for (const names of slowJobs) {
    const limit = limitRunning(tools.db, maxSlowJobs);
    for (const name of names) all[name] = limit(all[name]!);
  }
  return all as Record<JobName, Task>;
}

const requeueMs = 1000;

/** Requeues jobs above the limit, so that many slow emails do not delay other jobs. */
export function limitRunning(db: Db, limit: number) {
  let running = 0;
  return (run: Task): Task =>
    async (payload, job) => {
      if (running >= limit) {
        const runAt = new Date(Date.now() + requeueMs);
        return await enqueue(db, [{ task: job.task, payload, runAt } as NewJob]);
      }
      running += 1;
      try {
        await run(payload, job);
      } finally {
        running -= 1;
      }
    };
}

export const crontab: CronItem[] = Object.entries(schedule).map(([task, match]) => ({
  task,
  match,
  options: { maxAttempts: 5 },
}));
