import * as v from 'valibot';
import type { AppMailer } from '../app-mailer.ts';
import { type KnownPeople, knownPeople } from '../contacts/queries.ts';
import type { JobPayloads } from '../jobs.ts';
import { OneOf } from '../lib/cli/command.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import { Uuid } from '../lib/validation/parse.ts';
import type { Excerpt } from '../responses/answer.ts';
import { type SurveyType, typeFacts } from '../survey-types.ts';
import { writeAppLetter } from '../web/app-letter.tsx';
import { type NotificationKind, notificationKinds } from './choices.ts';
import { counted, digestLetter } from './digest.ts';

export type NotificationTools = {
  db: Db;
  log: Log;
  appMailer: AppMailer;
  excerpt: Excerpt;
  secrets: Pick<Secrets, 'seal'>;
  publicUrl: string;
};

/**
 * Mails a notification. It is marked as sent first: a crash in between may lose the mail, and never doubles it.
 * One that the mail server certainly did not take is tried again by the queue, for a day.
 */
export async function mailNotification(
  tools: NotificationTools,
  { org_id, notification_id: id }: JobPayloads['notifications.mail'],
) {
  const { db, log, appMailer, secrets, publicUrl } = tools;
  const claimed = await claimNotification(db, org_id, id);
  if (!claimed) return;
  try {
    const letter = await letterOf(tools, claimed);
    if (!letter) return;
    const { slug, organization, member, email, member_id, kind } = claimed;
    const stop = stopToken(secrets, { orgId: org_id, memberId: member_id, kind });
    const outcome = await appMailer.send({
      ...writeAppLetter({
        ...letter,
        button: { text: letter.action, url: `${publicUrl}/o/${slug}${letter.path}` },
        foot: `You get this mail because you chose so under Settings, Notifications of ${organization}.`,
        stop: { text: 'Stop these mails', url: `${publicUrl}/notifications/stop/${stop}` },
      }),
      to: { name: member, address: email },
      id: `notification-${id}`,
      group: org_id,
    });
    if (outcome.kind === 'lost' || (outcome.kind === 'refused' && !outcome.permanent)) {
      throw new Error(`the mail server did not take a notification: ${outcome.kind}`);
    }
    if (outcome.kind !== 'accepted')
      log.warn({ org_id, outcome: outcome.kind }, 'a notification was not mailed');
  } catch (error) {
    await releaseNotification(db, org_id, id);
    throw error;
  }
}

export type NotificationLetter = {
  subject: string;
  sentences: string[];
  /** What opens the thing in the app: below the organization. */
  path: string;
  action: string;
};

/** What a letter is written from. */
type LetterSubject = Pick<
  StoredNotification,
  'org_id' | 'kind' | 'subject' | 'organization' | 'time_zone'
> &
  NotificationContents;

type LetterTools = { db: Sql; excerpt: Excerpt };

/** What the mail says, of how things are now. Nothing when what it is about is gone or has changed back. */
export async function letterOf(
  tools: LetterTools,
  notification: LetterSubject,
): Promise<NotificationLetter | undefined> {
  const { kind, org_id: orgId, subject, organization } = notification;
  if (kind === 'digest') return await digestLetter(tools.db, notification);
  if (kind === 'webhook_off') {
    const [id = ''] = subject.split(' ');
    const found = await findWebhookOff(tools.db, orgId, id);
    return (
      found && {
        subject: `A webhook of ${organization} was switched off`,
        sentences: [
          `The webhook ${new URL(found.url).origin} was switched off.`,
          `Why: ${found.reason}.`,
        ],
        action: 'Open the webhook',
        path: `/webhooks/${id}`,
      }
    );
  }
  if (kind === 'limit_near' || kind === 'limit_reached') {
    const found = await findLimit(tools.db, orgId, subject);
    return found && { ...limitLetter(kind, organization, found), path: '/settings/usage' };
  }
  if (kind === 'campaign_finished') {
    const found = await findCampaign(tools.db, orgId, subject);
    const path = `/surveys/${found?.survey_id}/send/${subject}`;
    return (
      found && {
        subject: `A campaign is finished: ${found.name}`,
        sentences: [
          `The campaign ${found.name} of ${found.survey} is finished: ${counted(found.total, 'contact')}.`,
        ],
        action: 'Open the campaign',
        path,
      }
    );
  }
  return await answerLetter(tools, { ...notification, kind });
}

function limitLetter(
  kind: 'limit_near' | 'limit_reached',
  organization: string,
  { used, most }: { used: number; most: number },
) {
  const sentence = `${used.toLocaleString('en')} of ${counted(most, 'mail')} are used this month.`;
  return {
    subject: `${organization} has used ${kind === 'limit_near' ? '80 %' : 'all'} of the month’s mails`,
    sentences: [
      kind === 'limit_near' ? sentence : `${sentence} No more go out before the next one.`,
    ],
    action: 'Open the usage',
  };
}

type AboutAnswer = LetterSubject & { kind: 'detractor' | 'held' | 'assigned' };

