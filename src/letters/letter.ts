import { type SurveyType, scaleOf } from '../scores.ts';
import { type Language, scaleEnds } from '../web/language.ts';

/** Everything a survey mail shows. */
export type Letter = {
  /** Of the mail's own words. */
  language: Language;
  type: SurveyType;
  /** Of the survey's own words; our texts may lack it. */
  questionLanguage: string;
  question: string;
  organization: { name: string; color: string; logo: string | null };
  scores: number[];
  greeting: string;
  /** What the survey says before its question. */
  intro: string | null;
  why: string;
  /** What the organization says under every mail: paragraphs, of lines. */
  foot: string[];
  links: {
    answer: string;
    score: (score: number) => string;
    /** No person sees this one: a reader who opens it is a machine. */
    trap: string;
    unsubscribe: string;
  };
};

/** The text part. */
export function letterText(letter: Letter): string {
  const { language, scores, question, greeting, intro, why, foot, links } = letter;
  const { mail, unsubscribeLink } = language.texts;
  return [
    greeting,
    '',
    ...(intro === null ? [] : [intro, '']),
    question,
    '',
    ...scores.map((score) => `${meaning(letter, score)}\n${links.score(score)}\n`),
    mail.hint,
    '',
    '-- ',
    why,
    `${unsubscribeLink}: ${links.unsubscribe}`,
    ...foot.flatMap((paragraph) => ['', paragraph]),
    '',
  ].join('\n');
}

function meaning({ language, type }: Letter, score: number): string {
  const [scale, ends] = [scaleOf(type), scaleEnds(type, language.texts)];
  const end = score === scale.lowest ? ends.lowest : score === scale.highest ? ends.highest : null;
  if (end === null) return String(score);
  return type === 'thumbs' ? end : `${score} (${end})`;
}
