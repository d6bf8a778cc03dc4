import { signedNps } from '../scores.ts';

/** What the screens of summaries say. */
export const summaryTexts = {
  title: 'Summaries',
  make: 'New summary',
  submit: 'Make summary',
  about:
    'What customers said in a period: the score, what they speak of, and their words in short.',
  none: 'No summary yet',
  noneMeans:
    'A summary of each calendar month is written by itself once analysis is on under Settings. New summary makes one of any period.',
  asked: 'The summary is being written. It appears here in a moment.',
  fromHelp: 'The first day.',
  toHelp: 'The last day; it is included.',
  noScore: 'none',
  change: (now: number | null, before: number | null): string => {
    if (now === null) return 'No answer counted in this period.';
    if (before === null)
      return 'No answer counted in the period before, so there is nothing to compare with.';
    if (now === before) return `As in the period before: ${signedNps(before)}.`;
    const points = Math.abs(now - before);
    return `${now > before ? 'Up' : 'Down'} ${points} ${points === 1 ? 'point' : 'points'} from ${signedNps(before)} in the period before.`;
  },
  since: 'Since the last summary',
} as const;
