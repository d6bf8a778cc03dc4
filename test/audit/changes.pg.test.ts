import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesOf, commandWriter } from '../../src/audit/acts.ts';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { changeRole, removeMember } from '../../src/members/roles.ts';
import { changeOrganization } from '../../src/organizations/manage.ts';
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
  assert.match(page, /changed a survey: <bdi>Spring<\/bdi>/);
  assert.match(page, /name: Winter → Spring/);
  assert.doesNotMatch(page, /secret-path/);
});
