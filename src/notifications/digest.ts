import type { Sql } from '../lib/db/db.ts';
import {
  averageScore,
  netPromoterScore,
  percentage,
  type SurveyType,
  signedNps,
} from '../scores.ts';
import {
  countKinds,
  countOpenDetractors,
  type DigestCounts,
  type DigestKind,
  readDigestPeriods,
} from './digest.queries.ts';
import type { StoredNotification } from './facts.queries.ts';
import { type DigestNumber, letterTexts as texts } from './letter-texts.ts';

type DigestSubject = Pick<StoredNotification, 'org_id' | 'organization' | 'subject' | 'time_zone'>;

/** What a day or a week brought: the number of each scale by itself, in the way of Home, which its button opens. */
export async function digestLetter(db: Sql, about: DigestSubject) {
  const { org_id: orgId, organization, subject, time_zone: timeZone } = about;
  const [unit = 'day', day = ''] = subject.split(' ');
  const periods = await readDigestPeriods(db, { unit, day, timeZone });
  const kinds = await countKinds(db, orgId, periods);
  const [first, last] = [periods.start, new Date(periods.end.getTime() - 1)];
  const figures = {
    responses: kinds.reduce((sum, { now }) => sum + now.responses, 0),
    numbers: kinds.filter(({ now }) => now.responses > 0).map((kind) => numberOf(kind, kinds)),
    open: await countOpenDetractors(db, orgId),
    from: shownDay(timeZone, first),
    to: shownDay(timeZone, last),
  };
  const query = new URLSearchParams({
    date_from: queryDay(timeZone, first),
    date_to: queryDay(timeZone, last),
  });
  return { ...texts.digest(organization, figures), path: `?${query}` };
}

function numberOf({ type, audience, now, earlier }: DigestKind, kinds: DigestKind[]): DigestNumber {
  const { value, decimals, show } = measures[type];
  const [is, was] = [value(now), value(earlier)];
  const by = is === null || was === null ? null : Number((is - was).toFixed(decimals));
  return {
    type,
    audience: kinds.filter((kind) => kind.type === type).length > 1 ? audience : null,
    responses: now.responses,
    value: show(is ?? 0),
    change: by === null ? null : { by, shown: Math.abs(by).toFixed(by % 1 === 0 ? 0 : decimals) },
  };
}

type Measure = {
  value: (counts: DigestCounts) => number | null;
  decimals: number;
  show: (value: number) => string;
};

const nps: Measure = { value: netPromoterScore, decimals: 0, show: signedNps };
const share: Measure = {
  value: ({ promoters, responses }) => (responses === 0 ? null : percentage(promoters, responses)),
  decimals: 1,
  show: (value) => `${value}%`,
};
const mean: Measure = {
  value: ({ score_sum: sum, responses }) => averageScore(sum, responses),
  decimals: 2,
  show: (value) => value.toFixed(2),
};
const measures: Record<SurveyType, Measure> = {
  nps,
  csat: share,
  thumbs: share,
  ces: mean,
  star5: mean,
};

const shownDay = (timeZone: string, moment: Date) =>
  new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'long' }).format(moment);

/** As in an address: 2026-03-01. */
const queryDay = (timeZone: string, moment: Date) =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(moment);
