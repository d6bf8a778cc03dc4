import * as v from 'valibot';
import { enqueueJobs, type JobOf } from './lib/queue/enqueue.ts';
import { Uuid } from './lib/validation/parse.ts';

const OneWebhook = v.object({ org_id: Uuid, webhook_id: Uuid });

/** Jobs without a payload: their cron schedule in UTC. Each runs in one process. */
export const schedule = {
  'audit.clean_up': '53 3 * * *',
  'campaigns.sweep': '* * * * *',
  'contacts.clean_up': '37 * * * *',
  'imports.clean_up': '33 * * * *',
  'keys.clean_up': '*/5 * * * *',
  'mailbox.clean_up': '29 * * * *',
  'members.clean_up': '47 * * * *',
  'notifications.clean_up': '59 3 * * *',
  'notifications.digest': '*/10 * * * *',
  'notifications.sweep': '* * * * *',
  'people.apply_retention': '11 4 * * *',
  'people.file_erasures': '*/5 * * * *',
  'questions.sweep': '* * * * *',
  'replies.clean_up': '41 * * * *',
  'responses.clean_up': '23 3 * * *',
  'sends.clean_up': '13 3 * * *',
  'sends.recover': '* * * * *',
  'summaries.monthly': '5 * * * *',
  'surveys.fold_tallies': '17 * * * *',
  'webhooks.clean_up': '41 3 * * *',
};

const nothing = v.object({});
const scheduled = Object.fromEntries(
  Object.keys(schedule).map((name) => [name, nothing]),
) as Record<keyof typeof schedule, typeof nothing>;

/** All jobs with their payloads. `tasks.ts` runs them. */
export const payloads = {
  ...scheduled,
  'campaigns.advance': v.object({ org_id: Uuid, campaign_id: Uuid, turn: v.number() }),
  'imports.check': v.object({ org_id: Uuid, import_id: Uuid }),
  'imports.run': v.object({ org_id: Uuid, import_id: Uuid }),
  // `sealed` contains the token of the link.
  'members.mail_confirmation': v.object({ link_id: Uuid, sealed: v.string() }),
  'members.mail_invitation': v.object({ link_id: Uuid, sealed: v.string() }),
  'members.mail_notice': v.object({
    id: Uuid,
    member_id: Uuid,
    act: v.string(),
    at: v.string(),
    /** The previous address of a changed email. */
    to: v.optional(v.string()),
  }),
  'members.mail_reset': v.object({ email: v.string() }),
  'notifications.assigned': v.object({ org_id: Uuid, member_id: Uuid, response_id: Uuid }),
  'notifications.mail': v.object({ org_id: Uuid, notification_id: Uuid }),
  'notifications.post': v.object({
    org_id: Uuid,
    notification_id: Uuid,
    tries: v.optional(v.number()),
  }),
  'people.finish_erasure': v.object({ org_id: Uuid, erasure_id: Uuid }),
  'questions.publish_completed': v.object({ org_id: Uuid, response_id: Uuid }),
  'replies.send': v.object({ org_id: Uuid, reply_id: Uuid }),
  'responses.publish_detractor': v.object({ org_id: Uuid, response_id: Uuid }),
  'sends.mail': v.object({
    org_id: Uuid,
    mail_ids: v.array(Uuid),
    /** When all mails were deferred for the first time. */
    stuck_since: v.optional(v.string()),
  }),
  'sends.test': v.object({
    org_id: Uuid,
    survey_id: Uuid,
    test_id: Uuid,
    email: v.string(),
    contact_id: v.nullable(Uuid),
    language: v.string(),
    words: v.object({
      question_text: v.string(),
      subject: v.nullable(v.string()),
      intro: v.nullable(v.string()),
      from_name: v.string(),
      from_email: v.string(),
      reply_to: v.string(),
    }),
  }),
  'summaries.make': v.object({
    org_id: Uuid,
    summary_id: Uuid,
    period_start: v.string(),
    period_end: v.string(),
    scheduled: v.optional(v.boolean(), false),
    waits: v.optional(v.number(), 0),
    actor: v.object({
      kind: v.picklist(['member', 'key', 'command', 'job', 'visitor']),
      id: v.nullable(v.string()),
      name: v.string(),
      requestId: v.optional(v.string()),
    }),
  }),
  'webhooks.deliver': OneWebhook,
  'webhooks.notify_deactivated': OneWebhook,
};

export type JobPayloads = {
  [Name in keyof typeof payloads]: v.InferOutput<(typeof payloads)[Name]>;
};
export type JobName = keyof JobPayloads;
export type NewJob = JobOf<JobPayloads>;

export const enqueue = enqueueJobs<JobPayloads>;

/** Per process. Jobs cost little while they wait. */
export const maxConcurrentJobs = 1000;
/** The limit for each group of `slowJobs`. */
export const maxSlowJobs = 450;

/** Jobs that wait for mail servers, webhooks or the worker thread. They must leave room for others. */
export const slowJobs: readonly (readonly JobName[])[] = [
  ['sends.mail', 'sends.test', 'replies.send'],
  [
    'summaries.make',
    'notifications.mail',
    'notifications.post',
    'questions.publish_completed',
    'responses.publish_detractor',
  ],
];
