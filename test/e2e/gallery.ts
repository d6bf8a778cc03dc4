import { type AskedSurvey, type FormProps, formPage } from '../../src/responses/view/form.tsx';
import {
  answeredPage,
  notSavedPage,
  notTakingAnswersPage,
  thanksPage,
} from '../../src/responses/view/messages.tsx';
import { type UnsubscribeProps, unsubscribePage } from '../../src/suppressions/pages.tsx';
import { surveyTypes, typeFacts } from '../../src/survey-types.ts';
import { languageOf } from '../../src/web/language.ts';
import { errorPage, type HtmlPage } from '../../src/web/layout.tsx';
import { followUp } from './follow-up.ts';

const sender = { name: 'Harbour & Pine', color: '#0f766e' };
const arabic: AskedSurvey = {
  type: 'nps',
  question: 'ما مدى احتمال أن توصي بنا صديقًا أو زميلًا؟',
  language: 'ar',
  sender: { name: 'مقهى الياسمين', color: '#b45309' },
};
const comment = 'Everything arrived on time, and the packaging was lovely.\n\nThank you, Maya!';
const answer = { score: 9, comment, at: new Date('2026-03-14T10:00:00Z') };

/** Every page that visitors can see, by the name of its screenshot. */
export const gallery: Record<string, HtmlPage> = {
  ...Object.fromEntries(
    surveyTypes.flatMap((type) => [
      [`form-${type}`, form({ type })],
      [`form-${type}-chosen`, form({ type }, { score: type === 'thumbs' ? 1 : 4 })],
    ]),
  ),
  'form-score-missing': form({}, { complaint: 'scoreMissing', comment }),
  'form-too-long': form(
    {},
    { score: 3, complaint: 'commentTooLong', comment: 'word '.repeat(1100) },
  ),
  'form-too-many': form({}, { score: 3, complaint: 'tooManyAnswers', comment }),
  'form-black': form({ sender: { name: 'Noir', color: '#000000' } }, { score: 7 }),
  'form-white': form({ sender: { name: 'Blanc', color: '#ffffff' } }, { score: 7 }),
  'form-yellow': form({ type: 'ces', sender: { name: 'Sunny', color: '#ffe600' } }, { score: 6 }),
  'form-long-names': form({
    question: `${'Would you say that everything went well? '.repeat(6)}${'Unbreakable'.repeat(12)}`,
    sender: { name: 'Donaudampfschifffahrtsgesellschaft'.repeat(5), color: '#7c3aed' },
  }),
  'form-german': form({ type: 'csat', question: 'Wie zufrieden sind Sie?', language: 'de' }),
  'form-arabic': form(arabic, { score: 9 }),
  'form-arabic-stars': form({ ...arabic, type: 'star5' }, { score: 3 }),
  'form-arabic-faces': form({ ...arabic, type: 'csat' }, { score: 3 }),
  thanks: thanksPage({ ...of({}), answer }),
  'thanks-arabic': thanksPage({ ...of(arabic), answer: { ...answer, comment: null } }),
  answered: answeredPage({ ...of({}), answer }),
  'answered-stars': answeredPage({ ...of({ type: 'star5' }), answer: { ...answer, score: 4 } }),
  'answered-arabic': answeredPage({ ...of(arabic), answer }),
  questions: thanksPage({ ...of({}), answer, questions: followUp('en') }),
  'questions-missing': answeredPage({
    ...of({}),
    answer,
    questions: { ...followUp('en'), complaint: { isNotSaved: true, missing: ['q_3', 'q_4'] } },
  }),
  'questions-answered': answeredPage({
    ...of({}),
    answer,
    questions: followUp('en'),
    isFinal: true,
  }),
  'questions-arabic': thanksPage({ ...of(arabic), answer, questions: followUp('ar') }),
  closed: notTakingAnswersPage('closed', of({})),
  draft: notTakingAnswersPage('draft', of({})),
  'not-found': errorPage('notFound', languageOf('en')),
  'too-large': errorPage('tooLarge', languageOf('en')),
  refused: errorPage('refused', languageOf('en')),
  unavailable: errorPage('unavailable', languageOf('en')),
  broken: errorPage('broken', languageOf('ar')),
  'not-saved': notSavedPage(languageOf('en'), { action: '', fields: { score: '9', comment } }),
  'too-many-requests': errorPage('tooManyRequests', languageOf('de')),
  unsubscribe: unsubscribe({ state: 'ask' }),
  unsubscribed: unsubscribe({ state: 'unsubscribed' }),
  resubscribed: unsubscribe({ state: 'resubscribed' }),
};

function of(over: Partial<AskedSurvey>) {
  const type = over.type ?? 'nps';
  const question = typeFacts(type).question(sender.name);
  const survey: AskedSurvey = { type, question, language: 'en', sender, ...over };
  return { survey, language: languageOf(survey.language) };
}

function form(survey: Partial<AskedSurvey>, over: Partial<FormProps> = {}): HtmlPage {
  const address = { action: '', trapUrl: '/trap', unsubscribeUrl: '/unsubscribe' };
  return formPage({ ...of(survey), ...address, ...over });
}

function unsubscribe(over: Partial<UnsubscribeProps>): HtmlPage {
  const language = languageOf('en');
  const email = 'maya@people.test';
  return unsubscribePage({ state: 'ask', language, sender, email, action: '', ...over });
}
