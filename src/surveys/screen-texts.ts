import type { SurveyType } from '../scores.ts';
import type { SurveyStatus } from './queries.ts';

/** What the screens of surveys say. */
export const surveyTexts = {
  title: 'Surveys',
  create: 'New survey',
  none: 'No survey yet',
  noneMeans: 'A survey asks one question, by mail or by a link. New survey makes one.',
  about: 'newest first',
  noneFound: 'No survey has this in its name',
  noneFoundMeans: 'Search for less of it.',
  status: { draft: 'Draft', active: 'Open', completed: 'Closed' } as Record<SurveyStatus, string>,
  completed: {
    answers: 'Every contact has answered. Its link still takes answers.',
    hand: 'It was closed: its links say so.',
  },
  type: {
    nps: 'Recommendation, 0 to 10 (NPS)',
    csat: 'Satisfaction, 1 to 5 (CSAT)',
    ces: 'Effort, 1 to 7 (CES)',
    star5: 'Stars, 1 to 5',
    thumbs: 'Thumbs up or down',
  } satisfies Record<SurveyType, string>,
  saved: (name: string) => `“${name}” is saved.`,
  made: (name: string) => `“${name}” is made. Its link is under Share.`,
  opened: (name: string) => `“${name}” is open: it can be sent and answered.`,
  closed: (name: string) => `“${name}” is closed: its links say so.`,
  reopened: (name: string) => `“${name}” is open again.`,
  copied: (name: string) => `“${name}” is a draft with the same texts and settings.`,
  deleted: (name: string) => `“${name}” is deleted.`,
  closeTitle: (name: string) => `Close “${name}”`,
  closeMeans:
    'Its links say that it is closed, and nothing more is sent or answered. What was answered stays. Reopen takes it back.',
  deleteTitle: (name: string) => `Delete “${name}”`,
  deleteMeans: (contacts: string, answers: string) =>
    `${contacts} and ${answers} are deleted with it, and so are its mails and totals. Nothing brings them back.`,
  deleteName: 'Name of the survey',
  deleteWrong: 'This is not its name.',
  notOpen: {
    draft: 'It is a draft: its link takes no answers yet.',
    hand: 'It is closed: its link takes no answers.',
    answers: 'Every contact has answered. Its link still takes answers.',
    active: '',
    completed: '',
  },
  embedProperties:
    'What stands in data-properties is kept with the answer: replace it or leave it out.',
  noAnswers: 'No answers yet',
  noAnswersMeans: 'Share its link, or send it to contacts.',
  noAnswersInPeriod: 'No answers in this period',
} as const;
