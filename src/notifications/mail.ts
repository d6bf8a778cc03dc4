import type { AppMailer } from '../app-mailer.ts';
import { type PeopleToRedact, peopleToRedact } from '../contacts/queries.ts';
import { enqueue, type JobPayloads } from '../jobs.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import { isRetryable } from '../lib/smtp/connection.ts';
import { nearLimitPercent } from '../limits.ts';
import { wordsInOrder } from '../questions/queries.ts';
import type { Excerpt } from '../responses/events.ts';
import { deferralMs, maxMailAgeMs } from '../sends/rules.ts';
import { type SurveyType, typeFacts } from '../survey-types.ts';
import { counted } from '../web/app/lists.tsx';
import { writeAppLetter } from '../web/app-letter.tsx';
import { offManually } from '../webhooks/rules.ts';
import type { NotificationContents, NotificationKind } from './choices.ts';
import { digestLetter } from './digest.ts';

export type NotificationTools = {
  db: Db;
  log: Log;
  appMailer: AppMailer;
  excerpt: Excerpt;
  publicUrl: string;
};

/**
 * Emails a notification. It is marked as sent first, so a crash may lose the email but never repeats it. Other jobs
 * retry for a day if the mail server did not accept it, because that must not count as a failed job.
 */
export async function mailNotification(
  tools: NotificationTools,
  job: JobPayloads['notifications.mail'],
) {
  const { org_id, notification_id: id } = job;
  const { db, log, appMailer, publicUrl } = tools;
  const claimed = await claimNotification(db, org_id, id);
  if (!claimed) return;
  try {
    const letter = await letterOf(tools, claimed);
    if (!letter) return;
    const { slug, organization, member, email } = claimed;
    const home = `${publicUrl}/o/${slug}`;
    const outcome = await appMailer.send({
      ...writeAppLetter({
        ...letter,
        button: { text: letter.action, url: `${home}${letter.path}` },
        foot: `You get this email because it is turned on under Settings, Notifications of ${organization}.`,
        stop: { text: 'Change notifications', url: `${home}/settings/notifications` },
      }),
      to: { name: member, address: email },
      id: `notification-${id}`,
      group: org_id,
    });
    if (outcome.kind === 'accepted') return;
    const ageMs = Date.now() - claimed.created_at.getTime();
    const delayMs = deferralMs(ageMs);
    if (!isRetryable(outcome) || ageMs + delayMs > maxMailAgeMs) {
      log.warn({ org_id, outcome: outcome.kind }, 'notification email was not sent');
      return;
    }
    const runAt = new Date(Date.now() + delayMs);
    await inTransaction(db, async (tx) => {
      await releaseNotification(tx, claimed);
      await enqueue(tx, [{ task: 'notifications.mail', payload: job, runAt }]);
    });
  } catch (error) {
    await releaseNotification(db, claimed);
    throw error;
  }
}

export type StoredNotification = {
  org_id: string;
  member_id: string;
  kind: NotificationKind | 'digest';
  subject: string;
  email: string;
  member: string;
  organization: string;
  slug: string;
  time_zone: string;
} & NotificationContents;

/** Marks a notification as sent. Returns undefined if it was sent before, is a day old, or is no longer wanted. */
export async function claimNotification(sql: Sql, orgId: string, id: string) {
  const [claimed] = await sql<(StoredNotification & NotificationClaim & { created_at: Date })[]>`
    update notifications n
    set sent_at = now()
    from notification_choices w, members m, organizations o
    where n.org_id = ${orgId} and n.id = ${id} and ${isWanted(sql)}
      and w.org_id = n.org_id and w.member_id = n.member_id and m.id = n.member_id and o.id = n.org_id
    returning n.id, n.org_id, n.sent_at::text, n.member_id, n.kind, n.subject, n.created_at, m.email,
              m.name as member, o.name as organization, o.slug, w.time_zone, ${contents(sql)}`;
  return claimed;
}

/** True if notification `n` of choices `w` was not sent before, is younger than a day and is still wanted. */
export const isWanted = (sql: Sql) => sql`
  n.sent_at is null and n.created_at > now() - interval '1 day'
  and case n.kind when 'digest' then w.digest <> 'none' else n.kind = any(w.events) end`;

/** Columns with the contents that organization `n.org_id` allows in notifications. */
export const contents = (sql: Sql) => sql`
  exists (select from notification_contents c where c.org_id = n.org_id and c.people) as people,
  exists (select from notification_contents c where c.org_id = n.org_id and c.unedited) as unedited`;

/** `sent_at` is text, because a `Date` has no microseconds. */
export type NotificationClaim = { org_id: string; id: string; sent_at: string };

/** Releases only this claim. If the reply to its release was lost, another job may have claimed the notification since. */
export async function releaseNotification(sql: Sql, { org_id, id, sent_at }: NotificationClaim) {
  await sql`
    update notifications
    set sent_at = null
    where org_id = ${org_id} and id = ${id} and sent_at = ${sent_at}::text::timestamptz`;
}

export type NotificationLetter = {
  subject: string;
  sentences: string[];
  /** Path of the button, below the organization. */
  path: string;
  action: string;
};

type LetterTools = { db: Sql; excerpt: Excerpt };
type LetterSubject = Omit<StoredNotification, 'member_id' | 'email' | 'member' | 'slug'>;

/** Writes the letter from the current state. Undefined if its subject was deleted or has changed back. */
export async function letterOf(
  tools: LetterTools,
  about: LetterSubject,
): Promise<NotificationLetter | undefined> {
  switch (about.kind) {
    case 'digest':
      return await digestLetter(tools.db, about);
    case 'webhook_off':
      return await webhookLetter(tools.db, about);
    case 'limit_near':
    case 'limit_reached':
      return await limitLetter(tools.db, about);
    case 'campaign_finished':
    case 'campaign_paused':
      return await campaignLetter(tools.db, about);
    default:
      return await answerLetter(tools, about, about.kind);
  }
}

