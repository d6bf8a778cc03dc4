import type { Sql } from '../lib/db/db.ts';
import type { Excerpt } from '../responses/answer.ts';
import { scaleOf } from '../scores.ts';
import { counted, digestLetter } from './digest.ts';
import {
  findAnswer,
  findCampaign,
  findLimit,
  findWebhookOff,
  type NotificationContents,
  type StoredNotification,
} from './facts.queries.ts';

export type NotificationLetter = {
  subject: string;
  sentences: string[];
  /** What opens the thing in the app: below the organization. */
  path: string;
  action: string;
};

/** What a letter is written from. */
export type LetterSubject = Pick<
  StoredNotification,
  'org_id' | 'kind' | 'subject' | 'organization' | 'time_zone'
> &
  NotificationContents;

export type LetterTools = { db: Sql; excerpt: Excerpt };

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
    `${survey}: ${score} of ${scaleOf(found.type).highest}.`,
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
