import type { Category } from '../scores.ts';

export type ThanksWords = { text: string; link_url?: string; link_text?: string };
/** The question above the comment: one for all, or by category. */
export type FollowUp = string | Partial<Record<Category, string>>;
export type ThanksText = string | Partial<Record<Category, ThanksWords>>;

/** What a survey says in one language. What is null is said in our own words, or not at all. */
export type SurveyTexts = {
  question_text: string;
  subject: string | null;
  intro: string | null;
  follow_up: FollowUp | null;
  thanks: ThanksText | null;
};

/** The texts in another language than the survey's own, as they are kept. */
export type OtherTexts = Pick<SurveyTexts, 'question_text'> & Partial<SurveyTexts>;
export type TextsByLanguage = Readonly<Record<string, OtherTexts>>;

/** What a mail or a page needs of a survey's texts may be less than all of them. */
export type WordedSurvey = Pick<SurveyTexts, 'question_text'> &
  Partial<SurveyTexts> & { language: string; texts: TextsByLanguage };

/** The survey's texts in one of its languages. */
export function textsIn(survey: WordedSurvey, language: string): SurveyTexts {
  const other = language === survey.language ? undefined : survey.texts[language];
  const { question_text, subject, intro, follow_up, thanks } = other ?? survey;
  return {
    question_text,
    subject: subject ?? null,
    intro: intro ?? null,
    follow_up: follow_up ?? null,
    thanks: thanks ?? null,
  };
}

/** Whether what the survey says depends on more of a contact than its name. */
export const dependsOnProperties = (survey: WordedSurvey): boolean =>
  Object.keys(survey.texts).length > 0 || /\{\{\s*properties\./.test(JSON.stringify(survey));

type ReaderWishes = {
  /** The contact's property `language`, whatever it holds. */
  property?: unknown;
  /** The header Accept-Language. */
  accepted?: string | undefined;
};

/** The language a reader gets: of the contact's property, of the browser, else the survey's own. */
export function languageFor(
  survey: Pick<WordedSurvey, 'language' | 'texts'>,
  { property, accepted }: ReaderWishes,
): string {
  const others = Object.keys(survey.texts);
  if (others.length === 0) return survey.language;
  const offered = [survey.language, ...others];
  const wished = [typeof property === 'string' ? property : '', ...acceptedLanguages(accepted)];
  for (const tag of wished) {
    const found = closest(tag, offered);
    if (found) return found;
  }
  return survey.language;
}

const mostLanguages = 20;

/** The tags of a header Accept-Language, the favourite first. */
export function acceptedLanguages(header = ''): string[] {
  return header
    .split(',', mostLanguages)
    .map((range) => {
      const [, tag = '', quality = '1'] = /^\s*([\w-]+)(?:\s*;\s*q=([\d.]+))?/.exec(range) ?? [];
      return { tag, quality: Number(quality) };
    })
    .filter(({ tag, quality }) => tag !== '' && quality > 0)
    .sort((one, other) => other.quality - one.quality)
    .map(({ tag }) => tag);
}

/** The same tag, else one of the same language: `de-AT` is served by `de`, and `de` by `de-CH`. */
function closest(wished: string, offered: readonly string[]): string | undefined {
  const tag = wished.trim().toLowerCase().replace('_', '-');
  if (tag === '') return undefined;
  const primary = (each: string) => each.toLowerCase().split('-')[0];
  return (
    offered.find((each) => each.toLowerCase() === tag) ??
    offered.find((each) => primary(each) === primary(tag))
  );
}
