import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getOrganization } from '../../src/organizations/queries.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const app = bareApp(db);

const png = Buffer.concat([
  Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x40\0\0\0\x20\x08\x06\0\0\0', 'latin1'),
  Buffer.alloc(30),
]);
const fileOf = (bytes: Uint8Array, name = 'logo.png') => new File([new Uint8Array(bytes)], name);

async function owner() {
  const orgId = await makeOrganization(db);
  const browser = await memberBrowser(db, { app, org: orgId });
  const { slug } = await getOrganization(db, orgId);
  const asItIs = { name: 'Acme', slug, color: '#2f6fed', language: 'en', time_zone: 'UTC' };
  const events = async () =>
    (
      await db<{ act: string }[]>`
        select act from audit_events where org_id = ${orgId} order by at, id`
    ).map(({ act }) => act);
  return { orgId, ...browser, asItIs, events, general: `${browser.home}/settings/general` };
}

test('the list of time zones contains the stored one', async () => {
  const { orgId, general, get } = await owner();
  await db`update organizations set time_zone = 'europe/oslo' where id = ${orgId}`;
  const page = await (await get(general)).text();
  assert.match(page, /<option selected(="")?>europe\/oslo<\/option>/);
  assert.match(page, /<option>Europe\/Berlin<\/option>/);
});

test('a color in another case changes nothing', async () => {
  const { orgId, asItIs, general, post, events } = await owner();
  await post(general, { ...asItIs, color: '#00FF00' });
  assert.equal((await getOrganization(db, orgId)).color, '#00ff00');
  const before = await events();
  await post(general, { ...asItIs, color: '#00Ff00' });
  assert.deepEqual(await events(), before);
});

test('the General form stores every setting', async () => {
  const { orgId, asItIs, general, post } = await owner();
  const answer = await post(general, {
    ...asItIs,
    name: 'Nord',
    slug: `nord-${orgId}`,
    color: '#00ff00',
    language: 'de',
    time_zone: 'Europe/Oslo',
    contact_email: 'a@nord.test',
    frequency_days: '30',
    people: 'Ann Lee\r\n\r\nBo',
    ai_enabled: 'on',
    keep_comments_days: '365',
    keep_contacts_days: '730',
    keep_openings_days: '90',
    keep_mails_days: '0',
  });
  assert.deepEqual(
    [answer.status, answer.headers.get('Location')],
    [303, `/o/nord-${orgId}/settings/general`],
  );
  assert.partialDeepStrictEqual(await getOrganization(db, orgId), {
    name: 'Nord',
    slug: `nord-${orgId}`,
    logo: null,
    language: 'de',
    time_zone: 'Europe/Oslo',
    frequency_days: 30,
    people: ['Ann Lee', 'Bo'],
    ai_enabled: true,
    keep_comments_days: 365,
    keep_openings_days: 90,
    keep_mails_days: null,
  });
});

for (const [field, value] of [
  ['name', ''],
  ['slug', 'Not A Slug!'],
  ['color', 'red'],
  ['contact_email', 'nobody'],
  ['time_zone', 'Mars/Olympus'],
  ['frequency_days', '9999'],
  ['keep_comments_days', '-1'],
  ['keep_openings_days', '91'],
  ['people', 'x'.repeat(201)],
] as const) {
  test(`the General form rejects ${field} ${value.slice(0, 20)} at its field`, async () => {
    const { orgId, asItIs, general, post } = await owner();
    const answer = await post(general, { ...asItIs, name: 'Changed', [field]: value });
    const html = await answer.text();
    assert.equal(answer.status, 422);
    assert.match(html, new RegExp(`id="${field}-error"`));
    if (field !== 'name') assert.match(html, /value="Changed"/);
    assert.equal((await getOrganization(db, orgId)).name, 'Acme');
  });
}

