import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import { json } from '../../src/lib/db/db.ts';
import { mailReset } from '../../src/members/mail.ts';
import { mailNotification } from '../../src/notifications/mail.ts';
import { notSavedPage } from '../../src/responses/view/messages.tsx';
import { languageOf } from '../../src/web/language.ts';
import { assertGolden, htmlLines } from '../support/golden.ts';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { joinOrganization, makeMember } from '../support/make/session.ts';
import { arrivedMail } from '../support/make/survey-mail.ts';
import { taskTools } from '../support/make/task-tools.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db);
const org = await makeOrganization(db, { name: 'Larkspur', color: '#2f6fed' });

const details = {
  question_text: 'Would you recommend us, {{first_name|friend}}?',
  follow_up: json(db, { detractor: 'What went wrong?', promoter: 'What do you like?' }),
  thanks: json(db, {
    promoter: {
      text: 'Review us!',
      link_url: 'https://reviews.example/larkspur',
      link_text: 'Review',
    },
  }),
  texts: json(db, { ar: { question_text: 'هل توصي بنا؟' } }),
};

/** The path of a survey's public link. */
async function shareOf(survey: Record<string, unknown>): Promise<string> {
  const share_id = randomBytes(12).toString('base64url');
  await makeSurvey(db, org, { ...survey, share_id });
  return `/f/${share_id}`;
}

async function contactPaths(score?: number) {
  const survey_id = await makeSurvey(db, org, details);
  const token = randomBytes(24).toString('base64url');
  const of = { org_id: org, survey_id };
  const contact_id = await makeContact(db, of, { name: 'Ben Ng', token });
  if (score !== undefined)
    await makeResponse(db, of, { contact_id, score, created_at: '2026-03-05T10:00:00Z' });
  return { answer: `/s/${token}`, leave: `/u/${token}` };
}

const personal = await contactPaths();
const answered = await contactPaths(10);
const nps = await shareOf(details);
const closed = { status: 'completed', completed_by: 'hand', completed_at: new Date() };

type GoldenPage = {
  name: string;
  path: string;
  language?: string;
  form?: Record<string, string>;
};

const pages: GoldenPage[] = [
  { name: 'personal', path: `${personal.answer}?score=9` },
  { name: 'personal-arabic', path: personal.answer, language: 'ar' },
  { name: 'no-score', path: personal.answer, form: { score: '', comment: 'written' } },
  { name: 'answered-now', path: personal.answer, form: { score: '2' }, language: 'de' },
  { name: 'answered-before', path: answered.answer },
  { name: 'thanks-promoter', path: nps, form: { score: '10', comment: 'Fine, <b> & "all"' } },
  { name: 'closed', path: await shareOf(closed), language: 'fr' },
  { name: 'draft', path: await shareOf({ status: 'draft' }) },
  { name: 'unknown', path: '/f/unknownunknown16', language: 'de' },
  { name: 'leave', path: personal.leave },
  { name: 'left', path: personal.leave, form: {} },
];
// Other scales are rows of numbers, as on the personal page.
for (const type of ['csat', 'star5', 'thumbs'])
  pages.push({ name: `form-${type}`, path: await shareOf({ type }) });

for (const { name, path, language = 'en', form } of pages) {
  test(`page ${name} matches its golden file`, async () => {
    const answer = await app.request(`https://askback.test${path}`, {
      method: form ? 'POST' : 'GET',
      headers: { Accept: 'text/html', 'Accept-Language': language },
      ...(form && { body: new URLSearchParams(form) }),
    });
    const html = await answer.text();
    const main = /<main[\s\S]*<\/main>/.exec(html)?.[0] ?? html;
    assertGolden(`pages/${name}`, [`${answer.status}`, ...htmlLines(main)]);
  });
}

test('page not-saved matches its golden file', () => {
  const fields = { score: '7', comment: 'a <b>', topic: 'x' };
  const { html } = notSavedPage(languageOf('en'), { action: '/s/token', fields });
  assertGolden('pages/not-saved', htmlLines(/<main[\s\S]*<\/main>/.exec(html)![0]));
});

type Mail = { subject?: string | undefined; text: string; html: string };

function compareMail(name: string, { subject = '', text, html }: Mail) {
  assertGolden(`mails/${name}`, [
    subject,
    '',
    ...text.trimEnd().split('\n'),
    '',
    ...htmlLines(html),
  ]);
}

const german = {
  survey: {
    intro: 'Hallo,\nschön war es.',
    language: 'de',
    question_text: 'Würden Sie uns empfehlen, {{first_name|du}}?',
  },
  organization: {
    color: '#ffdd00',
    logo: 'abc.png',
    mail_foot: 'Registered in <Bern>',
    postal_address: 'Gasse 1\n3000 Bern',
  },
};

for (const type of ['star5', 'thumbs'] as const) {
  test(`survey mail ${type} matches its golden file`, async () => {
    compareMail(`survey-${type}`, await arrivedMail({ survey: { type } }));
  });
}

test('survey mails with texts, logo and Arabic match their golden files', async () => {
  compareMail('survey-german', await arrivedMail(german));
  compareMail('survey-arabic', await arrivedMail({ survey: { language: 'ar' }, name: null }));
});

const tools = taskTools(db);
const member = await makeMember(db, { email: 'hana@larkspur.example', name: 'Hana' });
await joinOrganization(db, { org, member, role: 'owner' });

async function newestMail(): Promise<Mail> {
  const [row] = await db<{ raw: Buffer }[]>`
    delete from mailbox_messages where rcpt_to = 'hana@larkspur.example' returning raw`;
  assert.ok(row, 'no mail came');
  const { text = '', html = '', subject } = await PostalMime.parse(row.raw);
  return { text, html, subject };
}

test('mails to members match their golden files', async () => {
  await mailReset(tools, { email: 'hana@larkspur.example' });
  compareMail('reset', await newestMail());
  const survey_id = await makeSurvey(db, org, { name: 'Onboarding <3' });
  const subject = await makeResponse(
    db,
    { org_id: org, survey_id },
    {
      score: 2,
      category: 'detractor',
      comment: 'Too <slow>',
      created_at: new Date('2026-05-11T08:00:00Z'),
    },
  );
  await db`insert into notification_choices ${db({ org_id: org, member_id: member, events: ['detractor'] })}`;
  const row = { org_id: org, member_id: member, kind: 'detractor', subject };
  const [notification] = await db<{ id: string }[]>`
    insert into notifications ${db(row)} returning id`;
  await mailNotification(tools, { org_id: org, notification_id: notification!.id });
  compareMail('detractor', await newestMail());
});
