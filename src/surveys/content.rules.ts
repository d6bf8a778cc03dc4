import { Refusal } from '../errors.ts';
import type { SurveyContent } from './manage.queries.ts';

/** Refuses what each field allows for itself and all of them together do not. */
export function checkContent({ type, audience, language, texts }: SurveyContent) {
  if (audience !== null && type !== 'nps') {
    throw new Refusal('invalid', 'audience: only an nps survey asks employees');
  }
  if (Object.hasOwn(texts, language)) {
    throw new Refusal(
      'invalid',
      `texts: ${language} is the survey's own language, whose texts are question_text, subject, intro, follow_up and thanks`,
    );
  }
}

const longestCopiedName = 190;

/** What a copy is called; the name fits its limit. */
export const nameOfCopy = (name: string) =>
  `${[...name].slice(0, longestCopiedName).join('')} (copy)`;
