import * as v from 'valibot';
import { Count, described, Id, Moment } from '../lib/paging/page.ts';
import { isMailable, normalizeEmail } from '../lib/smtp/address.ts';
import {
  isLanguage,
  isPlainLine,
  isTimeZoneName,
  Line,
  Text,
  WholeNumber,
} from '../lib/validation/parse.ts';
import { maxNameLength, maxQuestionLength } from '../limits.ts';
import { AudienceInput, AudienceItem } from '../people/audience.ts';
import { Question, QuestionInput, QuestionsInput } from '../questions/definition.ts';
import { categories, surveyTypes } from '../survey-types.ts';
import { type TextsByLanguage, WithPlaceholders } from './texts.ts';

export const NetPromoterScore = described(
  v.nullable(v.pipe(v.number(), v.integer(), v.minValue(-100), v.maxValue(100))),
  'Net Promoter Score; null without responses',
);

export const ScoreInterval = described(
  v.nullable(v.object({ low: v.number(), high: v.number() })),
  '95 % interval of `nps`, one decimal, cut at -100 and 100; null without responses',
);

const byCategory = <const S extends v.GenericSchema>(text: S) =>
  v.object({
    promoter: v.optional(text),
    passive: v.optional(text),
    detractor: v.optional(text),
  });

export const Address = v.pipe(
  v.string('must be text'),
  v.trim(),
  v.check(isMailable, 'is not an email address'),
  v.metadata({ format: 'email' }),
  v.transform((text) => normalizeEmail(text) ?? text),
);

const Paragraph = (maxLength: number) =>
  v.pipe(
    Text(maxLength),
    v.check(
      (text) => text.split(/\r\n|\r|\n/).every((line) => isPlainLine(line.replaceAll('\t', ' '))),
      'must be text without control characters',
    ),
  );

export const Name = Line(maxNameLength);
const Type = v.picklist(surveyTypes, `must be one of ${surveyTypes.join(', ')}`);
const Audience = described(
  v.nullable(v.literal('employee', 'must be employee or null')),
  'employee for an employee survey; requires type nps',
);
const Status = v.picklist(['draft', 'active'], 'must be draft or active');

const maxReminders = 3;
export const maxReminderDays = 60;
const maxOrigins = 20;
const week = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

const SubjectText = WithPlaceholders(Line(maxNameLength));

const ReminderInput = v.object({
  after_days: WholeNumber(1, maxReminderDays),
  subject: v.optional(v.nullable(SubjectText)),
});

const RemindersInput = described(
  v.pipe(
    v.array(ReminderInput, 'must be a list'),
    v.maxLength(maxReminders, `must be at most ${maxReminders}`),
    v.check(
      (reminders) => new Set(reminders.map((each) => each.after_days)).size === reminders.length,
      'must be after different numbers of days',
    ),
    v.transform((reminders): Reminder[] =>
      reminders
        .map(({ after_days, subject }) => (subject ? { after_days, subject } : { after_days }))
        .sort((one, other) => one.after_days - other.after_days),
    ),
  ),
  'emails to contacts who have not responded, this many days after the first email',
);

const AskAfterDays = described(
  v.nullable(WholeNumber(0, 365)),
  'sends automatically this many days after a contact was added; null: only manually',
);

const TimeOfDay = v.pipe(
  v.string('must be a time such as 09:00'),
  v.regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 09:00'),
);

const SendWindowInput = described(
  v.pipe(
    v.object(
      {
        days: v.pipe(
          v.array(v.picklist(week, `must be among ${week.join(', ')}`), 'must be a list of days'),
          v.minLength(1, 'must name at least one day'),
          v.transform((days) => week.filter((day) => days.includes(day))),
        ),
        from: TimeOfDay,
        to: TimeOfDay,
        time_zone: v.pipe(
          v.string('must be text'),
          v.check(isTimeZoneName, 'must be a time zone such as Europe/Berlin'),
        ),
      },
      'must be an object',
    ),
    v.check(({ from, to }) => from < to, 'must begin before it ends'),
  ),
  'when campaigns, reminders and automatic sends may send; null: at any time',
);

export const minEveryDays = 7;
export const maxEveryDays = 730;

export const EveryDays = WholeNumber(minEveryDays, maxEveryDays);
export const PerDay = WholeNumber(1, 1_000_000);

const RepeatInput = described(
  v.object(
    {
      every_days: described(
        EveryDays,
        'days from the first email of a round to the first email of the next',
      ),
      audience: described(
        v.nullish(AudienceInput, null),
        'asks these people: `people` is the whole directory; null: contacts that were asked before',
      ),
      per_day: described(
        v.nullish(PerDay, null),
        'maximum number of contacts asked per day; null: no limit, or twice the daily average if `spread`',
      ),
      spread: described(
        v.optional(v.boolean('must be true or false'), true),
        'distributes contacts evenly over the days of the cycle; false: asks each as soon as it is due',
      ),
    },
    'must be an object',
  ),
  'asks each contact again in a new round; null: contacts are asked once',
);

const defaults = { position: 'corner', delay_seconds: 5, every_days: 30 } as const;

