import { type SurveyType, signedNps } from '../scores.ts';
import { count, counted } from '../web/app/lists.tsx';
import type { Change, Measured, MeasureKind } from './measure.rules.ts';
import { measureKinds } from './measure.rules.ts';
import type { HomePeriod } from './period.rules.ts';

/** What the number of a scale is called. */
const numbers: Record<SurveyType, string> = {
  nps: 'Net Promoter Score',
  csat: 'Satisfied (4 or 5 of 5)',
  ces: 'Ease of 7',
  star5: 'Stars of 5',
  thumbs: 'Thumbs up',
};

const kinds: Record<SurveyType, string> = {
  nps: 'Net Promoter Score',
  csat: 'Satisfaction',
  ces: 'Ease',
  star5: 'Stars',
  thumbs: 'Thumbs',
};

export const homeTexts = {
  numberOf: (type: SurveyType) => numbers[type],
  kindOf: (type: SurveyType, audience: 'employee' | 'customer' | null) =>
    audience === null
      ? kinds[type]
      : `${kinds[type]}, ${audience === 'employee' ? 'employees' : 'customers'}`,
  scaleOf: (highest: number) => `of ${highest}`,
  steps: { day: 'by day', week: 'by week', month: 'by month' },
  stepName: { day: '', week: 'Week of ', month: '' },
  noAnswers: (period: HomePeriod) => `No responses ${inPeriod(period)}`,
  bandCaption: 'The band is the margin of error (95%).',
  bandOfOne: 'One response has none: there the band is as high as the drawing.',
  meaning,
  value: formatValue,
  margin: formatMargin,
};

/** As it stands alone: +51, 65.3%, 4.31. */
export function formatValue(type: SurveyType, value: number): string {
  const kind: MeasureKind = measureKinds[type];
  if (kind === 'mean') return value.toFixed(2);
  return kind === 'share' ? `${value}%` : signedNps(value);
}

export function formatMargin(type: SurveyType, margin: number): string {
  const kind: MeasureKind = measureKinds[type];
  if (kind === 'mean') return `± ${margin.toFixed(2)}`;
  return kind === 'share' ? `± ${margin}%` : `± ${margin}`;
}

export function inPeriod({ name, days }: HomePeriod): string {
  return name === 'custom' ? 'on these days' : `in the last ${days} days`;
}

type Meaning = {
  type: SurveyType;
  change: Change | null;
  now: Measured;
  before: Measured;
  period: HomePeriod;
};

/** What a change means, in words that say no more than the figures do. */
function meaning({ type, change, now, before, period }: Meaning): { lead: string; rest: string } {
  const earlier = `the ${counted(period.days, 'day')} before`;
  if (change === null || before.value === null) {
    return { lead: '', rest: `There are no responses in ${earlier} to compare with.` };
  }
  const was = `${formatValue(type, before.value)} in ${earlier}`;
  if (change.by === 0) return { lead: 'Unchanged', rest: ` from ${was}.` };
  const lead = `${change.by > 0 ? 'Up' : 'Down'} ${points(type, Math.abs(change.by))}`;
  const margin = formatMargin(type, change.margin);
  const total = Math.min(now.total, before.total);
  const why = {
    none: '',
    few: `${counted(total, 'response')}: too few to call this a change.`,
    chance: `The change is within its margin of error (${margin}), so it may be chance.`,
    better: `That is more than its margin of error (${margin}): better than before.`,
    worse: `That is more than its margin of error (${margin}): worse than before.`,
  }[change.meaning];
  return { lead, rest: ` from ${was}. ${why}` };
}

function points(type: SurveyType, by: number): string {
  const kind: MeasureKind = measureKinds[type];
  if (kind === 'mean') return by.toFixed(2);
  return `${by} ${by === 1 ? 'point' : 'points'}`;
}

/** What needs attention, each with the way to it. */
export const attentionTexts = {
  title: 'Needs attention',
  nothing: 'Nothing needs attention.',
  webhookOff: 'Webhook switched off',
  webhookFailing: 'Webhook fails',
  failures: (host: string, failures: number) =>
    `${host} failed ${failures === 1 ? 'once' : `${failures} times in a row`}.`,
  unowned: (detractors: string) => `${detractors} without an owner`,
  unownedSince: 'Of the last 30 days. The oldest has waited since',
  mailsUsed: (share: number) => `${share}% of this month’s mails used`,
  mailsLeft: (used: number, limit: number) => `${count(used)} of ${count(limit)}.`,
  held: (held: number) => `${counted(held, 'response')} on hold`,
  heldWhy: 'They look automated and are not counted until somebody releases them.',
  mailTrouble: (failed: number) => `${counted(failed, 'mail')} failed in the last 7 days`,
  mailTroubleWhy: (sent: number) =>
    `${count(sent)} were sent. The mail settings say what is wrong.`,
  bounced: (bounced: number) =>
    `${counted(bounced, 'address', 'addresses')} bounced in the last 7 days`,
  bouncedWhy: 'They get no more mail.',
};

/** Of what has a property only. */
export const propertyTexts = {
  open: 'Only one property',
  help: 'Only responses of contacts with this property.',
};

/** The same number by the values of a property. */
export const segmentTexts = {
  title: 'By property',
  choose: 'Choose a property',
  noProperties: 'No contact of these responses has a property.',
  means: 'The score of each value of a property of contacts: by plan, by country.',
  none: 'No response of this period has this property.',
  caption: (number: string, name: string) => `${number} by ${name}`,
  sampled: (most: number) => `The most frequent values among the newest ${count(most)} responses.`,
};

/** Until the first response. */
export const firstStepTexts = {
  title: 'Four steps to the first response',
  lead: 'Your score appears here with the first response.',
  later: 'Later',
};
