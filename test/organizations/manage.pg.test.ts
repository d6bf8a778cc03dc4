import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { changeOrganization, type OrganizationChange } from '../../src/organizations/manage.ts';
import { getOrganization } from '../../src/organizations/queries.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();

async function organization() {
  const orgId = await makeOrganization(db);
  const change = (given: OrganizationChange) => changeOrganization(db, commandWriter(orgId), given);
  return { orgId, change };
}

test('a former slug redirects and can be used again', async () => {
  const { orgId, change } = await organization();
  const [first, second] = [`first-${orgId}`, `second-${orgId}`];
  await change({ slug: first });
  await change({ slug: second });
  const { get } = await memberBrowser(db, { app: bareApp(db), org: orgId });
  const led = await get(`/o/${first}/settings/api-keys?page=2`);
  assert.deepEqual(
    [led.status, led.headers.get('Location')],
    [303, `/o/${second}/settings/api-keys?page=2`],
  );
  await change({ slug: first });
  assert.equal((await get(`/o/${first}/settings/api-keys`)).status, 200);
  assert.equal((await get(`/o/${second}/settings/api-keys`)).status, 303);
});

test('a current or former slug of another organization is refused', async () => {
  const [mine, theirs] = [await organization(), await organization()];
  const [now, before] = [`now-${theirs.orgId}`, `before-${theirs.orgId}`];
  await theirs.change({ slug: before });
  await theirs.change({ slug: now });
  for (const slug of [now, before]) {
    await assert.rejects(mine.change({ slug, name: 'Renamed' }), { code: 'slug_taken' });
  }
  assert.equal((await getOrganization(db, mine.orgId)).name, 'Acme');
});

test('only one of two concurrent organizations gets a slug', async () => {
  const both = [await organization(), await organization()];
  const slug = `wanted-${both[0]!.orgId}`;
  const outcomes = await Promise.allSettled(both.map(({ change }) => change({ slug })));
  const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  assert.deepEqual(
    refused.map(({ code }) => code),
    ['slug_taken'],
  );
});

test('the form rejects a time zone that Postgres does not know', async () => {
  const { orgId, change } = await organization();
  await assert.rejects(change({ time_zone: '+02:00' }), { code: 'unknown_time_zone' });
  assert.equal((await getOrganization(db, orgId)).time_zone, 'UTC');
  await change({ time_zone: 'europe/berlin' });

  const { home, post } = await memberBrowser(db, { app: bareApp(db), org: orgId });
  const { name, slug, color } = await getOrganization(db, orgId);
  const form = { name, slug, color, language: 'en', time_zone: '+02:00' };
  const answer = await post(`${home}/settings/general`, form);
  assert.equal(answer.status, 422);
  assert.match(await answer.text(), /id="time_zone-error"><i [^>]*><\/i>Postgres does not know/);
});
