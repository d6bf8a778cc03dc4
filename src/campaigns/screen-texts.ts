import { count, counted } from '../web/app/lists.tsx';

type CodeText = { reason: string; advice: string };

/** Why an address is not mailed, and what can be done, by the code of the reason. */
const reasonTexts: Readonly<Record<string, CodeText>> = {
  already_sent: {
    reason: 'Already received or answered this survey',
    advice: 'Nothing to do; each address is asked once.',
  },
  in_flight: {
    reason: 'Another send is mailing it',
    advice: 'Nothing to do; its outcome is shown with that send.',
  },
  unknown_outcome: {
    reason: 'An earlier mail may have arrived',
    advice: 'Nothing to do; a mail whose outcome is unknown is not sent again.',
  },
  unsubscribed: { reason: 'Unsubscribed', advice: 'Only the person can undo it.' },
  bounced: {
    reason: 'Mailbox does not exist',
    advice: 'An earlier mail bounced. If the address works now, allow it under People.',
  },
  frequency: {
    reason: 'Received another survey a short time ago',
    advice: 'Ask again later, or change the limit in Settings.',
  },
  erased: { reason: 'Erased', advice: 'An owner may allow the address again.' },
  invalid_email: {
    reason: 'Not a valid address',
    advice: 'Correct these lines and upload the list again.',
  },
  send_limit: {
    reason: 'The mails of the month were used up',
    advice: 'An operator can raise the limit.',
  },
  stopped: { reason: 'The campaign was stopped before', advice: 'Start another campaign.' },
  refused: { reason: 'Refused by the mail server', advice: 'It is in the next campaign.' },
  deadline: { reason: 'Could not be sent in time', advice: 'It is in the next campaign.' },
};

export const reasonText = (code: string): CodeText =>
  reasonTexts[code] ?? { reason: 'Cannot be mailed', advice: 'The CSV says why.' };

/** What the screens of campaigns say. */
export const campaignTexts = {
  send: 'Send',
  sendTitle: (survey: string) => `Send ${survey}`,
  pause: 'Pause',
  resume: 'Resume',
  stop: 'Stop',
  started: 'The campaign has started.',
  scheduled: 'The campaign is scheduled.',
  nothing: 'No contact was left to mail: the campaign is finished.',
  paused: 'The campaign is paused.',
  resumed: 'The campaign goes on.',
  stopped: 'The campaign is stopped.',
  stopTitle: (name: string) => `Stop ${name}`,
  stopMeans: (remaining: number) =>
    `${counted(remaining, 'mail')} will not go out, and ${remaining === 1 ? 'goes' : 'go'} back to the month. What was sent stays sent. A stopped campaign cannot go on; its contacts can be mailed by another one.`,
  willBeMailed: (mailed: number) =>
    mailed === 1 ? 'person will be mailed' : 'people will be mailed',
  others: (others: number, total: number) =>
    others === 0
      ? `That is everybody of ${counted(total, 'contact')}. Nothing has been sent yet.`
      : `The other ${count(others)} of ${count(total)} will not. Nothing has been sent yet.`,
  noContacts: 'This survey has no contacts yet.',
  addContacts: 'Add contacts',
  allAsked: 'Every contact of this survey was asked already.',
  noneLeft: 'No contact is left to mail. Add contacts, or wait for the reminders.',
  noneLeftAtAll: 'No contact is left to mail. Add contacts first.',
  recall: 'You can pause or stop while it runs. A mail that was sent cannot be recalled.',
  overLimit: (left: number) =>
    `The month has ${counted(left, 'mail')} left, which is too few: nothing would be sent.`,
  closed: 'The survey is closed: it cannot be sent. Reopen it first.',
  draft: 'The survey is a draft: open it before sending it.',
  viewer: 'Editors and owners can send.',
  byItself: 'By itself',
  noneFound: 'No contact matches.',
  notJudged: ({ kind, after_days }: NamedRun) => {
    const days = counted(after_days ?? 0, 'day');
    if (kind === 'reminder') {
      const means = `A contact that has not answered is reminded ${days} after it was mailed.`;
      return { title: 'No reminder is due yet.', means };
    }
    if (kind === 'asking') {
      return {
        title: 'No contact is due yet.',
        means: `A contact is asked ${days} after it was added.`,
      };
    }
    const means =
      'Contacts are judged and listed here when it starts, with those added until then.';
    return { title: 'No contact was judged yet.', means };
  },
  noTime: 'Say when it should start.',
  pastTime: 'This time has passed.',
};

type NamedRun = {
  kind: 'campaign' | 'asking' | 'reminder';
  reminder: number;
  after_days: number | null;
};

/** What a run that no person started is called. */
export const runTitle = ({ kind, reminder, after_days }: NamedRun) =>
  kind === 'reminder'
    ? `Reminder ${reminder}, after ${counted(after_days ?? 0, 'day')}`
    : `Asked by itself, after ${counted(after_days ?? 0, 'day')}`;

const statusWords = {
  scheduled: ['waiting', 'Scheduled'],
  running: ['waiting', 'Running'],
  paused: ['skipped', 'Paused'],
  finished: ['fine', 'Finished'],
  stopped: ['failed', 'Stopped'],
  refused: ['failed', 'Refused'],
} as const;

export const statusWord = (status: keyof typeof statusWords) => statusWords[status];

const resultWords = {
  waiting: ['waiting', 'Waiting'],
  sent: ['fine', 'Sent'],
  duplicate: ['skipped', 'Not mailed'],
  invalid: ['failed', 'Invalid'],
  failed: ['failed', 'Failed'],
} as const;

export const resultWord = (status: keyof typeof resultWords) => resultWords[status];
