import { signedNps } from '../scores.ts';

/** What notifications say. No comment stands in a subject. */

type AnswerWords = { survey: string; score: number; highest: number; words: string | null };
type NamedContact = { contact_name: string | null; contact_email: string | null };
type DigestFigures = {
  responses: number;
  nps: number | null;
  npsBefore: number | null;
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
  digest: (organization: string, { responses, nps, npsBefore, open, from, to }: DigestFigures) => ({
    subject: `${organization}: ${counted(responses, 'response')}, NPS ${scoreOr('not known', nps)}`,
    sentences: [
      from === to ? `${from}.` : `${from} to ${to}.`,
      `${counted(responses, 'response')}. NPS: ${scoreOr('not known, without responses', nps)}${changeOf(nps, npsBefore)}.`,
      `${counted(open, 'detractor')} open.`,
    ],
    action: 'Open Home',
  }),
  foot: (organization: string) =>
    `You get this mail because you chose so under Settings, Notifications of ${organization}.`,
  stop: 'Stop these mails',
} as const;

const scoreOr = (missing: string, nps: number | null) => (nps === null ? missing : signedNps(nps));

function changeOf(nps: number | null, before: number | null) {
  if (nps === null || before === null) return '';
  const change = nps - before;
  if (change === 0) return ', as before';
  return `, ${change > 0 ? `${change} more` : `${-change} less`} than before`;
}
