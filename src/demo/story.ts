import { type Category, categoryOf, type SurveyType, typeFacts } from '../survey-types.ts';

export const storyDays = 180;
const dayMs = 86_400_000;
const answeringShare = 0.55;
const commentingShare = 0.6;
const anonymousShare = 0.1;
const waitingDays = 3;
const plans = ['free', 'team', 'business'] as const;
const countries = ['DE', 'US', 'FR', 'GB', 'NL'] as const;

/** The history of one survey until now, reproducible for the same survey and time. */
export function makeStory(survey: DemoSurvey, now: Date) {
  const random = randomFrom(survey.name);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const before = (days: number) => new Date(now.getTime() - days * dayMs);

  function contact(place: number) {
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
      created_at: before(daysAgo + 0.5),
      sent_at: asked ? before(daysAgo) : null,
      answer: answers ? answer(daysAgo - random() * waitingDays) : null,
    };
  }

  function answer(daysAgo: number) {
    const category = pickCategory(survey, 1 - daysAgo / storyDays, random() * 100);
    const sayings = survey.sayings[category];
    const comments = sayings.length > 0 && random() < commentingShare;
    return {
      score: pick(scoresOf(survey, category)),
      category,
      comment: comments ? pick(sayings) : null,
      created_at: before(daysAgo),
    };
  }

  const contacts = Array.from({ length: survey.contacts }, (_, place) => contact(place));
  /** From the shareable link. */
  const anonymous = Array.from({ length: Math.round(survey.contacts * anonymousShare) }, () =>
    answer(random() * storyDays),
  );
  return { contacts, anonymous };
}

/** Shifts over the months, so that trends have a shape. */
function pickCategory(survey: DemoSurvey, progress: number, percentile: number): Category {
  const promoters = survey.promoters + survey.gain * progress;
  if (percentile < promoters) return 'promoter';
  return percentile < promoters + survey.passives ? 'passive' : 'detractor';
}

function scoresOf({ type }: DemoSurvey, category: Category): number[] {
  const { lowest, highest } = typeFacts(type);
  const scale = Array.from({ length: highest - lowest + 1 }, (_, step) => lowest + step);
  return scale.filter((score) => categoryOf(type, score) === category);
}

/** Seeded random numbers from 0 to 1 (mulberry32). */
function randomFrom(word: string): () => number {
  let state = [...word].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), 7);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const firstNames =
  'Amara Ben Chiara David Elif Farah Gustav Hana Ivan Jamila Kofi Lena Mateo Nadia Oskar Priya Quentin Rosa Samir Tove Uma Viktor Wanda Yusuf Zoe'.split(
    ' ',
  );

const lastNames =
  'Albrecht Bianchi Castillo Dahl Eriksen Fischer Garcia Haddad Ito Jansen Kowalski Lindqvist Moreau Novak Okafor Patel Rossi Silva Tanaka Weber'.split(
    ' ',
  );

export type DemoSurvey = {
  name: string;
  type: SurveyType;
  audience: 'employee' | null;
  question: string;
  contacts: number;
  promoters: number;
  passives: number;
  gain: number;
  sayings: Readonly<Record<Category, readonly string[]>>;
};

const product = {
  promoter: [
    'Set up in an afternoon, and the whole team uses it by now.',
    'Support answered within ten minutes and actually solved it.',
    'Does exactly what it says. I recommended it to two clients already.',
    'The reports save me half a day every month.',
    'Fast, clear, and the price is fair.',
    'Best onboarding I have seen in years.',
    'The new search is a joy.',
  ],
  passive: [
    'Good, but the mobile app needs work.',
    'It does the job. Exporting to Excel could be easier.',
    'Solid product, though the price went up again.',
    'Nice, but I miss an integration with our calendar.',
    'Works well most days; syncing is sometimes slow.',
  ],
  detractor: [
    'Too slow since the last update. Pages take ten seconds to load.',
    'We were billed twice and it took three weeks to get an answer.',
    'Too expensive for what it does, we are looking at alternatives.',
    'The import lost half of our contacts.',
    'Nobody from support ever called back.',
    'Confusing menus, I never find what I need.',
  ],
} as const;

const workplace = {
  promoter: [
    'I trust my team, and I am trusted.',
    'Flexible hours make all the difference with two kids.',
    'I learned more here in a year than anywhere else.',
  ],
  passive: [
    'Good people, but too many meetings.',
    'I like my work; I would like to see where it leads.',
  ],
  detractor: [
    'Decisions come from above without a reason.',
    'Too much overtime this spring.',
    'Salaries have fallen behind.',
  ],
} as const;

const service = {
  promoter: [
    'Friendly, quick, solved on the first call.',
    'She knew the answer at once. Thank you!',
    'Delivered a day early and well packed.',
  ],
  passive: ['Fine in the end, but I had to explain it twice.', 'Okay. The waiting music is not.'],
  detractor: [
    'Forty minutes on hold, then I was cut off.',
    'The parcel came damaged and the return form did not work.',
    'I got three different answers from three people.',
  ],
} as const;

const customers = { audience: null, contacts: 90, promoters: 48, passives: 27, gain: 14 } as const;

export const surveys: readonly DemoSurvey[] = [
  {
    ...customers,
    name: 'Customer loyalty',
    type: 'nps',
    question: 'How likely are you to recommend us to a friend or colleague?',
    contacts: 150,
    sayings: product,
  },
  {
    ...customers,
    name: 'Working here',
    type: 'nps',
    audience: 'employee',
    question: 'How likely are you to recommend us as a place to work?',
    contacts: 45,
    sayings: workplace,
  },
  {
    ...customers,
    name: 'After a support case',
    type: 'csat',
    question: 'How satisfied are you with the help you got?',
    promoters: 62,
    sayings: service,
  },
  {
    ...customers,
    name: 'Changing a plan',
    type: 'ces',
    question: 'How easy was it to change your plan?',
    gain: 25,
    sayings: product,
  },
  {
    ...customers,
    name: 'Delivery',
    type: 'star5',
    question: 'How many stars does our delivery get?',
    promoters: 66,
    gain: -18,
    sayings: service,
  },
  {
    ...customers,
    name: 'Help article',
    type: 'thumbs',
    question: 'Did this article help you?',
    promoters: 74,
    passives: 0,
    sayings: {
      promoter: ['Step three was what I needed.', 'Clear pictures.'],
      passive: [],
      detractor: ['Out of date: the button is gone.', 'It does not say what to do on a phone.'],
    },
  },
];

export const tags = [
  { name: 'Billing', color: '#C2410C' },
  { name: 'Feature request', color: '#1D4ED8' },
  { name: 'Praise', color: '#15803D' },
  { name: 'Urgent', color: '#B91C1C' },
] as const;