/** Excludes characters that could end or widen a directive of the Content-Security-Policy. */
const plainHost = /^(\[[0-9a-f:]+\]|[a-z0-9.-]+)$/;

const Origin = v.pipe(
  v.string('must be text'),
  v.trim(),
  v.check(isOrigin, 'must be an origin such as https://www.example.com, without a path'),
  v.transform((origin) => new URL(origin).origin),
);

const EmbedInput = described(
  v.object(
    {
      origins: v.pipe(
        v.array(Origin, 'must be a list of origins'),
        v.maxLength(maxOrigins, `must be at most ${maxOrigins}`),
        v.transform((origins) => [...new Set(origins)]),
      ),
      position: v.optional(
        v.picklist(['inline', 'corner'], 'must be inline or corner'),
        defaults.position,
      ),
      delay_seconds: described(
        v.optional(WholeNumber(0, 600), defaults.delay_seconds),
        'seconds on the page before the survey opens in the corner',
      ),
      every_days: described(
        v.optional(WholeNumber(0, 365), defaults.every_days),
        'days until the survey opens again for the same visitor; 0: on each visit',
      ),
    },
    'must be an object',
  ),
  'websites that may embed the survey, and how',
);

const maxThanksLength = 1000;
const maxUrlLength = 2000;
const maxLanguages = 30;

const QuestionText = WithPlaceholders(Paragraph(maxQuestionLength));

const IntroText = WithPlaceholders(Paragraph(2000));
const FollowUpText = WithPlaceholders(Line(300));

const hasCategory = (byCategory: object) => categories.some((category) => category in byCategory);
const TextByCategory = `must name one of ${categories.join(', ')}`;

const FollowUpInput = described(
  v.union(
    [FollowUpText, v.pipe(byCategory(FollowUpText), v.check(hasCategory, TextByCategory))],
    'must be text, or an object with texts by category',
  ),
  'question above the comment: one text, or one per category',
);

const HttpsUrl = v.pipe(
  v.string('must be text'),
  v.trim(),
  v.maxLength(maxUrlLength, `must be at most ${maxUrlLength} characters`),
  v.check(isHttps, 'must be an https address'),
  v.metadata({ format: 'uri' }),
);

const ThanksParagraph = WithPlaceholders(Paragraph(maxThanksLength));

const ThanksWordsInput = v.pipe(
  v.object({
    text: described(
      v.optional(v.union([v.literal(''), ThanksParagraph], 'must be text'), ''),
      'if empty, the default text appears before the link',
    ),
    link_url: v.optional(HttpsUrl),
    link_text: v.optional(Line(80)),
  }),
  v.check(({ text, link_url }) => Boolean(text || link_url), 'must have a text or a link_url'),
);

const ThanksInput = described(
  v.union(
    [ThanksParagraph, v.pipe(byCategory(ThanksWordsInput), v.check(hasCategory, TextByCategory))],
    'must be text, or an object by category with text, link_url and link_text',
  ),
  'text shown after a response: one text, or one per category with a link',
);

const optionalTexts = {
  subject: described(v.nullish(SubjectText), 'subject of its email; null: the question'),
  intro: described(v.nullish(IntroText), 'text before the question in its email'),
  follow_up: v.nullish(FollowUpInput),
  thanks: v.nullish(ThanksInput),
};

const TranslationInput = v.object({ question_text: QuestionText, ...optionalTexts });