/** The comment as subscribers get it too, its beginning without the people in it, unless the organization wants all. */
async function answerLetter({ db, excerpt }: LetterTools, about: AboutAnswer) {
  const { kind, org_id: orgId, subject: id, people, unedited } = about;
  const found = await findAnswer(db, orgId, id);
  if (!found) return undefined;
  const { comment, known_names: names, known_addresses: emails, ...answer } = found;
  const known = { orgId, names, emails };
  const words = comment === null || unedited ? cut(comment) : await excerpt(comment, known);
  const { survey, score, contact_name: name, contact_email: email } = answer;
  const sentences = [
    `${survey}: ${score} of ${typeFacts(found.type).highest}.`,
    words ? `“${words}”` : 'There is no comment.',
  ];
  if (kind === 'held') {
    sentences.push('A machine seems to have given it. It counts once it is released.');
  }
  if (people && email !== null) {
    sentences.push(name ? `From ${name}, ${email}.` : `From ${email}.`);
  }
  return {
    subject: answerSubjects[kind](survey),
    sentences,
    action: 'Open the response',
    path: `/responses/${id}`,
  };
}

/** No comment stands in a subject. */
const answerSubjects = {
  detractor: (survey: string) => `A detractor answered: ${survey}`,
  held: (survey: string) => `A response is held: ${survey}`,
  assigned: (survey: string) => `A response is assigned to you: ${survey}`,
} as const;

/** A post to Slack has room for 3,000 characters. */
const longestComment = 1_000;

const cut = (comment: string | null) =>
  comment !== null && comment.length > longestComment
    ? `${comment.slice(0, longestComment).toWellFormed()}…`
    : comment;

/** What the organization lets notifications show of a response. */
export type NotificationContents = {
  /** The name and address of its contact. */
  people: boolean;
  /** Its comment as it was written. */
  unedited: boolean;
};

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

/** Marks it as sent. Nothing comes back when it was sent before, is a day late, or is not wanted any more. */
export async function claimNotification(sql: Sql, orgId: string, id: string) {
  const [claimed] = await sql<StoredNotification[]>`
    update notifications n
    set sent_at = now()
    from notification_choices w, members m, organizations o
    where n.org_id = ${orgId} and n.id = ${id} and n.sent_at is null
      and n.created_at > now() - interval '1 day'
      and w.org_id = n.org_id and w.member_id = n.member_id
      and case n.kind when 'digest' then w.digest <> 'none' else n.kind = any(w.events) end
      and m.id = n.member_id and o.id = n.org_id
    returning n.org_id, n.member_id, n.kind, n.subject, m.email, m.name as member,
              o.name as organization, o.slug, w.time_zone, ${contents(sql)}`;
  return claimed;
}

/** What the organization `n.org_id` lets notifications show. */
export const contents = (sql: Sql) => sql`
  exists (select from notification_contents c where c.org_id = n.org_id and c.people) as people,
  exists (select from notification_contents c where c.org_id = n.org_id and c.unedited) as unedited`;

/** The mail server did not take it: the next try of the job may. */
export async function releaseNotification(sql: Sql, orgId: string, id: string) {
  await sql`update notifications set sent_at = null where org_id = ${orgId} and id = ${id}`;
}

type AnswerFacts = KnownPeople & {
  survey: string;
  type: SurveyType;
  score: number;
  comment: string | null;
  contact_name: string | null;
  contact_email: string | null;
};

export async function findAnswer(sql: Sql, orgId: string, id: string) {
  const [found] = await sql<AnswerFacts[]>`
    select s.name as survey, s.type, r.score, r.comment, c.name as contact_name, c.email as contact_email,
           ${knownPeople(sql, 'contact')}
    from responses r
    join surveys s on s.org_id = r.org_id and s.id = r.survey_id
    join organizations o on o.id = r.org_id
    left join contacts c on c.org_id = r.org_id and c.survey_id = r.survey_id and c.id = r.contact_id
    where r.org_id = ${orgId} and r.id = ${id}`;
  return found;
}

export async function findWebhookOff(sql: Sql, orgId: string, id: string) {
  const [found] = await sql<{ url: string; reason: string }[]>`
    select url, deactivated_reason as reason
    from webhooks
    where org_id = ${orgId} and id = ${id} and not active and deactivated_reason is not null`;
  return found;
}

export async function findLimit(sql: Sql, orgId: string, month: string) {
  const [found] = await sql<{ used: number; most: number }[]>`
    select u.used, o.monthly_send_limit as most
    from mail_usage u
    join organizations o on o.id = u.org_id
    where u.org_id = ${orgId} and u.month = ${month}::date`;
  return found;
}

export async function findCampaign(sql: Sql, orgId: string, id: string) {
  const [found] = await sql<{ name: string; survey_id: string; survey: string; total: number }[]>`
    select c.name, c.survey_id, s.name as survey, c.total
    from campaigns c
    join surveys s on s.org_id = c.org_id and s.id = c.survey_id
    where c.org_id = ${orgId} and c.id = ${id}`;
  return found;
}

const Stopped = v.object({
  orgId: Uuid,
  memberId: Uuid,
  kind: OneOf([...notificationKinds, 'digest'] as const),
});

/** What a link stops, for which member. */
export type StopWish = v.InferOutput<typeof Stopped>;

const place = { owner: 'notifications', id: 'stop' };

/** Sealed, so that only the service makes one: it needs no row and no sign-in. */
const stopToken = (secrets: Pick<Secrets, 'seal'>, wish: StopWish): string =>
  secrets.seal(place, JSON.stringify(wish)).toString('base64url');

export function readStopToken(secrets: Pick<Secrets, 'open'>, token: string): StopWish | undefined {
  try {
    const opened = secrets.open(place, Buffer.from(token, 'base64url'));
    return v.parse(Stopped, JSON.parse(opened));
  } catch {
    return undefined;
  }
}
