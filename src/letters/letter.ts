import type { SurveyType } from '../scores.ts';
import type { MailTexts } from './languages/texts.ts';

/** Everything a survey mail shows. */
export type Letter = {
  texts: MailTexts;
  type: SurveyType;
  /** Of the survey's own words; our texts may lack it. */
  language: string;
  question: string;
  organization: { name: string; color: string };
  scores: number[];
  greeting: string;
  why: string;
  links: {
    answer: string;
    score: (score: number) => string;
    /** Nobody sees this one: who opens it is a machine. */
    trap: string;
    unsubscribe: string;
  };
};

/** The text part. */
export function letterText(letter: Letter): string {
  const { texts, scores, question, greeting, why, links } = letter;
  return [
    greeting,
    '',
    question,
    '',
    ...scores.map((score) => `${meaning(letter, score)}\n${links.score(score)}\n`),
    texts.hint,
    '',
    '-- ',
    why,
    `${texts.unsubscribe}: ${links.unsubscribe}`,
    '',
  ].join('\n');
}

function meaning({ texts, type, scores }: Letter, score: number): string {
  const { lowest, highest } = texts.ends[type];
  const end = score === scores[0] ? lowest : score === scores.at(-1) ? highest : null;
  if (end === null) return String(score);
  return type === 'thumbs' ? end : `${score} (${end})`;
}