test('Texts stores the postal address and footer, and rejects long ones', async () => {
  const { orgId, home, post } = await owner();
  const texts = `${home}/settings/texts`;
  await post(texts, { postal_address: '1 Quay\r\nOslo', mail_foot: 'You bought from us.' });
  assert.partialDeepStrictEqual(await getOrganization(db, orgId), {
    postal_address: '1 Quay\nOslo',
    mail_foot: 'You bought from us.',
    language: 'en',
  });
  const long = await post(texts, { postal_address: 'x'.repeat(501), mail_foot: '' });
  assert.equal(long.status, 422);
  assert.match(await long.text(), /id="postal_address-error"/);
});

test('the overview shows the current value of each setting', async () => {
  const { orgId, home, get } = await owner();
  await db`
    update organizations
    set frequency_days = 90, keep_comments_days = 30, ai_enabled = true, time_zone = 'Europe/Oslo'
    where id = ${orgId}`;
  await db`insert into mail_usage (org_id, month, used)
    values (${orgId}, date_trunc('month', now() at time zone 'UTC')::date, 40)`;
  const page = await (await get(`${home}/settings/overview`)).text();
  for (const shown of [
    'Acme, Europe/Oslo',
    'At most one survey every 90 days',
    'Keeps comments 30 days',
    'No postal address',
    /40 of [\d,]+ emails in /,
    /<b>Members<\/b><small>1 member</,
    /<b>API Keys<\/b><small>0 active/,
  ]) {
    if (typeof shown === 'string') assert.ok(page.includes(shown), shown);
    else assert.match(page, shown);
  }
  const viewer = await memberBrowser(db, { app, org: orgId, role: 'viewer' });
  const theirs = await (await viewer.get(`${viewer.home}/settings/overview`)).text();
  assert.match(theirs, /At most one survey/);
  assert.doesNotMatch(theirs, /settings\/(members|mail|api-keys|audit|texts)/);
});

test('a logo is cached, and its old URL serves the new one', async () => {
  const { orgId, asItIs, general, post, get, events } = await owner();
  const logo = () => getOrganization(db, orgId).then((row) => row.logo);
  await post(general, { ...asItIs, logo: fileOf(png) });
  const first = `/logos/${orgId}/${await logo()}`;
  assert.match(first, /\/[\w-]+\.png$/);
  assert.match(await (await get(general)).text(), new RegExp(`src="${first}"`));

  const served = await app.request(first);
  assert.equal(served.headers.get('Content-Type'), 'image/png');
  assert.equal(served.headers.get('Cache-Control'), 'public, max-age=31536000, immutable');
  assert.match(served.headers.get('Content-Security-Policy')!, /sandbox/);
  assert.deepEqual(Buffer.from(await served.arrayBuffer()), png);

  await post(general, { ...asItIs, logo: fileOf(Buffer.concat([png, png])) });
  const old = await app.request(first);
  assert.equal(old.headers.get('Cache-Control'), 'public, max-age=300');
  assert.equal((await old.arrayBuffer()).byteLength, 2 * png.length);

  await post(general, { ...asItIs, remove_logo: 'on' });
  assert.equal(await logo(), null);
  assert.equal((await app.request(first)).status, 404);
  assert.deepEqual(await events(), ['logo.changed', 'logo.changed', 'logo.removed']);
});

test('survey pages show the logo and their policy allows it', async () => {
  const { orgId, asItIs, general, post } = await owner();
  const share_id = orgId.replaceAll('-', '');
  await makeSurvey(db, orgId, { share_id });
  const page = async () => await app.request(`/f/${share_id}`);
  assert.doesNotMatch((await page()).headers.get('Content-Security-Policy')!, /img-src 'self'/);
  await post(general, { ...asItIs, logo: fileOf(png) });
  const shown = await page();
  assert.match(shown.headers.get('Content-Security-Policy')!, /img-src 'self' data:/);
  assert.match(await shown.text(), new RegExp(`<img class="logo" src="/logos/${orgId}/`));
});

