import type { SurveyType } from '../scores.ts';

/** What notifications say. No comment stands in a subject. */

type AnswerWords = { survey: string; score: number; highest: number; words: string | null };
type NamedContact = { contact_name: string | null; contact_email: string | null };
/** The number of one scale in a digest. */
export type DigestNumber = {
  type: SurveyType;
  /** Where employees and customers answered surveys of the same type. */
  audience: 'employee' | 'customer' | null;
  responses: number;
  value: string;
  /** How much more or less than before; null where there is nothing to compare with. */
  change: { by: number; shown: string } | null;
};

type DigestFigures = {
  responses: number;
  numbers: readonly DigestNumber[];
  open: number;
  from: string;
  to: string;
};

const counted = (number: number, thing: string) =>
  `${number.toLocaleString('en')} ${thing}${number === 1 ? '' : 's'}`;

const answerSubjects = {
  detractor: (survey: string) => `A detractor answered: ${survey}`,
  held: (survey: string) => `A response is held: ${survey}`,
  assigned: (survey: string) => `A response is assigned to you: ${survey}`,
} as const;

export const letterTexts = {
  answer: (kind: keyof typeof answerSubjects, { survey, score, highest, words }: AnswerWords) => ({
    subject: answerSubjects[kind](survey),
    sentences: [
      `${survey}: ${score} of ${highest}.`,
      words ? `“${words}”` : 'There is no comment.',
      ...(kind === 'held'
        ? ['A machine seems to have given it. It counts once it is released.']
        : []),
    ],
    action: 'Open the response',
  }),
  contact: ({ contact_name: name, contact_email: email }: NamedContact) =>
    name ? `From ${name}, ${email}.` : `From ${email}.`,
  webhookOff: (organization: string, { url, reason }: { url: string; reason: string }) => ({
    subject: `A webhook of ${organization} was switched off`,
    sentences: [`The webhook ${new URL(url).origin} was switched off.`, `Why: ${reason}.`],
    action: 'Open the webhook',
  }),
  limit_near: (organization: string, { used, most }: { used: number; most: number }) => ({
    subject: `${organization} has used 80 % of the month’s mails`,
    sentences: [`${used.toLocaleString('en')} of ${counted(most, 'mail')} are used this month.`],
    action: 'Open the usage',
  }),
  limit_reached: (organization: string, { used, most }: { used: number; most: number }) => ({
    subject: `${organization} has used all of the month’s mails`,
    sentences: [
      `${used.toLocaleString('en')} of ${counted(most, 'mail')} are used this month. No more go out before the next one.`,
    ],
    action: 'Open the usage',
  }),
  campaignFinished: ({ name, survey, total }: { name: string; survey: string; total: number }) => ({
    subject: `A campaign is finished: ${name}`,
    sentences: [`The campaign ${name} of ${survey} is finished: ${counted(total, 'contact')}.`],
    action: 'Open the campaign',
  }),
  digest: (organization: string, { responses, numbers, open, from, to }: DigestFigures) => ({
    subject: `${organization}: ${[counted(responses, 'response'), ...numbers.slice(0, 1).map(shortOf)].join(', ')}`,
    sentences: [
      from === to ? `${from}.` : `${from} to ${to}.`,
      `${counted(responses, 'response')}.`,
      ...numbers.map((number) =>
        numbers.length === 1
          ? `${longOf(number)}.`
          : `${longOf(number)} (${counted(number.responses, 'response')}).`,
      ),
      `${counted(open, 'detractor')} open.`,
    ],
    action: 'Open Home',
  }),
  foot: (organization: string) =>
    `You get this mail because you chose so under Settings, Notifications of ${organization}.`,
  stop: 'Stop these mails',
} as const;

/** What the number of a scale is called, after the words of Home. */
const numberNames: Record<SurveyType, string> = {
  nps: 'NPS',
  csat: 'Satisfied',
  ces: 'Ease of 7',
  star5: 'Stars of 5',
  thumbs: 'Thumbs up',
};

const nameOf = ({ type, audience }: DigestNumber) =>
  audience === null
    ? numberNames[type]
    : `${numberNames[type]}, ${audience === 'employee' ? 'employees' : 'customers'}`;

const shortOf = (number: DigestNumber) => `${numberNames[number.type]} ${number.value}`;

const longOf = (number: DigestNumber) =>
  `${nameOf(number)}: ${number.value}${changeOf(number.change)}`;

function changeOf(change: DigestNumber['change']) {
  if (change === null) return '';
  if (change.by === 0) return ', as before';
  return `, ${change.shown} ${change.by > 0 ? 'more' : 'less'} than before`;
}
