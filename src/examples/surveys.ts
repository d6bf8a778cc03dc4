import type { Example } from '../lib/openapi/openapi.ts';
import { answeredAt, page, shareId, surveyId, tally } from './feedback.ts';

const item = {
  id: surveyId,
  name: 'Spring',
  question_text: 'How likely are you to recommend Acme?',
  from_name: 'Ann at Acme',
  from_email: 'ann@acme.example',
  status: 'active',
  type: 'nps',
  audience: null,
  sent_count: 96,
  response_count: 40,
  created_at: '2026-04-01T08:00:00.000Z',
  updated_at: answeredAt,
};

const content = {
  reply_to: 'feedback@acme.example',
  language: 'en',
  subject: 'One question, {{first_name|please}}',
  intro: 'You have been on our {{properties.plan|free}} plan for a while now.',
  follow_up: {
    promoter: 'What do you like best?',
    detractor: 'What should we do better?',
  },
  thanks: {
    promoter: {
      text: 'Would you say so in public, too?',
      link_url: 'https://reviews.example/acme',
      link_text: 'Write a review',
    },
  },
  texts: { de: { question_text: 'Wie wahrscheinlich ist es, dass Sie Acme empfehlen?' } },
  reminders: [{ after_days: 3 }],
  ask_after_days: null,
  send_window: {
    days: ['mon', 'tue', 'wed', 'thu', 'fri'],
    from: '09:00',
    to: '17:00',
    time_zone: 'Europe/Berlin',
  },
  embed: {
    origins: ['https://www.acme.example'],
    position: 'corner',
    delay_seconds: 5,
    every_days: 30,
  },
};

const survey = {
  ...item,
  ...content,
  share_url: `https://feedback.acme.example/f/${shareId}`,
  stats: { total_responses: 40, avg_score: 7.9, ...tally },
};

const unanswered = {
  ...survey,
  sent_count: 0,
  response_count: 0,
  updated_at: item.created_at,
  stats: {
    total_responses: 0,
    avg_score: null,
    promoters: 0,
    passives: 0,
    detractors: 0,
    nps: null,
  },
};

const path = { id: surveyId };
const { name, question_text, from_name, from_email } = item;

/** Surveys, by the id of the operation. */
export const surveyExamples: Readonly<Record<string, Example>> = {
  listSurveys: { answer: { data: [item], meta: page } },
  getSurvey: { path, answer: { data: survey } },
  createSurvey: {
    body: { name, question_text, from_name, from_email, ...content },
    answer: { data: unanswered },
  },
  changeSurvey: {
    path,
    body: { reminders: [{ after_days: 3 }, { after_days: 10 }] },
    answer: { data: { ...survey, reminders: [{ after_days: 3 }, { after_days: 10 }] } },
  },
  deleteSurvey: { path },
  openSurvey: { path, answer: { data: unanswered } },
  closeSurvey: { path, answer: { data: { ...survey, status: 'completed' } } },
  reopenSurvey: { path, answer: { data: survey } },
  copySurvey: {
    path,
    answer: {
      data: {
        ...unanswered,
        id: '6d1f0b7e-2c3a-4e5d-8f90-a1b2c3d4e5f6',
        name: 'Spring (copy)',
        status: 'draft',
        share_url: 'https://feedback.acme.example/f/Zk3mWq8vLx0TbN5c',
        created_at: answeredAt,
        updated_at: answeredAt,
      },
    },
  },
};
