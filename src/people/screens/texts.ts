import type { StateKind } from '../../web/app/marks.tsx';
import type { TimelineEntry } from '../timeline.ts';

/** What the screens of people say. */
export const peopleTexts = {
  about: 'A person is one address over all surveys; the one added last comes first.',
  none: 'No people yet',
  noneMeans: 'Contacts of all surveys stand here, with everything that was sent and answered.',
  noneFound: 'No address or name has this part',
  noneFoundMeans: 'Search for less of it.',
  suppressed: 'This address gets no mail of this organization.',
  suppress: 'Suppress',
  allow: 'Allow again',
  nowSuppressed: 'The address is suppressed: no survey is mailed to it.',
  nowAllowed: 'The address is allowed again. Other rules that block mail stay in force.',
  timeline: 'What happened, newest first',
  times: (many: number) => `${many} times, last on`,
} as const;

type Step = { kind: StateKind; text: string };

/** Each step of a timeline as a reader sees it. */
export const steps: Readonly<Record<TimelineEntry['what'], Step>> = {
  added: { kind: 'fine', text: 'Added to the survey' },
  claimed: { kind: 'waiting', text: 'Waits to be sent' },
  sending: { kind: 'waiting', text: 'Is being sent' },
  sent: { kind: 'fine', text: 'Sent' },
  reminded: { kind: 'fine', text: 'Reminded' },
  failed: { kind: 'failed', text: 'Not sent' },
  unknown: { kind: 'warning', text: 'Outcome unknown' },
  blocked: { kind: 'skipped', text: 'Blocked' },
  opened: { kind: 'fine', text: 'Opened the link' },
  answered: { kind: 'fine', text: 'Answered' },
  answer_held: { kind: 'waiting', text: 'Answered, held' },
  delivered: { kind: 'fine', text: 'Delivered to a webhook' },
  not_delivered: { kind: 'failed', text: 'Not delivered to a webhook' },
  unsubscribed: { kind: 'warning', text: 'Suppressed or unsubscribed' },
  bounced: { kind: 'failed', text: 'Bounced: the mailbox does not exist' },
};

/** Why an event of the answer has not been delivered, by the state of its delivery; it failed otherwise. */
export const undelivered: Readonly<Record<string, Step>> = {
  pending: { kind: 'waiting', text: 'Waits to be delivered to a webhook' },
  skipped: { kind: 'skipped', text: 'Not delivered: the webhook was off' },
};
