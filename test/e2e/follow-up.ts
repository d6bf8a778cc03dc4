import type { Question } from '../../src/questions/definition.ts';
import type { QuestionsProps } from '../../src/questions/view.tsx';
import { languageOf } from '../../src/web/language.ts';

const blank = {
  required: false,
  categories: null,
  min: null,
  max: null,
  min_label: null,
  max_label: null,
  options: null,
  allow_other: false,
  texts: {},
  archived: false,
};
const options = [
  { id: 'o_1', label: 'The taste of the coffee' },
  { id: 'o_2', label: 'The price' },
  { id: 'o_3', label: 'Donaudampfschifffahrtsgesellschaftskaffee' },
];

/** One question of each kind. */
const questions: Question[] = [
  { ...blank, id: 'q_1', kind: 'choices', text: 'What went wrong?', options, allow_other: true },
  { ...blank, id: 'q_2', kind: 'choice', text: 'Where from?', options, allow_other: true },
  {
    ...blank,
    ...{ id: 'q_3', kind: 'scale', text: 'How was the taste?', min: 0, max: 10 },
    ...{ min_label: 'Terrible', max_label: 'Wonderful', required: true },
  },
  { ...blank, id: 'q_4', kind: 'text', text: 'What can we improve?', required: true },
];

/** The questions as a page shows them, with some answers. */
export const followUp = (language: string): QuestionsProps => ({
  questions,
  answers: {
    q_1: { value: ['o_1'], other: 'The lid' },
    q_2: { other: 'A friend' },
    q_3: { value: 7 },
    q_4: { text: 'Darker roasts.\nLarger bags.' },
  },
  language,
  texts: languageOf(language).texts,
  action: '/s/x/answers',
  finish: '/s/x?finish',
});
