import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  detractorDetected,
  responseReceived,
  summaryGenerated,
  surveyCompleted,
} from '../../src/webhooks/events.ts';

const at = new Date('2026-03-01T12:00:00.123Z');
const timestamp = '2026-03-01T12:00:00.123Z';
const answer = { surveyId: 's', responseId: 'r', surveyType: 'csat', score: 2, at } as const;
const bodyOf = (event: { body: string }) => JSON.parse(event.body);

test('response.received contains the normalized score', () => {
  assert.deepEqual(bodyOf(responseReceived({ ...answer, comment: 'so-so' })), {
    version: '1',
    surveyId: 's',
    responseId: 'r',
    score: 3,
    hasComment: true,
    surveyType: 'csat',
    timestamp,
  });
});

test('detractor.detected contains the raw score and the excerpt', () => {
  assert.deepEqual(bodyOf(detractorDetected({ ...answer, excerpt: null })), {
    version: '1',
    surveyId: 's',
    responseId: 'r',
    score: 2,
    comment: null,
    timestamp,
  });
});

test('survey.completed contains the completion rate', () => {
  const tally = { promoters: 2, passives: 0, detractors: 1 };
  const survey = { surveyId: 's', name: 'Onboarding', contacts: 3, responded: 2, at, ...tally };
  assert.deepEqual(bodyOf(surveyCompleted(survey)), {
    version: '1',
    surveyId: 's',
    name: 'Onboarding',
    responseCount: 3,
    nps: 33,
    completionRate: 66.7,
    timestamp,
  });
});

test('survey.completed has a null nps without responses', () => {
  const tally = { promoters: 0, passives: 0, detractors: 0 };
  const survey = { surveyId: 's', name: 'Onboarding', contacts: 2, responded: 0, at, ...tally };
  const { nps, responseCount, completionRate } = bodyOf(surveyCompleted(survey));
  assert.deepEqual(
    { nps, responseCount, completionRate },
    { nps: null, responseCount: 0, completionRate: 0 },
  );
});

test('summary.generated contains at most five themes', () => {
  const themes = ['a', 'b', 'c', 'd', 'e', 'f'];
  assert.deepEqual(
    bodyOf(summaryGenerated({ reportType: 'executive-summary', nps: null, themes, at })),
    {
      version: '1',
      reportType: 'executive-summary',
      nps: null,
      topThemes: ['a', 'b', 'c', 'd', 'e'],
      timestamp,
    },
  );
});
