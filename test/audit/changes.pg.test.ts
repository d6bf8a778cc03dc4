import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesOf, commandWriter } from '../../src/audit/acts.ts';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { changeRole, removeMember } from '../../src/members/roles.ts';
import { setSlackHook } from '../../src/notifications/slack.ts';
import { changeOrganization } from '../../src/organizations/manage.ts';
import { changeCannedText, createCannedText } from '../../src/replies/canned-texts.ts';
import { addTheme } from '../../src/summaries/themes.ts';
import { changeSurvey } from '../../src/surveys/lifecycle.ts';
import { changeTag, createTag } from '../../src/tags/tags.ts';
import { changeWebhook, removeWebhook } from '../../src/webhooks/manage.ts';
import { makeOrganization, makeSurvey, makeWebhook } from '../support/make/rows.ts';
import { joinOrganization, makeMember } from '../support/make/session.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();

test('changesOf lists changed fields, masks emails and truncates texts', () => {
  const before = { name: 'A', color: '#fff', people: ['x'], texts: { de: { subject: 'Hallo' } } };
  const change = {
    name: 'A',
    color: undefined,
    people: ['x', 'bo@acme.test'],
    texts: { fr: { subject: 'é'.repeat(300) } },
  };
  assert.deepEqual(changesOf(before, change), {
    people: { from: ['x'], to: ['x', 'b…@acme.test'] },
    'texts.de.subject': { from: 'Hallo', to: null },
    'texts.fr.subject': { from: null, to: `${'é'.repeat(200)}…` },
  });
});

test('an audit entry names its target and lists the changes', async () => {
  const org = await makeOrganization(db, { name: 'Acme' });
  const writer = commandWriter(org);
  const survey = await makeSurvey(db, org, { name: 'Winter', from_email: 'team@acme.test' });
  const webhook = await makeWebhook(db, org, { url: 'https://hooks.acme.test/secret-path' });
  const member = await makeMember(db, { name: 'Bo' });
  for (const [id, role] of [
    [member, 'editor'],
    [await makeMember(db), 'owner'],
  ] as const) {
    await joinOrganization(db, { org, member: id, role });
  }
  const tag = await createTag(db, writer, { name: 'late', color: '#111111' });
  const tools = {
    db,
    secrets: createSecrets([Buffer.alloc(32, 1)]),
    checkTarget: async () => null,
  };

  const change = { name: 'Spring', from_email: 'team@acme.test' };
  await changeSurvey({ db }, writer, { id: survey, change });
  await changeSurvey({ db }, writer, { id: survey, change });
  await changeOrganization(db, writer, { name: 'Acme', contact_email: 'ann@acme.test' });
  await changeTag(db, writer, { id: tag.id, name: 'slow' });
  await changeWebhook(tools, writer, { id: webhook, url: 'https://hooks.acme.test/other' });
  await removeWebhook({ db }, writer, webhook);
  await changeRole(db, writer, { memberId: member, role: 'viewer' });
  await removeMember(db, writer, member);

  const events = await db<{ act: string; details: object }[]>`
    select act, details from audit_events
    where org_id = ${org} and act <> 'tag.created' order by at, id`;
  const expected: [act: string, name: string | undefined, changes: object | undefined][] = [
    ['survey.changed', 'Spring', { name: { from: 'Winter', to: 'Spring' } }],
    ['organization.changed', undefined, { contact_email: { from: null, to: 'a…@acme.test' } }],
    ['tag.changed', 'slow', { name: { from: 'late', to: 'slow' } }],
    [
      'webhook.changed',
      'hooks.acme.test',
      { url: { from: 'hooks.acme.test', to: 'hooks.acme.test' } },
    ],
    ['webhook.deleted', 'hooks.acme.test', undefined],
    ['member.role_changed', 'Bo', { role: { from: 'editor', to: 'viewer' } }],
    ['member.removed', 'Bo', undefined],
  ];
  assert.deepEqual(
    events.map(({ act, details }) => [
      act,
      Reflect.get(details, 'name'),
      Reflect.get(details, 'changes'),
    ]),
    expected,
  );
  const { home, get } = await memberBrowser(db, { org });
  const page = await (await get(`${home}/settings/audit`)).text();
  assert.match(page, /Changed a survey: <bdi>Spring<\/bdi>/);
  assert.match(page, /Name: Winter → Spring/);
  assert.doesNotMatch(page, /secret-path/);
});

test('an audit entry of a theme, canned text or Slack webhook has old values', async () => {
  const org = await makeOrganization(db);
  const writer = commandWriter(org);
  const secrets = createSecrets([Buffer.alloc(32, 1)]);
  const tools = { db, secrets, checkTarget: async () => null };
  const hook = {
    url: 'https://old.test/secret',
    events: ['held' as const],
    digest: 'day' as const,
  };

  await addTheme(db, writer, { name: 'Price', words: ['cheap'] });
  await addTheme(db, writer, { name: 'price', words: ['cheap', 'dear'] });
  const text = await createCannedText(db, writer, { name: 'Sorry', text: 'Sorry!' });
  await changeCannedText(db, writer, { ...text, text: 'Write to bo@acme.test' });
  await setSlackHook(tools, writer, hook);
  await setSlackHook(tools, writer, { ...hook, url: null, digest: 'week' });
  await setSlackHook(tools, writer, { ...hook, url: 'https://new.test/other', digest: 'week' });

  const events = await db<{ details: { changes?: object } }[]>`
    select details from audit_events where org_id = ${org} order by at, id`;
  assert.deepEqual(
    events.map(({ details }) => details.changes),
    [
      { name: { from: null, to: 'Price' }, words: { from: null, to: ['cheap'] } },
      { name: { from: 'Price', to: 'price' }, words: { from: ['cheap'], to: ['cheap', 'dear'] } },
      undefined,
      { text: { from: 'Sorry!', to: 'Write to b…@acme.test' } },
      {
        events: { from: null, to: ['held'] },
        digest: { from: null, to: 'day' },
        host: { from: null, to: 'old.test' },
      },
      { digest: { from: 'day', to: 'week' } },
      { host: { from: 'old.test', to: 'new.test' } },
    ],
  );
});
