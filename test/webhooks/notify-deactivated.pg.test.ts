import assert from 'node:assert/strict';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import { enqueue } from '../../src/jobs.ts';
import { tasks } from '../../src/tasks.ts';
import { notifyDeactivated } from '../../src/webhooks/manage.ts';
import { offManually } from '../../src/webhooks/rules.ts';
import { makeOrganization, makeWebhook } from '../support/make/rows.ts';
import { taskTools } from '../support/make/task-tools.ts';
import { testDatabase } from '../support/probe/database.ts';
import { workOn } from '../support/probe/jobs.ts';
import { until } from '../support/probe/until.ts';

const { db, url } = await testDatabase();
const off = {
  active: false,
  deactivated_at: new Date('2026-03-04T05:06:07Z'),
  deactivated_reason: '3 deliveries in a row failed (last error: status 503)',
};

const mails = (to: string) => db<{ raw: Buffer }[]>`
  select raw from mailbox_messages where rcpt_to = ${to}`;

test('emails the contact address when a webhook is turned off', async (t) => {
  const org_id = await makeOrganization(db, { name: 'Bäcker', contact_email: 'ops@acme.test' });
  const webhook_id = await makeWebhook(db, org_id, {
    ...off,
    url: 'https://hooks.test/?a=1&b=<2>',
  });
  await workOn(t, { url, tasks: tasks(taskTools(db)) });

  await enqueue(db, [{ task: 'webhooks.notify_deactivated', payload: { org_id, webhook_id } }]);

  await until('the mail is there', async () => (await mails('ops@acme.test')).length === 1);
  const [mail] = await mails('ops@acme.test');
  const { subject, text, html, headers } = await PostalMime.parse(mail!.raw);
  assert.equal(subject, 'A webhook of Bäcker was turned off');
  for (const part of ['https://hooks.test/?a=1&b=<2>', '2026-03-04T05:06:07.000Z', 'status 503']) {
    assert.ok(text?.includes(part), part);
  }
  const [{ slug }] = await db<
    [{ slug: string }]
  >`select slug from organizations where id = ${org_id}`;
  const screen = `https://askback.test/o/${slug}/webhooks/${webhook_id}`;
  assert.ok(text?.includes(`View webhook:\n${screen}\n`));
  assert.ok(html?.includes(`href="${screen}"`));
  assert.ok(!html?.includes('<2>'));
  assert.ok(
    headers.some(({ key, value }) => key === 'auto-submitted' && value === 'auto-generated'),
  );
});

const silent: [why: string, organization: object, webhook: object][] = [
  ['an organization without a contact address', { contact_email: null }, off],
  ['a webhook that was turned on again', { contact_email: 'on@acme.test' }, {}],
  [
    'a webhook that a person then turned off',
    { contact_email: 'off@acme.test' },
    { ...off, deactivated_reason: offManually },
  ],
];
for (const [why, organization, webhook] of silent) {
  test(`${why} gets no email`, async () => {
    const before = (await db`select from mailbox_messages`).length;
    const org_id = await makeOrganization(db, { ...organization });
    const webhook_id = await makeWebhook(db, org_id, { ...webhook });
    await notifyDeactivated(taskTools(db), { org_id, webhook_id });
    assert.equal((await db`select from mailbox_messages`).length, before);
  });
}
