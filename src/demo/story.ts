import type { StoredAnswer } from '../questions/check-answers.ts';
import type { QuestionsInput } from '../questions/definition.ts';
import { type Category, categoryOf, type SurveyType, typeFacts } from '../survey-types.ts';
import { templateQuestions } from '../surveys/templates.ts';
import type { TemplateSubject } from '../web/languages/en.ts';
import sayings from './sayings.json' with { type: 'json' };

/**
 * A year of a coffee roaster. Five months ago an update of its app confused addresses and delivery days. The scores fall,
 * comments speak of the app and of deliveries, and after about ten weeks most customers have come back.
 */
export const storyDays = 380;
/** Less than a year, so that Home shows no comparison. */
const answeredDays = 363;
export const reminderDays = 5;
const dayMs = 86_400_000;
/** Days between two monthly campaigns. The last campaign is older than its reminders and their answers. */
const monthDays = 30.4;
const lastCampaignDays = 10;
const campaigns = 12;
/** Days after the update: comments mention the update for `releaseDays`, then the recovery until `recoveryDays`. */
const releaseDays = 75;
const recoveryDays = 140;

export const languages = ['de', 'fr', 'nl'] as const;
const countries = [
  ...['DE', 'DE', 'DE', 'AT', 'GB', 'GB', 'IE', 'FR', 'FR', 'NL', 'NL', 'US'],
] as const;
const languageIn: Readonly<Record<string, string>> = { DE: 'de', AT: 'de', FR: 'fr', NL: 'nl' };
const plans = ['subscription', 'subscription', 'single bag', 'single bag', 'office'] as const;
const coffees = ['Nightjar', 'Meadow', 'Harbour', 'Dusk'] as const;

type About = Category | 'release' | 'recovery' | 'december';

export type DemoSurvey = {
  name: string;
  type: SurveyType;
  topic: TemplateSubject;
  /** A campaign mails all new customers of a month. A request mails one customer after an event. */
  by: 'campaign' | 'request' | 'link';
  people: number;
  anonymous: number;
  answering: number;
  /** Percentages at the beginning of the year. */
  promoters: number;
  passives: number;
  /** Points that the update costs. */
  dip: number;
};

export const surveys: readonly DemoSurvey[] = [
  {
    name: 'Customer loyalty',
    type: 'nps',
    topic: 'nps',
    by: 'campaign',
    people: 1000,
    anonymous: 60,
    answering: 0.44,
    promoters: 56,
    passives: 27,
    dip: 44,
  },
  {
    name: 'After delivery',
    type: 'star5',
    topic: 'delivery',
    by: 'request',
    people: 420,
    anonymous: 40,
    answering: 0.46,
    promoters: 74,
    passives: 14,
    dip: 36,
  },
  {
    name: 'After a support case',
    type: 'csat',
    topic: 'support',
    by: 'request',
    people: 260,
    anonymous: 0,
    answering: 0.52,
    promoters: 71,
    passives: 13,
    dip: 26,
  },
  {
    name: 'Changing a subscription',
    type: 'ces',
    topic: 'effort',
    by: 'request',
    people: 180,
    anonymous: 0,
    answering: 0.5,
    promoters: 58,
    passives: 22,
    dip: 40,
  },
  {
    name: 'Help pages',
    type: 'thumbs',
    topic: 'website',
    by: 'link',
    people: 0,
    anonymous: 210,
    answering: 1,
    promoters: 76,
    passives: 0,
    dip: 22,
  },
  {
    name: 'Working at Larkspur',
    type: 'nps',
    topic: 'employees',
    by: 'request',
    people: 46,
    anonymous: 0,
    answering: 0.8,
    promoters: 50,
    passives: 28,
    dip: 24,
  },
];

/** The questions of the template. Customers are also asked for wishes. */
export function questionsOf({ topic }: DemoSurvey): QuestionsInput {
  const questions = templateQuestions(topic, { language: 'en', translations: languages });
  if (topic !== 'nps') return questions;
  const { wish } = sayings.questions;
  const texts = Object.fromEntries(languages.map((tag) => [tag, { text: wish[tag] }]));
  return [...questions, { kind: 'text', text: wish.en, categories: ['promoter'], texts }];
}

export type StoryContact = ReturnType<ReturnType<typeof createStory>['contact']>;
export type StoryAnswer = ReturnType<ReturnType<typeof createStory>['answer']>;