const TextsInput = described(
  v.pipe(
    v.record(v.string(), TranslationInput),
    v.metadata({
      propertyNames: { type: 'string', pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$' },
    }),
    v.check(
      (texts) => Object.keys(texts).every(isLanguage),
      'must use language tags such as de as keys',
    ),
    v.check(
      (texts) => Object.keys(texts).length <= maxLanguages,
      `must be in at most ${maxLanguages} languages`,
    ),
    v.transform(
      (texts) =>
        Object.fromEntries(
          Object.entries(texts).map(([tag, each]) => [
            Intl.getCanonicalLocales(tag)[0] ?? tag,
            Object.fromEntries(Object.entries(each).filter(([, text]) => text != null)),
          ]),
        ) as TextsByLanguage,
    ),
  ),
  'texts in other languages, by language tag; omitted texts are the defaults of that language',
);

const commonFields = {
  audience: v.optional(Audience),
  ...optionalTexts,
  texts: v.optional(TextsInput),
  questions: v.optional(QuestionsInput),
  reminders: v.optional(RemindersInput),
  ask_after_days: v.optional(AskAfterDays),
  send_window: v.optional(v.nullable(SendWindowInput)),
  repeat: v.optional(v.nullable(RepeatInput)),
  embed: v.optional(EmbedInput),
};

export const LanguageTag = v.pipe(
  v.string('must be text'),
  v.check(isLanguage, 'must be a language tag such as en or pt-BR'),
  v.transform((tag) => Intl.getCanonicalLocales(tag)[0] ?? tag),
);

export const NewSurveyInput = v.object({
  name: Name,
  question_text: QuestionText,
  from_name: Name,
  from_email: described(Address, 'sender address'),
  reply_to: described(v.nullish(Address), 'where replies go; defaults to from_email'),
  type: v.optional(Type, 'nps'),
  language: described(v.optional(LanguageTag, 'en'), 'language of its own texts, as a BCP 47 tag'),
  status: described(v.optional(Status, 'active'), 'a draft cannot be sent or answered'),
  ...commonFields,
});

export const SurveyChangeInput = v.object({
  name: v.optional(Name),
  question_text: v.optional(QuestionText),
  from_name: v.optional(Name),
  from_email: v.optional(Address),
  reply_to: v.optional(Address),
  type: described(v.optional(Type), 'cannot change once there are responses'),
  language: v.optional(LanguageTag),
  status: described(v.optional(Status), 'draft only if nothing was sent or answered'),
  ...commonFields,
});

const item = {
  id: Id,
  name: v.string(),
  question_text: v.string(),
  from_name: v.string(),
  from_email: described(v.string(), 'sender address'),
  status: described(
    v.picklist(['draft', 'active', 'completed']),
    'completed when every contact has responded, or when closed manually',
  ),
  type: v.picklist(surveyTypes),
  audience: described(
    v.nullable(v.literal('employee')),
    'employee for an employee survey, otherwise null',
  ),
  sent_count: described(Count, 'contacts that were sent an email'),
  response_count: Count,
  created_at: Moment,
  updated_at: Moment,
};

export const SurveyItem = v.object(item);

const SurveyStats = v.object({
  total_responses: Count,
  avg_score: described(
    v.nullable(v.number()),
    'mean of the raw scores, two decimals; null without responses',
  ),
  promoters: Count,
  passives: Count,
  detractors: Count,
  nps: NetPromoterScore,
  interval: ScoreInterval,
});

const FollowUp = v.union([v.string(), byCategory(v.string())]);
const Thanks = v.union([
  v.string(),
  byCategory(
    v.object({
      text: v.string(),
      link_url: v.optional(v.string()),
      link_text: v.optional(v.string()),
    }),
  ),
]);

const SurveyTexts = v.object({
  question_text: v.string(),
  subject: v.optional(v.string()),
  intro: v.optional(v.string()),
  follow_up: v.optional(FollowUp),
  thanks: v.optional(Thanks),
});

export const Survey = v.object({
  ...item,
  reply_to: described(v.string(), 'reply address'),
  language: described(v.string(), 'language of its own texts, as a BCP 47 tag'),
  subject: described(v.nullable(v.string()), 'subject of its email; null: the question'),
  intro: described(v.nullable(v.string()), 'text before the question in its email'),
  follow_up: described(v.nullable(FollowUp), 'question above the comment'),
  thanks: described(v.nullable(Thanks), 'text shown after a response'),
  texts: described(v.record(v.string(), SurveyTexts), 'texts in other languages, by language tag'),
  questions: described(v.array(Question), 'follow-up questions in their order, archived ones last'),
  reminders: v.array(v.object({ after_days: Count, subject: v.optional(v.string()) })),
  ask_after_days: v.nullable(Count),
  send_window: v.nullable(
    v.object({
      days: v.array(v.string()),
      from: v.string(),
      to: v.string(),
      time_zone: v.string(),
    }),
  ),
  repeat: v.nullable(
    v.object({
      every_days: Count,
      audience: v.nullable(AudienceItem),
      per_day: v.nullable(Count),
      spread: v.boolean(),
    }),
  ),
  embed: v.object({
    origins: v.array(v.string()),
    position: v.picklist(['inline', 'corner']),
    delay_seconds: Count,
    every_days: Count,
  }),
  share_url: described(v.string(), 'where anyone can answer'),
  stats: SurveyStats,
});

export const DeleteQuery = v.object({
  answers: described(
    v.optional(v.picklist(['delete'], 'must be delete')),
    'also deletes the responses; without it, a survey with responses is not deleted',
  ),
});

export const surveyBodies = {
  NewSurvey: NewSurveyInput,
  SurveyChange: SurveyChangeInput,
  TranslationInput,
  QuestionInput,
  FollowUpInput,
  ThanksInput,
  ReminderInput,
  SendWindowInput,
  RepeatInput,
  EmbedInput,
};

export type SurveyInput = v.InferOutput<typeof NewSurveyInput>;
export type SurveyChange = v.InferOutput<typeof SurveyChangeInput>;

export type Reminder = { after_days: number; subject?: string };

export type SendWindow = v.InferOutput<typeof SendWindowInput>;
export type Repeat = v.InferOutput<typeof RepeatInput>;
export type Embedding = v.InferOutput<typeof EmbedInput>;

export const embeddingOf = (embed: Partial<Embedding>): Embedding => ({
  origins: [],
  ...defaults,
  ...embed,
});

/** Allows plain http for localhost only. */
function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  if (!url || url.origin !== text.replace(/\/$/, '').toLowerCase()) return false;
  if (!plainHost.test(url.hostname)) return false;
  const here = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && here);
}

function isHttps(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.protocol === 'https:' && url.username === '' && url.password === '';
}
