import assert from 'node:assert/strict';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import { mailInvitation, mailReset } from '../../src/members/mail-links.ts';
import { mailNotification } from '../../src/notifications/mail.ts';
import { surveyTypes } from '../../src/scores.ts';
import { arrivedMail } from '../support/make/survey-mail.ts';
import { taskTools } from '../support/make/task-tools.ts';
import { htmlLines } from '../support/walls/html-lines.ts';
import { keptScreens } from '../support/walls/kept-screens.ts';
import { id, withNames } from './scene/names.ts';
import { cookieOf, full } from './scene/organizations.ts';
import { makeStillScene } from './scene/scene.ts';

const { db, app, secrets } = await makeStillScene({ mailbox: true });
const tools = { ...taskTools(db), secrets };
const kept = keptScreens('mails');

type Mail = {
  subject?: string | undefined;
  text: string;
  html: string;
  headers: { key: string; value: string }[];
};

function compare(name: string, { subject = '', text, html, headers }: Mail) {
  const head = headers.map(({ key, value }) => `${key}: ${value}`);
  const lines = [...head, '', subject, '', ...text.trimEnd().split('\n'), '', ...htmlLines(html)];
  kept.compare(
    `${name}.txt`,
    lines
      .map((line) => line.trimEnd())
      .map(stable)
      .map(withNames),
  );
}

/** Without boundaries and links that are drawn by lot. */
const stable = (line: string) =>
  line
    .replace(/boundary="[^"]*"/, 'boundary="LOT"')
    .replace(/\/(reset|invitations|stop)\/[\w-]+/g, '/$1/LOT')
    .replace(/<style>[\s\S]*?<\/style>/g, '<style></style>');

const own = {
  ...{ subject: null, intro: 'Hello,\nit was good to see you.', language: 'de' },
  question_text: 'Würden Sie uns empfehlen, {{first_name|du}}?',
};
const organization = {
  ...{ color: '#ffdd00', logo: 'abc.png', mail_foot: 'Registered in <Bern>' },
  postal_address: 'Gasse 1\n3000 Bern',
};
const surveyMails = [
  ...surveyTypes.map((type) => ({ name: type, own: { survey: { type } } })),
  { name: 'employees', own: { survey: { audience: 'employee' as const } } },
  { name: 'with-all-in-german', own: { survey: own, organization } },
  { name: 'in-arabic', own: { survey: { language: 'ar', type: 'ces' as const }, name: null } },
];

for (const { name, own } of surveyMails) {
  test(`the survey mail ${name} is as it is kept`, async () => {
    compare(`survey-${name}`, await arrivedMail(own));
  });
}

async function newestMail(to: string): Promise<Mail> {
  const [row] = await db<{ raw: Buffer }[]>`
    delete from mailbox_messages where rcpt_to = ${to} returning raw`;
  assert.ok(row, `no mail came to ${to}`);
  const { text = '', html = '', subject, headers } = await PostalMime.parse(row.raw);
  return { text, html, subject, headers };
}

test('the mails with links for members are as they are kept', async () => {
  await db`delete from mailbox_messages`;
  const invited = { ...cookieOf('owner'), Accept: 'text/html' };
  for (const role of ['viewer', 'editor', 'owner']) {
    const email = `${role}@new.example`;
    await app.request(`https://askback.test/o/${full.slug}/settings/members`, {
      method: 'POST',
      headers: invited,
      body: new URLSearchParams({ email, role }),
    });
    await mailInvitation(tools, await jobOf('members.mail_invitation'));
    compare(`invitation-${role}`, await newestMail(email));
  }
  await app.request('https://askback.test/operator/operators', {
    method: 'POST',
    headers: { ...cookieOf('operator'), Accept: 'text/html' },
    body: new URLSearchParams({ email: 'op@new.example' }),
  });
  await mailInvitation(tools, await jobOf('members.mail_invitation'));
  compare('invitation-operator', await newestMail('op@new.example'));
  await mailReset(tools, { email: 'hana@larkspur.example' });
  compare('reset', await newestMail('hana@larkspur.example'));
});

async function jobOf<P>(task: string): Promise<P> {
  const [job] = await db<
    { payload: P }[]
  >`delete from outbox where task = ${task} returning payload`;
  assert.ok(job, `there is no job ${task}`);
  return job.payload;
}

const notified = [
  ...[{ kind: 'detractor', subject: id('response-late') }],
  ...[{ kind: 'held', subject: id('response-held') }],
  ...[{ kind: 'assigned', subject: id('response-owned') }],
  ...[{ kind: 'webhook_off', subject: id('webhook-off') }],
  ...[{ kind: 'limit_near', subject: '2026-05-01' }],
  ...[{ kind: 'limit_reached', subject: '2026-05-01' }],
  ...[{ kind: 'campaign_finished', subject: id('campaign-finished') }],
  ...[
    { kind: 'digest', subject: 'week 2026-05-11' },
    { kind: 'digest', subject: 'day 2026-05-19' },
  ],
];

await db`
  update notification_choices
  set events = ${notified.map(({ kind }) => kind)}
  where member_id = ${id('member-owner')}`;

for (const { kind, subject } of notified) {
  const name = kind === 'digest' ? `digest-${subject.split(' ')[0]}` : kind;
  test(`the notification ${name} is as it is kept`, async () => {
    await db`delete from mailbox_messages`;
    const notification_id = id(`notification-${name}`);
    const member_id = id('member-owner');
    await db`insert into notifications ${db({ id: notification_id, org_id: full.id, member_id, kind, subject })}`;
    await mailNotification(tools, { org_id: full.id, notification_id });
    compare(`notification-${name}`, await newestMail('hana@larkspur.example'));
  });
}

test('every mail that is kept is one of these', () => {
  assert.deepEqual(kept.left(), []);
});
