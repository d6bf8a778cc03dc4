import type { Sql } from '../lib/db/db.ts';
import type { Excerpt } from '../responses/answer.ts';
import { scaleOf } from '../scores.ts';
import { digestLetter } from './digest.ts';
import {
  findAnswer,
  findCampaign,
  findLimit,
  findWebhookOff,
  type NotificationContents,
  type StoredNotification,
} from './facts.queries.ts';
import { letterTexts as texts } from './letter-texts.ts';

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
    return found && { ...texts.webhookOff(organization, found), path: `/webhooks/${id}` };
  }
  if (kind === 'limit_near' || kind === 'limit_reached') {
    const found = await findLimit(tools.db, orgId, subject);
    return found && { ...texts[kind](organization, found), path: '/settings/usage' };
  }
  if (kind === 'campaign_finished') {
    const found = await findCampaign(tools.db, orgId, subject);
    const path = `/surveys/${found?.survey_id}/send/${subject}`;
    return found && { ...texts.campaignFinished(found), path };
  }
  return await answerLetter(tools, { ...notification, kind });
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
  const facts = { ...answer, words, highest: scaleOf(found.type).highest };
  const letter = texts.answer(kind, facts);
  const named = people && found.contact_email !== null ? [texts.contact(found)] : [];
  return { ...letter, sentences: [...letter.sentences, ...named], path: `/responses/${id}` };
}

/** A post to Slack has room for 3,000 characters. */
const longestComment = 1_000;

const cut = (comment: string | null) =>
  comment !== null && comment.length > longestComment
    ? `${comment.slice(0, longestComment).toWellFormed()}…`
    : comment;