/** The history of one survey until now, oldest first. The same survey and time give the same history. */
export function makeStory(survey: DemoSurvey, now: Date) {
  const { contact, answer, daysAgo, tell } = createStory(survey, now);
  const contacts = Array.from({ length: survey.people }, (_, place) => contact(place)).sort(
    (one, other) => +one.created_at - +other.created_at,
  );
  /** From the shareable link. */
  const anonymous = Array.from({ length: survey.anonymous }, () => answer(daysAgo(), 'en'));
  tell([...contacts.flatMap((each) => each.answer ?? []), ...anonymous]);
  return { contacts, anonymous };
}

function createStory(survey: DemoSurvey, now: Date) {
  const random = randomFrom(survey.name);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const before = (days: number) => new Date(now.getTime() - days * dayMs);
  const released = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 5, 9);
  const questions = questionsOf(survey);

  const daysAgo = () => random() * answeredDays;

  function contact(place: number) {
    const person = customerAt(place, survey.topic);
    const language = languageIn[person.properties.country] ?? 'en';
    const added = daysAgo();
    const campaign =
      survey.by === 'campaign' ? Math.floor((added - lastCampaignDays) / monthDays) : null;
    const isAsked = campaign === null ? added > 1 : campaign >= 0;
    const seconds = random() * 1800;
    const asked =
      campaign === null ? added : lastCampaignDays + campaign * monthDays - seconds / 86_400;
    const luck = isAsked ? random() : 1;
    const outcome = luck < 0.018 ? 'bounced' : luck < 0.028 ? 'unsubscribed' : 'sent';
    const answers = isAsked && outcome === 'sent' && random() < survey.answering;
    const isLate = survey.by === 'campaign' && random() < 0.3;
    const delay = Math.min(isLate ? reminderDays + random() * 2 : random() ** 2 * 4, asked * 0.9);
    const isReminded =
      isAsked && survey.by === 'campaign' && outcome === 'sent' && (isLate || !answers);
    return {
      ...person,
      created_at: before(added + 0.3),
      campaign: isAsked && campaign !== null ? campaigns - 1 - campaign : null,
      sent_at: isAsked ? before(asked) : null,
      reminded_at: isReminded ? before(asked - reminderDays) : null,
      status: answers ? ('responded' as const) : isAsked ? outcome : ('pending' as const),
      answer: answers ? answer(asked - delay, random() < 0.8 ? language : 'en') : null,
    };
  }

  function answer(days: number, language: string) {
    const at = before(days);
    const since = (at.getTime() - released) / dayMs;
    const category = pickCategory(survey, { days, since, percentile: random() * 100 });
    const about = aboutOf(category, { at, since });
    const { score, commenting } = scoreOf(category, about);
    return {
      score,
      category,
      about,
      language,
      created_at: at,
      comment: null as string | null,
      comments: random() < commenting,
      answers: random() < 0.65 ? questions.map((question) => answerTo(question, category)) : [],
      handling: handlingOf(category, days),
    };
  }

  function scoreOf(category: Category, about: About) {
    const scores = scoresOf(survey.type, category).reverse();
    const skew = about === 'release' ? 0.9 : 1.7;
    const score = scores[Math.floor(random() ** skew * scores.length)]!;
    const commenting = { promoter: 0.5, passive: 0.5, detractor: 0.8 }[category];
    return { score, commenting };
  }

  function aboutOf(category: Category, { at, since }: { at: Date; since: number }): About {
    const isUpset = category === 'detractor' || (category === 'passive' && random() < 0.3);
    if (isUpset && since > 0 && since < releaseDays) return random() < 0.8 ? 'release' : category;
    const isBack = category === 'promoter' && since > 50 && since < recoveryDays;
    if (isBack && random() < 0.3) return 'recovery';
    const isWinter = at.getUTCMonth() === 11 && at.getUTCDate() > 10;
    const isGift = survey.topic === 'nps' ? category === 'promoter' : category === 'detractor';
    return isWinter && isGift && random() < 0.6 ? 'december' : category;
  }

  /** Promoters prefer the first options of the first question, and detractors the last ones. */
  function answerTo(question: QuestionsInput[number], category: Category) {
    const { kind, categories, options } = question;
    if (categories && !categories.includes(category)) return null;
    if (kind === 'text') return random() < 0.4 ? { text: pick(sayings.wishes) } : null;
    if (kind === 'scale') {
      const best = { promoter: 5, passive: 4, detractor: 2 }[category];
      return { value: Math.max(1, best - (random() < 0.4 ? 1 : 0)) };
    }
    const leans = question.text === questions[0]!.text && category !== 'passive';
    const place = Math.floor(random() ** (leans ? 2.5 : 1) * options!.length);
    const { id } = options!.at(leans && category === 'detractor' ? -1 - place : place)!;
    if (kind === 'choice') return { value: id! } satisfies StoredAnswer;
    return { value: [...new Set([id!, pick(options!).id!])] };
  }

  /** Old complaints are done. Some newer complaints are open, with or without an owner. */
  function handlingOf(category: Category, days: number) {
    const luck = random();
    const isComplaint = category === 'detractor';
    const isDone = isComplaint && luck < (days > 30 ? 0.95 : 0.4);
    const isOwned = isDone || (isComplaint && luck < 0.7);
    return {
      isDone,
      owner: isOwned ? Math.floor(random() * 3) : null,
      reply: isDone && random() < 0.55,
      note: isOwned && random() < 0.25,
      hours: 2 + random() * 30,
      luck: random(),
    };
  }

  /**
   * Writes comments in chronological order. Repeats a comment only after all others of the same kind, and never twice
   * in a row.
   */
  function tell(answers: StoryAnswer[]) {
    const decks = new Map<string, string[]>();
    let last = '';
    for (const each of answers.sort((one, other) => +one.created_at - +other.created_at)) {
      if (!each.comments) continue;
      const texts = sayings[survey.topic] as Partial<Record<About, Record<string, string[]>>>;
      const about = texts[each.about] ? each.about : each.category;
      const language = texts[about]?.[each.language] ? each.language : 'en';
      const all = texts[about]?.[language] ?? [];
      const key = `${about} ${language}`;
      const deck = decks.get(key) ?? shuffled(all, random);
      const text = deck.shift() ?? last;
      decks.set(key, [...deck, text]);
      if (text === last) continue;
      last = text;
      each.comment = text;
    }
  }

  return { contact, answer, daysAgo, tell };
}