async function webhookLetter(db: Sql, { org_id, subject, organization }: LetterSubject) {
  const [id = ''] = subject.split(' ');
  const [webhook] = await db<{ url: string; reason: string }[]>`
    select url, deactivated_reason as reason
    from webhooks
    where org_id = ${org_id} and id = ${id} and not active and deactivated_reason <> ${offManually}`;
  if (!webhook) return undefined;
  return {
    subject: `A webhook of ${organization} was turned off`,
    sentences: [
      `The webhook ${new URL(webhook.url).origin} was turned off.`,
      `Reason: ${webhook.reason}.`,
    ],
    action: 'View webhook',
    path: `/webhooks/${id}`,
  };
}

async function limitLetter(db: Sql, { kind, org_id, subject: month, organization }: LetterSubject) {
  const [usage] = await db<{ used: number; max: number }[]>`
    select u.used, o.monthly_send_limit as max
    from mail_usage u
    join organizations o on o.id = u.org_id
    where u.org_id = ${org_id} and u.month = ${month}::date`;
  if (!usage) return undefined;
  const isNear = kind === 'limit_near';
  const sentence = `${usage.used.toLocaleString('en')} of ${counted(usage.max, 'email')} used this month.`;
  return {
    subject: `${organization} has used ${isNear ? `${nearLimitPercent}%` : 'all'} of this month’s emails`,
    sentences: [isNear ? sentence : `${sentence} No more emails go out until next month.`],
    action: 'View usage',
    path: '/settings/usage',
  };
}

async function campaignLetter(db: Sql, { kind, org_id, subject: about }: LetterSubject) {
  const [id = ''] = about.split(' ');
  const [campaign] = await db<CampaignFacts[]>`
    select c.name, c.survey_id, s.name as survey, c.total, c.status, c.reason
    from campaigns c
    join surveys s on s.org_id = c.org_id and s.id = c.survey_id
    where c.org_id = ${org_id} and c.id = ${id}`;
  if (!campaign) return undefined;
  const { name, survey_id, survey, total, status, reason } = campaign;
  const letter = { action: 'View campaign', path: `/surveys/${survey_id}/send/${id}` };
  if (kind === 'campaign_finished') {
    const sentence = `The campaign ${name} of ${survey} has finished: ${counted(total, 'contact')}.`;
    return { ...letter, subject: `Campaign finished: ${name}`, sentences: [sentence] };
  }
  if (status !== 'paused') return undefined;
  return {
    ...letter,
    subject: `Campaign paused: ${name}`,
    sentences: [
      `The campaign ${name} of ${survey} was paused: ${reason}`,
      'No contacts are lost. Resume the campaign when the problem is fixed.',
    ],
  };
}

type CampaignFacts = {
  name: string;
  survey_id: string;
  survey: string;
  total: number;
  status: string;
  reason: string | null;
};

/** A subject never contains a comment. */
const answerSubjects = {
  detractor: 'A detractor responded',
  held: 'A response is on hold',
  assigned: 'A response was assigned to you',
} as const;

/** Limits the comment and the text answers. Slack allows 3,000 characters per block. */
const maxComment = 1_000;

type AnswerFacts = PeopleToRedact & {
  survey: string;
  type: SurveyType;
  score: number;
  comment: string | null;
  words: string | null;
  language: string;
  contact_name: string | null;
  contact_email: string | null;
};

/** Quotes redacted excerpts of the comment and text answers, unless the organization allows the original. */
async function answerLetter(
  { db, excerpt }: LetterTools,
  { org_id: orgId, subject: id, people, unedited }: LetterSubject,
  kind: keyof typeof answerSubjects,
) {
  const [answer] = await db<AnswerFacts[]>`
    select s.name as survey, s.type, r.score, r.comment, ${wordsInOrder(db)} as words, coalesce(r.language, s.language) as language,
           c.name as contact_name, c.email as contact_email,
           ${peopleToRedact(db, 'contact')}
    from responses r
    join surveys s on s.org_id = r.org_id and s.id = r.survey_id
    join organizations o on o.id = r.org_id
    left join contacts c on c.org_id = r.org_id and c.survey_id = r.survey_id and c.id = r.contact_id
    where r.org_id = ${orgId} and r.id = ${id}`;
  if (!answer) return undefined;
  const { survey, score, language, contact_name: name, contact_email: email } = answer;
  const toRedact = { orgId, names: answer.known_names, emails: answer.known_addresses, language };
  const quotes: string[] = [];
  for (const text of [answer.comment, answer.words]) {
    if (text === null) continue;
    const words = unedited ? text : await excerpt(text, toRedact);
    const isLong = words.length > maxComment;
    quotes.push(`“${isLong ? `${words.slice(0, maxComment).toWellFormed()}…` : words}”`);
  }
  const sentences = [
    `${survey}: ${score} of ${typeFacts(answer.type).highest}.`,
    ...(quotes.length > 0 ? quotes : ['No comment.']),
  ];
  if (kind === 'held') {
    sentences.push('This looks like an automated response. It doesn’t count until you release it.');
  }
  if (people && email !== null) {
    sentences.push(name ? `From ${name}, ${email}.` : `From ${email}.`);
  }
  return {
    subject: `${answerSubjects[kind]}: ${survey}`,
    sentences,
    action: 'View response',
    path: `/responses/${id}`,
  };
}