test('the audit filter includes whole days', async () => {
  const { orgId, home, get } = await owner();
  for (const [name, at] of [
    ['before', '2026-03-04T23:59:59.999999Z'],
    ['first', '2026-03-05T00:00:00Z'],
    ['last', '2026-03-05T23:59:59.999999Z'],
    ['after', '2026-03-06T00:00:00Z'],
  ]) {
    await db`
      insert into audit_events (org_id, act, actor_kind, actor, at)
      values (${orgId}, 'tag.created', 'key', ${name!}, ${at!}::text::timestamptz)`;
  }
  const named = async (days: string) => {
    const page = await (await get(`${home}/settings/audit?${days}`)).text();
    return ['before', 'first', 'last', 'after'].filter((name) => page.includes(`>${name}<`));
  };
  assert.deepEqual(await named('date_from=2026-03-05&date_to=2026-03-05'), ['first', 'last']);
  assert.deepEqual(await named('date_from=2026-03-05'), ['first', 'last', 'after']);
  assert.deepEqual(await named('date_to=2026-03-05'), ['before', 'first', 'last']);
});

test('the audit log has the same filters on screen and in exports', async () => {
  const { orgId, home, get } = await owner();
  await db`
    insert into audit_events (org_id, act, actor_kind, actor, details, at)
    select ${orgId}, 'tag.created', 'key', 'k' || n, jsonb_build_object('name', 'tag ' || n),
           now() - make_interval(mins => n)
    from generate_series(1, 60) n`;
  await db`
    insert into audit_events (org_id, act, actor_kind, actor)
    values (${orgId}, 'webhook.switched_off', 'job', 'webhooks.deliver')`;
  const audit = `${home}/settings/audit`;
  const text = async (query: string) => (await get(`${audit}${query}`)).text();
  assert.match(await text(''), /1 to 50 of 61/);
  assert.match(await text('?page=2'), /51 to 61 of 61/);
  const jobs = await text('?actor=job&act=&date_from=&date_to=');
  assert.doesNotMatch(jobs, /1 to 1 of 1/);
  assert.match(jobs, /Turned off a webhook/);
  assert.match(jobs, /<bdi title="webhooks.deliver">Deliveries<\/bdi>/);
  for (const none of ['yesterday', '0000-01-01', '9999-12-31', '2024-02-30']) {
    assert.equal((await get(`${audit}?date_from=${none}`)).status, 400);
    assert.equal((await get(`${audit}?date_to=${none}`)).status, 400);
  }
  const reversed = await text('?date_from=2027-02-01&date_to=2027-01-31');
  assert.match(reversed, /id="[^"]*date_to-error"><i [^>]*><\/i>Must not be before From/);
  const exported = await text('/export?actor=job');
  assert.equal(exported.split('\r\n').length, 3);
});

test('a viewer sees General without its form, and no audit log', async () => {
  const orgId = await makeOrganization(db);
  const { home, get, post } = await memberBrowser(db, { app, org: orgId, role: 'viewer' });
  const html = await (await get(`${home}/settings/general`)).text();
  assert.doesNotMatch(html, /<button[^>]*>\s*Save/);
  assert.doesNotMatch(html, /settings\/audit/);
  assert.equal((await post(`${home}/settings/general`, { name: 'x' })).status, 403);
  for (const page of ['audit', 'audit/export', 'texts']) {
    assert.equal((await get(`${home}/settings/${page}`)).status, 403);
  }
  assert.equal((await get(`${home}/settings/usage`)).status, 200);
});

const months: [sent: number, said: RegExp, unsaid: RegExp][] = [
  [0, />100 emails left in /, /80%|No emails left/],
  [80, />20 emails left in /, /80%|No emails left/],
  [81, />19 emails left in .*more than 80%/s, /No emails left/],
  [99, />1 email left in .*more than 80%/s, /No emails left/],
  [100, /No emails left/, /80%|left in/],
  [101, /No emails left/, /80%|left in/],
];
for (const [sent, said, unsaid] of months) {
  test(`Usage shows what is left of 100 emails after ${sent}`, async () => {
    const { orgId, get, home } = await owner();
    await db`update organizations set monthly_send_limit = 100 where id = ${orgId}`;
    await db`
      insert into mail_usage (org_id, month, used)
      values (${orgId}, date_trunc('month', now() at time zone 'UTC'), ${sent})`;
    const html = await (await get(`${home}/settings/usage`)).text();
    assert.match(html, said);
    assert.doesNotMatch(html, unsaid);
  });
}
