import type { Digest, NotificationKind } from './rules.ts';

/** What Settings, Notifications says. */
export const notificationTexts = {
  title: 'Notifications',
  about: (email: string, organization: string) =>
    `Mails to ${email} about ${organization}. Only you see and change these choices.`,
  events: 'Notify me of',
  kinds: {
    detractor: 'A detractor answers',
    held: 'A response is held',
    webhook_off: 'A webhook is switched off',
    limit_near: '80 % of the month’s mails are used',
    limit_reached: 'All of the month’s mails are used',
    campaign_finished: 'A campaign is finished',
    assigned: 'A response is assigned to me',
  } satisfies Record<NotificationKind, string>,
  digest: 'Digest',
  digests: {
    none: 'No digest',
    day: 'Every day',
    week: 'Every week, on Monday',
  } satisfies Record<Digest, string>,
  digestHelp:
    'The answers, the score and its change, and the detractors still open, at 9 in the morning.',
  timeZone: 'When your day and week begin, such as Europe/Berlin.',
  unknownZone: 'must be the name of a time zone such as Europe/Berlin',
  saved: 'Your notifications are saved.',
} as const;

/** What the link in a notification opens. */
export const stopTexts = {
  title: 'Stop notifications',
  about: (what: string, organization: string, email: string) =>
    `“${what}”: no more of these mails about ${organization} go to ${email}.`,
  action: 'Stop these mails',
  stopped: (what: string, organization: string) =>
    `“${what}” is stopped for ${organization}. Settings, Notifications switches it on again.`,
} as const;

/** The webhook of the organization, on the same page. */
export const slackTexts = {
  title: 'Slack-compatible webhook',
  about: 'Posts to a channel of Slack, Mattermost or another program that takes such messages.',
  url: 'Address of the incoming webhook',
  urlHelp: 'It is kept sealed, and not shown again.',
  urlKept: 'There is one, which is not shown. Leave this empty to keep it.',
  events: 'Post when',
  digestHelp: 'At 9 in the morning, by the clock of the organization.',
  save: 'Save the webhook',
  remove: 'Remove the webhook',
  saved: 'The webhook is saved.',
  removed: 'The webhook is removed.',
} as const;

/** What notifications of the organization may show, for owners on the same page. */
export const contentsTexts = {
  title: 'What notifications show',
  about:
    'Of a response: its survey and score, and an excerpt of its comment without names and addresses. This holds for mails and the webhook.',
  people: 'Name the contact, with its address',
  unedited: 'Show comments as they were written',
  saved: 'What notifications show is saved.',
} as const;
