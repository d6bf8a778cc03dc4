import { type Category, categoryOf, scaleOf } from '../scores.ts';
import { type DemoSurvey, firstNames, lastNames } from './sayings.ts';

export type DemoAnswer = {
  score: number;
  category: Category;
  comment: string | null;
  created_at: Date;
};

/** A contact that was mailed, or is about to be. */
export type DemoContact = {
  name: string;
  email: string;
  properties: Readonly<Record<string, string>>;
  created_at: Date;
  sent_at: Date | null;
  answer: DemoAnswer | null;
};

/** The answers that came through the shareable link are anonymous. */
export type DemoStory = { contacts: DemoContact[]; anonymous: DemoAnswer[] };

export const storyDays = 180;
const dayMs = 86_400_000;
// More mails than responses, as everywhere.
const answeringShare = 0.55;
const commentingShare = 0.6;
const anonymousShare = 0.1;
const waitingDays = 3;
const plans = ['free', 'team', 'business'] as const;
const countries = ['DE', 'US', 'FR', 'GB', 'NL'] as const;

/** The history of one survey until now: the same every time for the same survey and moment. */
export function makeStory(survey: DemoSurvey, now: Date): DemoStory {
  const random = randomFrom(survey.name);
  const contacts = Array.from({ length: survey.contacts }, (_, place) =>
    contact(survey, { place, now, random }),
  );
  const anonymous = Array.from({ length: Math.round(survey.contacts * anonymousShare) }, () =>
    answer(survey, { daysAgo: random() * storyDays, now, random }),
  );
  return { contacts, anonymous };
}

type Random = () => number;
type Chance = { now: Date; random: Random };

function contact(
  survey: DemoSurvey,
  { place, now, random }: Chance & { place: number },
): DemoContact {
  const first = firstNames[place % firstNames.length]!;
  const last = lastNames[(place * 7 + Math.floor(place / firstNames.length)) % lastNames.length]!;
  const daysAgo = random() * storyDays;
  const asked = daysAgo > waitingDays;
  const answers = asked && random() < answeringShare;
  return {
    name: `${first} ${last}`,
    email: `${first}.${last}.${place + 1}@example.com`.toLowerCase(),
    properties: {
      plan: plans[place % plans.length]!,
      country: countries[place % countries.length]!,
    },
    created_at: before(now, daysAgo + 0.5),
    sent_at: asked ? before(now, daysAgo) : null,
    answer: answers
      ? answer(survey, { daysAgo: daysAgo - random() * waitingDays, now, random })
      : null,
  };
}

function answer(
  survey: DemoSurvey,
  { daysAgo, now, random }: Chance & { daysAgo: number },
): DemoAnswer {
  const category = pickCategory(survey, { progress: 1 - daysAgo / storyDays, random });
  const sayings = survey.sayings[category];
  const comments = sayings.length > 0 && random() < commentingShare;
  return {
    score: pick(scoresOf(survey, category), random),
    category,
    comment: comments ? pick(sayings, random) : null,
    created_at: before(now, daysAgo),
  };
}

/** Opinion moves over the months, so that the curves have something to show. */
function pickCategory(
  { promoters, passives, gain }: DemoSurvey,
  { progress, random }: { progress: number; random: Random },
): Category {
  const drawn = random() * 100;
  const promotersNow = promoters + gain * progress;
  if (drawn < promotersNow) return 'promoter';
  return drawn < promotersNow + passives ? 'passive' : 'detractor';
}

function scoresOf({ type }: DemoSurvey, category: Category): number[] {
  const { lowest, highest } = scaleOf(type);
  const scale = Array.from({ length: highest - lowest + 1 }, (_, step) => lowest + step);
  return scale.filter((score) => categoryOf(type, score) === category);
}

const pick = <T>(from: readonly T[], random: Random): T =>
  from[Math.floor(random() * from.length)]!;

const before = (now: Date, days: number) => new Date(now.getTime() - days * dayMs);

/** Numbers from 0 to 1 that follow from a word (mulberry32). */
function randomFrom(word: string): Random {
  let state = [...word].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), 7);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
