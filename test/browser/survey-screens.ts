import { json } from '../../src/lib/db/db.ts';
import { mergeQuestions } from '../../src/questions/definition.ts';
import { makeResponse, makeSurvey } from '../support/make/rows.ts';
import type { BrowserScene, ScreenEntry } from './scene.ts';

const categories = ['detractor', 'passive', 'promoter'] as const;

const makeQuestions = () =>
  mergeQuestions(
    [],
    [
      { kind: 'text', text: 'What should we improve?' },
      { kind: 'scale', text: 'How was the taste?', min: 0, max: 5, max_label: 'Great' },
      {
        kind: 'choices',
        text: 'What went wrong?',
        categories: ['detractor'],
        options: [{ label: 'Taste' }, { label: 'Price' }],
        allow_other: true,
      },
    ],
    new Set(),
  );

const wishes = [
  'The lid leaks, and nobody answered my two emails.',
  'A smaller bag would be enough for me.',
  'Send a reminder before the coffee runs out.',
  'Show how to grind it for a moka pot.',
  'Nothing. The tasting notes are spot on.',
  'More decaf, please.',
  'Let me skip a delivery on my phone.',
  'Write the roast date on the box.',
];

/** A survey with responses that uses every setting and three languages. */
async function fullSurvey({ db, full }: BrowserScene, over: Record<string, unknown> = {}) {
  const questions = makeQuestions();
  const [improve, taste, wrong] = questions;
  const id = await makeSurvey(db, full.id, {
    name: 'مرحبا Onboarding',
    question_text: 'How likely are you to recommend us, {{first_name|dear reader}}?',
    subject: 'One question, {{name|please}}',
    follow_up: json(db, { detractor: 'What went wrong?' }),
    thanks: json(db, { promoter: { text: 'Say so!', link_url: 'https://reviews.example/a' } }),
    texts: json(db, {
      de: { question_text: 'Wie wahrscheinlich ist es, dass Sie uns empfehlen?' },
      ar: { question_text: 'ما مدى احتمال أن توصي بنا؟' },
    }),
    reminders: json(db, [{ after_days: 3 }]),
    embed: json(db, { origins: ['https://www.example.com'] }),
    questions: json(db, questions),
    ...over,
  });
  for (const [at, score] of [2, 7, 9, 10, 10, 8, 9, 10].entries()) {
    const category = categories[score >= 9 ? 2 : score >= 7 ? 1 : 0];
    const created_at = new Date(Date.now() - at * 86_400_000);
    const response = await makeResponse(
      db,
      { org_id: full.id, survey_id: id },
      { score, category, created_at },
    );
    const answers = {
      [improve!.id]: { text: wishes[at]! },
      [taste!.id]: { value: at % 6 },
      ...(category === 'detractor' && {
        [wrong!.id]: { value: [wrong!.options![1]!.id], other: 'The lid' },
      }),
    };
    await db`
      insert into response_answers (org_id, response_id, answers, sent)
      values (${full.id}, ${response}, ${json(db, answers)}, true)`;
  }
  return { path: `/o/${full.slug}/surveys/${id}`, improve };
}

const below = (path: string) => async (scene: BrowserScene) =>
  `${(await fullSurvey(scene)).path}${path}`;

/** Screens for surveys, their results and their links. */
export const surveyScreens: readonly ScreenEntry[] = [
  {
    name: 'surveys-searched',
    as: 'viewer',
    path: ({ full }) => `/o/${full.slug}/surveys?search=s`,
  },
  {
    name: 'surveys-closed',
    as: 'viewer',
    path: ({ full }) => `/o/${full.slug}/surveys?status=completed`,
  },
  { name: 'surveys', as: 'editor', path: ({ full }) => `/o/${full.slug}/surveys` },
  { name: 'surveys-empty', as: 'editor', path: ({ empty }) => `/o/${empty.slug}/surveys` },
  { name: 'survey-templates', as: 'editor', path: ({ full }) => `/o/${full.slug}/surveys/new` },
  {
    name: 'survey-new',
    as: 'editor',
    path: ({ empty }) => `/o/${empty.slug}/surveys/new?template=nps&language=ar`,
  },
  { name: 'survey', as: 'owner', path: below('') },
  { name: 'survey-viewer', as: 'viewer', path: below('?period=7d') },
  {
    name: 'survey-unanswered',
    as: 'viewer',
    path: async ({ db, empty }) =>
      `/o/${empty.slug}/surveys/${await makeSurvey(db, empty.id, { type: 'csat' })}`,
  },
  {
    name: 'survey-question',
    as: 'viewer',
    async path(scene) {
      const { path, improve } = await fullSurvey(scene);
      return `${path}/questions/${improve!.id}`;
    },
  },
  { name: 'survey-edit', as: 'editor', path: below('/edit') },
  { name: 'survey-share', as: 'editor', path: below('/share') },
  {
    name: 'survey-share-closed',
    as: 'viewer',
    path: async (scene) =>
      `${(await fullSurvey(scene, { status: 'completed', completed_by: 'hand', embed: json(scene.db, { origins: [] }) })).path}/share`,
  },
  { name: 'survey-close', as: 'editor', path: below('/close') },
  { name: 'survey-delete', as: 'owner', path: below('/delete') },
];