/** The share of promoters grows over the year, and drops after the update. */
function pickCategory(
  { promoters, passives, dip, topic }: DemoSurvey,
  { days, since, percentile }: { days: number; since: number; percentile: number },
): Category {
  const gain = 12 * (1 - days / storyDays);
  const hurt = since < 0 ? 0 : dip * Math.exp(-Math.max(0, since - 20) / 30);
  const bar = Math.max(promoters + gain - hurt, 8);
  if (percentile < bar) return 'promoter';
  return topic !== 'website' && percentile < bar + passives ? 'passive' : 'detractor';
}

export function scoresOf(type: SurveyType, category: Category): number[] {
  const { lowest, highest } = typeFacts(type);
  const scale = Array.from({ length: highest - lowest + 1 }, (_, step) => lowest + step);
  return scale.filter((score) => categoryOf(type, score) === category);
}

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  const keyed = list.map((item) => ({ item, key: random() }));
  return keyed.sort((one, other) => one.key - other.key).map(({ item }) => item);
}

/** The same customers answer several surveys. Employees are separate people. */
function customerAt(place: number, topic: TemplateSubject) {
  const number = topic === 'employees' ? place + 5000 : place * (topic === 'nps' ? 1 : 2);
  const first = firstNames[number % firstNames.length]!;
  const last = lastNames[(number * 7 + Math.floor(number / firstNames.length)) % lastNames.length]!;
  return {
    name: `${first} ${last}`,
    email: `${first}.${last}.${number + 1}@example.com`.toLowerCase(),
    properties: {
      country: countries[(number * 5) % countries.length]!,
      ...(topic === 'employees'
        ? { team: ['Roastery', 'Warehouse', 'Support', 'Office'][number % 4]! }
        : { plan: plans[(number * 3) % plans.length]!, coffee: coffees[number % coffees.length]! }),
    },
  };
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
  'Amara Ben Chiara David Elif Farah Gustav Hana Ivan Jamila Kofi Lena Mateo Nadia Oskar Priya Quentin Rosa Samir Tove Uma Viktor Wanda Yusuf Zoe Anton Britta Cleo Dario Edda'.split(
    ' ',
  );

const lastNames =
  'Albrecht Bianchi Castillo Dahl Eriksen Fischer Garcia Haddad Ito Jansen Kowalski Lindqvist Moreau Novak Okafor Patel Rossi Silva Tanaka Weber Brandt Dubois Ekberg Fontaine Hughes'.split(
    ' ',
  );
