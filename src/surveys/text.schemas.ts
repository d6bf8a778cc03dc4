import * as v from 'valibot';
import { described } from '../lib/paging/schemas.ts';
import { isLanguage } from '../lib/validation/language.ts';
import { isPlainLine } from '../lib/validation/plain-line.ts';
import { isLongerThan, longestName, longestQuestion } from '../limits.ts';
import { categories } from '../scores.ts';
import { complainOfPlaceholders } from './placeholders.ts';

const longestIntro = 2000;
const longestFollowUp = 300;
const longestThanks = 1000;
const longestUrl = 2000;
const longestLinkText = 80;
const mostLanguages = 30;

/** Text of one line; it may stand in the header of a mail. */
export const LineOfText = (longest: number) =>
  v.pipe(
    v.string('must be text'),
    v.trim(),
    v.nonEmpty('must not be empty'),
    v.check((text) => !isLongerThan(text, longest), `must be at most ${longest} characters`),
    v.check(isPlainLine, 'must be one line without control characters'),
    v.metadata({ maxLength: longest }),
  );

/** Text of several lines. */
const Paragraph = (longest: number) =>
  v.pipe(
    v.string('must be text'),
    v.trim(),
    v.nonEmpty('must not be empty'),
    v.check((text) => !isLongerThan(text, longest), `must be at most ${longest} characters`),
    v.check(
      (text) => text.split(/\r\n|\r|\n/).every((line) => isPlainLine(line.replaceAll('\t', ' '))),
      'must be text without control characters',
    ),
    v.metadata({ maxLength: longest }),
  );

/** The same with placeholders. */
const Filled = <const S extends v.GenericSchema<string, string>>(schema: S) =>
  v.pipe(
    schema,
    v.rawCheck(({ dataset, addIssue }) => {
      const message = dataset.typed ? complainOfPlaceholders(dataset.value) : undefined;
      if (message) addIssue({ message });
    }),
  );

export const QuestionText = Filled(Paragraph(longestQuestion));
export const SubjectText = Filled(LineOfText(longestName));
const IntroText = Filled(Paragraph(longestIntro));
const FollowUpText = Filled(LineOfText(longestFollowUp));

const namesOne = (byCategory: object) => categories.some((category) => category in byCategory);
const byCategory = `must name one of ${categories.join(', ')}`;

const FollowUpInput = described(
  v.union(
    [
      FollowUpText,
      v.pipe(
        v.object({
          promoter: v.optional(FollowUpText),
          passive: v.optional(FollowUpText),
          detractor: v.optional(FollowUpText),
        }),
        v.check(namesOne, byCategory),
      ),
    ],
    'must be text, or an object of texts by category',
  ),
  'the question above the comment: one for all, or by category',
);

const HttpsUrl = v.pipe(
  v.string('must be text'),
  v.trim(),
  v.maxLength(longestUrl, `must be at most ${longestUrl} characters`),
  v.check(isHttps, 'must be an https address'),
  v.metadata({ format: 'uri' }),
);

const ThanksWordsInput = v.object({
  text: Filled(Paragraph(longestThanks)),
  link_url: v.optional(HttpsUrl),
  link_text: v.optional(LineOfText(longestLinkText)),
});

const ThanksInput = described(
  v.union(
    [
      Filled(Paragraph(longestThanks)),
      v.pipe(
        v.object({
          promoter: v.optional(ThanksWordsInput),
          passive: v.optional(ThanksWordsInput),
          detractor: v.optional(ThanksWordsInput),
        }),
        v.check(namesOne, byCategory),
      ),
    ],
    'must be text, or an object by category of text, link_url and link_text',
  ),
  'what the page says after an answer: one text for all, or by category with a link',
);

/** The texts of a survey that may be left out: then its page and mail say something of their own, or nothing. */
export const optionalTexts = {
  subject: described(v.nullish(SubjectText), 'the subject of its mail; null: the question'),
  intro: described(v.nullish(IntroText), 'what its mail says before the question'),
  follow_up: v.nullish(FollowUpInput),
  thanks: v.nullish(ThanksInput),
};

export const LanguageTag = v.pipe(
  v.string('must be text'),
  v.check(isLanguage, 'must be a language tag such as en or pt-BR'),
  v.transform((tag) => Intl.getCanonicalLocales(tag)[0] ?? tag),
);

/** The texts in other languages than the survey's own. */
export const TextsInput = described(
  v.pipe(
    v.record(v.string(), v.object({ question_text: QuestionText, ...optionalTexts })),
    v.check((texts) => Object.keys(texts).every(isLanguage), 'must be by language tags such as de'),
    v.check(
      (texts) => Object.keys(texts).length <= mostLanguages,
      `must be in at most ${mostLanguages} languages`,
    ),
    v.transform((texts) =>
      Object.fromEntries(
        Object.entries(texts).map(([tag, each]) => [
          Intl.getCanonicalLocales(tag)[0] ?? tag,
          Object.fromEntries(Object.entries(each).filter(([, text]) => text != null)),
        ]),
      ),
    ),
  ),
  'its texts in other languages, by language tag; what one leaves out is said in our own words',
);

function isHttps(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.protocol === 'https:' && url.username === '' && url.password === '';
}
