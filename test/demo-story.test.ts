import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeStory, surveys } from '../src/demo/story.ts';
import { averageScore } from '../src/survey-types.ts';

const now = new Date('2026-05-01T12:00:00Z');

/** The story is the same every time: what its figures are now they stay, so that pictures and guides agree with it. */
const figures: Record<string, string> = {
  'Customer loyalty':
    '150 contacts, 148 mailed, 104 answers (15 anonymous, 59 with words): 69/18/17, mean 8.21',
  'Working here':
    '45 contacts, 45 mailed, 35 answers (5 anonymous, 23 with words): 22/8/5, mean 8.14',
  'After a support case':
    '90 contacts, 89 mailed, 61 answers (9 anonymous, 40 with words): 41/16/4, mean 3.9',
  'Changing a plan':
    '90 contacts, 89 mailed, 57 answers (9 anonymous, 33 with words): 33/17/7, mean 5.42',
  Delivery: '90 contacts, 88 mailed, 58 answers (9 anonymous, 33 with words): 25/25/8, mean 3.31',
  'Help article':
    '90 contacts, 89 mailed, 55 answers (9 anonymous, 33 with words): 50/0/5, mean 0.91',
};

for (const survey of surveys) {
  test(`the demo has the same story of "${survey.name}" every time`, () => {
    const { contacts, anonymous } = makeStory(survey, now);
    const answers = [...contacts.flatMap(({ answer }) => answer ?? []), ...anonymous];
    const of = (category: string) => answers.filter((each) => each.category === category).length;
    const mailed = contacts.filter(({ sent_at }) => sent_at !== null).length;
    const words = answers.filter(({ comment }) => comment !== null).length;
    const sum = answers.reduce((total, { score }) => total + score, 0);
    assert.equal(
      `${contacts.length} contacts, ${mailed} mailed, ${answers.length} answers (${anonymous.length} anonymous, ${words} with words): ${of('promoter')}/${of('passive')}/${of('detractor')}, mean ${averageScore(sum, answers.length)}`,
      figures[survey.name],
    );
  });
}

test('a contact of the story has a name, an address, properties, a mail and an answer', () => {
  const { contacts, anonymous } = makeStory(surveys[0]!, now);
  assert.deepEqual(contacts[40], {
    name: 'Priya Bianchi',
    email: 'priya.bianchi.41@example.com',
    properties: { plan: 'team', country: 'DE' },
    created_at: new Date('2026-01-11T11:12:13.734Z'),
    sent_at: new Date('2026-01-11T23:12:13.734Z'),
    answer: {
      score: 10,
      category: 'promoter',
      comment: null,
      created_at: new Date('2026-01-14T11:45:31.034Z'),
    },
  });
  assert.deepEqual(anonymous[0], {
    score: 10,
    category: 'promoter',
    comment: 'Support answered within ten minutes and actually solved it.',
    created_at: new Date('2025-11-26T05:01:48.660Z'),
  });
});
