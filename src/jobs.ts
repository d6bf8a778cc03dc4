import * as v from 'valibot';
import { createOutbox, type JobOf } from './lib/queue/outbox.ts';
import type { RunnerGroup } from './lib/queue/start.ts';
import { Uuid } from './lib/validation/parse.ts';

const Nothing = v.object({});
const OneWebhook = v.object({ org_id: Uuid, webhook_id: Uuid });

/** Every job of the service and what its payload must be. What a job does is said in `tasks.ts`. */
export const payloads = {
  'campaigns.advance': v.object({ org_id: Uuid, campaign_id: Uuid, turn: v.number() }),
  'campaigns.sweep': Nothing,
  'contacts.clean_up': Nothing,
  'audit.clean_up': Nothing,
  'keys.clean_up': Nothing,
  'mailbox.clean_up': Nothing,
  'members.clean_up': Nothing,
  // The token of its link, sealed.
  'members.mail_invitation': v.object({ link_id: Uuid, sealed: v.string() }),
  'members.mail_reset': v.object({ email: v.string() }),
  'notifications.assigned': v.object({ org_id: Uuid, member_id: Uuid, response_id: Uuid }),
  'notifications.clean_up': Nothing,
  'notifications.digest': Nothing,
  'notifications.mail': v.object({ org_id: Uuid, notification_id: Uuid }),
  'notifications.post': v.object({ org_id: Uuid, notification_id: Uuid, tries: v.number() }),
  'notifications.sweep': Nothing,
  'people.apply_retention': Nothing,
  'people.file_erasures': Nothing,
  'people.finish_erasure': v.object({ org_id: Uuid, erasure_id: Uuid }),
  'responses.clean_up': Nothing,
  'sends.clean_up': Nothing,
  'sends.mail': v.object({ org_id: Uuid, mail_ids: v.array(Uuid) }),
  'sends.recover': Nothing,
  'summaries.make': v.object({
    org_id: Uuid,
    summary_id: Uuid,
    period_start: v.string(),
    period_end: v.string(),
    waits: v.optional(v.number(), 0),
    actor: v.object({
      kind: v.picklist(['member', 'key', 'command', 'job', 'visitor']),
      id: v.nullable(v.string()),
      name: v.string(),
      requestId: v.optional(v.string()),
    }),
  }),
  'summaries.month': v.object({ org_id: Uuid, tries: v.number() }),
  'summaries.monthly': Nothing,
  'surveys.fold_tallies': Nothing,
  'webhooks.clean_up': Nothing,
  'webhooks.deliver': OneWebhook,
  'webhooks.notify_deactivated': OneWebhook,
};

export type JobPayloads = {
  [Name in keyof typeof payloads]: v.InferOutput<(typeof payloads)[Name]>;
};
export type JobName = keyof JobPayloads;
export type NewJob = JobOf<JobPayloads>;

/** Write jobs in the caller's transaction. */
export const { enqueue, enqueueEach, enqueueEachTraced } = createOutbox<JobPayloads>();

const waitsForServer: readonly string[] = [
  'notifications.mail',
  'notifications.post',
] satisfies JobName[];

/**
 * Mail has a runner of its own, so that a thousand slow mails do not delay webhooks, nor the other way
 * round. So have summaries, whose words may come from a slow endpoint, with notifications, which wait for a mail
 * server or a chat. Jobs of both cost little while they wait: so many run at once that one organization's jobs do
 * not keep another's from starting. What they wait for is shared in turn. Comments wait for the analyst in a table
 * of their own.
 */
export const runnerGroups = {
  mail: { takes: (task) => task.startsWith('sends.'), concurrency: 500, localQueue: 500 },
  reading: {
    takes: (task) => task.startsWith('summaries.') || waitsForServer.includes(task),
    concurrency: 500,
    localQueue: 500,
  },
  rest: { takes: () => true, concurrency: 100, localQueue: 200 },
} satisfies Record<string, RunnerGroup>;
