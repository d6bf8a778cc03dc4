import assert from 'node:assert/strict';
import { test } from 'node:test';
import { typeFacts } from '../../src/survey-types.ts';
import { languageOf, languages } from '../../src/web/language.ts';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { signIn, slugOfOrganization } from '../support/make/session.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db);

type Role = 'viewer' | 'editor' | 'owner';

async function member(role: Role = 'owner') {
  const org = await makeOrganization(db);
  const base = `/o/${await slugOfOrganization(db, org)}/surveys`;
  const headers = await signIn(db, { org, role });
  const get = async (path: string) => {
    const answer = await app.request(`${base}${path}`, { headers });
    return { status: answer.status, text: await answer.text() };
  };
  const post = async (path: string, fields: [string, string][] | Record<string, string> = {}) => {
    const body = new URLSearchParams(fields).toString();
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const answer = await app.request(`${base}${path}`, {
      method: 'POST',
      body,
      headers: { ...headers, ...type, 'Sec-Fetch-Site': 'same-origin' },
    });
    const location = answer.headers.get('Location')?.replace(base, '') ?? null;
    const policy = answer.headers.get('Content-Security-Policy') ?? '';
    return { status: answer.status, location, policy, text: await answer.text() };
  };
  const surveys = async () =>
    await db`select * from surveys where org_id = ${org} order by created_at`;
  return { org, get, post, surveys };
}

const fields = {
  name: 'Spring',
  question_text: 'Happy, {{first_name|you}}?',
  type: 'csat',
  from_name: 'Ann',
  from_email: 'ann@acme.test',
  language: 'en',
};

const everything: [string, string][] = [
  ...Object.entries(fields),
  ['intro', 'Hello\r\nagain'],
  ['follow_up', 'Why?'],
  ['follow_up.detractor', 'What went wrong?'],
  ['thanks.promoter', 'Say so!'],
  ['thanks.promoter.link_url', 'https://reviews.test/'],
  ['languages', 'de'],
  ['languages', 'fr'],
  ['texts.de.question_text', 'Zufrieden?'],
  ['texts.fr.question_text', ' '],
  ['reminders.2.after_days', '9'],
  ['reminders.1.after_days', '3'],
  ['reminders.1.subject', 'Still a question'],
  ['ask_after_days', '0'],
  ['send_window.days', 'mon'],
  ['send_window.days', 'fri'],
  ['send_window.from', '09:00'],
  ['send_window.to', '17:30'],
  ['send_window.time_zone', 'Asia/Tokyo'],
  ['embed.origins', 'https://a.test\r\nhttps://b.test'],
  ['embed.position', 'inline'],
];

test('the form creates a survey with every field', async () => {
  const { post, surveys } = await member('editor');
  const { status, location } = await post('', everything);
  const [survey] = await surveys();
  assert.deepEqual([status, location], [303, `/${survey!['id']}`]);
  assert.equal(survey!['intro'], 'Hello\nagain');
  assert.deepEqual(survey!['follow_up'], {
    promoter: 'Why?',
    passive: 'Why?',
    detractor: 'What went wrong?',
  });
  assert.deepEqual(survey!['thanks'], {
    promoter: { text: 'Say so!', link_url: 'https://reviews.test/' },
  });
  assert.deepEqual(survey!['texts'], { de: { question_text: 'Zufrieden?' } });
  assert.deepEqual(survey!['reminders'], [
    { after_days: 3, subject: 'Still a question' },
    { after_days: 9 },
  ]);
  assert.equal(survey!['ask_after_days'], 0);
  assert.deepEqual(survey!['send_window'], {
    days: ['mon', 'fri'],
    from: '09:00',
    to: '17:30',
    time_zone: 'Asia/Tokyo',
  });
  assert.deepEqual(survey!['embed']['origins'], ['https://a.test', 'https://b.test']);
  assert.equal(survey!['status'], 'active');
});

test('saving the form without changes keeps the survey unchanged', async () => {
  const { get, post, surveys } = await member();
  await post('', everything);
  const [before] = await surveys();
  const { text } = await get(`/${before!['id']}/edit`);
  const { status } = await post(`/${before!['id']}/edit`, typedIn(text));
  const [after] = await surveys();
  assert.equal(status, 303);
  assert.deepEqual({ ...after, updated_at: null }, { ...before, updated_at: null });
});

test('the form shows errors on their fields and keeps the input', async () => {
  const { post, surveys } = await member();
  const { status, text } = await post('', {
    ...fields,
    question_text: 'Hi {{nmae}}',
    from_email: 'ann',
    'embed.origins': 'a.test',
    'reminders.1.after_days': 'soon',
    'send_window.days': 'mon',
    'send_window.from': '9',
  });
  assert.equal(status, 422);
  assert.equal((await surveys()).length, 0);
  for (const name of [
    'question_text',
    'from_email',
    'embed.origins',
    'reminders.1.after_days',
    'send_window.from',
  ]) {
    assert.ok(text.includes(`id="${name}-error"`), name);
  }
  assert.ok(text.includes('{{nmae}}</textarea>') && text.includes('value="soon"'));
});

test('the form shows errors of several fields above them', async () => {
  const { org, post, surveys } = await member();
  const twice = { ...fields, languages: 'en', 'texts.en.question_text': 'Twice?' };
  const sentence = />Texts: en is the survey&#39;s own language; [^<]*\.</;
  const made = await post('', twice);
  assert.equal(made.status, 422);
  assert.match(made.text, sentence);
  assert.ok(made.text.includes('Twice?</textarea>'));
  assert.equal((await surveys()).length, 0);
  const id = await makeSurvey(db, org, { name: 'Before' });
  const changed = await post(`/${id}/edit`, twice);
  assert.equal(changed.status, 422);
  assert.match(changed.text, sentence);
  assert.equal((await surveys())[0]!['name'], 'Before');
});

test('the scale cannot change once there are responses', async () => {
  const { org, get, post, surveys } = await member();
  const id = await makeSurvey(db, org);
  await makeResponse(db, { org_id: org, survey_id: id });
  assert.ok(!(await get(`/${id}/edit`)).text.includes('<select id="type"'));
  assert.equal((await post(`/${id}/edit`, fields)).status, 303);
  assert.deepEqual(
    [(await surveys())[0]!['type'], (await surveys())[0]!['name']],
    ['nps', 'Spring'],
  );
});

for (const type of ['csat', 'ces', 'star5', 'thumbs'] as const) {
  test(`the preview of a ${type} survey with answers shows its scale`, async () => {
    const { org, get, post } = await member('editor');
    const id = await makeSurvey(db, org, { type });
    await makeResponse(db, { org_id: org, survey_id: id }, { score: 1, category: 'detractor' });
    const shown = await post('/preview', typedIn((await get(`/${id}/edit`)).text));
    assert.match(shown.text, new RegExp(`class="choices ${typeFacts(type).control}"`));
  });
}

test('a new survey starts with the sender of the last one', async () => {
  const { get, post } = await member('editor');
  await post('', { ...fields, from_email: 'last@acme.test', reply_to: 'replies@acme.test' });
  for (const template of ['blank', 'nps']) {
    const form = Object.fromEntries(typedIn((await get(`/new?template=${template}`)).text));
    assert.partialDeepStrictEqual(form, {
      from_name: 'Ann',
      from_email: 'last@acme.test',
      reply_to: 'replies@acme.test',
    });
  }
});

const templateLinks = (html: string) =>
  [...html.matchAll(/href="[^"]*(\/new\?template=[\w-]+&amp;language=[\w-]+)"/g)].map(([, path]) =>
    path!.replace('&amp;', '&'),
  );

test('each template is saved as it is, in each language', async () => {
  const { get, post, surveys } = await member('editor');
  const sender = { from_email: 'ann@acme.test' };
  for (const language of languages.keys()) {
    const links = templateLinks((await get(`/new?language=${language}`)).text);
    assert.equal(links.length, 6);
    for (const link of links) {
      const form = Object.fromEntries(typedIn((await get(link)).text));
      assert.equal((await post('', { ...form, ...sender })).status, 303, link);
    }
  }
  for (const survey of await surveys()) {
    for (const field of ['subject', 'follow_up', 'thanks']) assert.ok(survey[field], field);
    assert.ok(survey['reminders'].length > 0);
    assert.ok(survey['questions'].length > 0);
  }
  const made = await surveys();
  const types = made.slice(0, 6).map(({ type, audience }) => [type, audience]);
  assert.deepEqual(types, [
    ['nps', null],
    ['csat', null],
    ['ces', null],
    ['star5', null],
    ['thumbs', null],
    ['nps', 'employee'],
  ]);
  assert.equal(new Set(made.map((survey) => survey['question_text'])).size, 6 * languages.size);
});

test('templates are in the language of the organization, or else in English', async () => {
  const { org, get } = await member('editor');
  for (const [own, requested, shown] of [
    ['de-AT', '', 'de-AT'],
    ['de-AT', '?language=fr', 'fr'],
    ['de-AT', '?language=xx', 'de-AT'],
    ['sv', '', 'en'],
  ] as const) {
    await db`update organizations set language = ${own} where id = ${org}`;
    const [link] = templateLinks((await get(`/new${requested}`)).text);
    assert.equal(link, `/new?template=nps&language=${shown}`);
    const form = Object.fromEntries(typedIn((await get(link!)).text));
    const { templates } = languageOf(shown).texts;
    assert.equal(form['language'], shown);
    assert.equal(form['subject'], templates(form['from_name']!).nps.subject);
  }
  const blank = Object.fromEntries(typedIn((await get('/new?template=blank')).text));
  assert.deepEqual([blank['language'], blank['question_text']], ['sv', '']);
  assert.match((await get('/new?template=unknown')).text, /template=nps/);
});

test('adding a language translates texts unchanged from the template', async () => {
  const { get, post } = await member('editor');
  const form = Object.fromEntries(typedIn((await get('/new?template=nps')).text));
  const changed = { ...form, thanks: 'Thanks a lot', act: 'add-language', add_language: 'de' };
  const typed = Object.fromEntries(typedIn((await post('', changed)).text));
  const { nps } = languageOf('de').texts.templates(form['from_name']!);
  const { promoter } = nps.follow_up as { promoter: string };
  assert.partialDeepStrictEqual(typed, {
    thanks: 'Thanks a lot',
    'texts.de.question_text': nps.question_text,
    'texts.de.subject': nps.subject,
    'texts.de.follow_up.promoter': promoter,
    'texts.de.thanks': '',
  });
  const [, contact] = nps.questions;
  const labels = [1, 2].map((at) => form[`questions.2.options.${at}.id`]);
  assert.partialDeepStrictEqual(typed, {
    'questions.2.texts.de.text': contact!.text,
    [`questions.2.texts.de.options.${labels[0]}`]: contact!.options![0],
    [`questions.2.texts.de.options.${labels[1]}`]: contact!.options![1],
  });
});

test('sending a test email returns to the page that requested it', async () => {
  const { org, get, post } = await member('editor');
  const id = await makeSurvey(db, org);
  const contact = await makeContact(db, { org_id: org, survey_id: id });
  assert.match((await get(`/${id}`)).text, /Send me a test/);
  assert.equal((await post(`/${id}/test-mail`)).location, `/${id}`);
  const fromSend = await post(`/${id}/test-mail`, { contact_id: contact });
  assert.equal(fromSend.location, `/${id}/send`);
});

test('the list shows answers, response rate and score per scale', async () => {
  const { org, get } = await member('viewer');
  for (const [type, score, category] of [
    ['nps', 9, 'promoter'],
    ['csat', 4, 'promoter'],
    ['ces', 6, 'promoter'],
    ['star5', 3, 'passive'],
    ['thumbs', 0, 'detractor'],
  ] as const) {
    const survey_id = await makeSurvey(db, org, { type, name: `a ${type} survey` });
    await makeResponse(db, { org_id: org, survey_id }, { score, category });
    await makeContact(db, { org_id: org, survey_id }, { status: 'sent', sent_at: new Date() });
  }
  const { text } = await get('');
  const rows = text.split('<tr').slice(2);
  const score = (type: string) =>
    rows
      .find((row) => row.includes(`a ${type} survey`))
      ?.match(/>([+\d.-]+%?)<\/b><span class="sub block">[A-Z]/)?.[1];
  assert.deepEqual(['nps', 'csat', 'ces', 'star5', 'thumbs'].map(score), [
    '+100',
    '100%',
    '6.00',
    '3.00',
    '0%',
  ]);
  assert.ok(rows.every((row) => row.includes('0 of 1')));
});

test('deleting requires the exact name', async () => {
  const { org, get, post, surveys } = await member();
  const id = await makeSurvey(db, org, { name: 'Spring' });
  await makeResponse(db, { org_id: org, survey_id: id });
  assert.ok((await get(`/${id}/delete`)).text.includes('1 response'));
  assert.equal((await post(`/${id}/delete`, { name: 'spring' })).status, 422);
  assert.equal((await surveys()).length, 1);
  assert.deepEqual((await post(`/${id}/delete`, { name: 'Spring' })).location, '');
  assert.equal((await surveys()).length, 0);
});

test('a survey can be opened, closed, reopened and copied', async () => {
  const { org, get, post, surveys } = await member('editor');
  const id = await makeSurvey(db, org, { status: 'draft' });
  const status = async () => (await surveys())[0]!['status'];
  await post(`/${id}/open`);
  assert.equal(await status(), 'active');
  assert.ok((await get(`/${id}/close`)).text.includes('>Close</button>'));
  assert.equal(await status(), 'active');
  await post(`/${id}/close`);
  assert.equal(await status(), 'completed');
  await post(`/${id}/reopen`);
  assert.equal(await status(), 'active');
  const { location } = await post(`/${id}/copy`);
  assert.equal(location, `/${(await surveys())[1]!['id']}/edit`);
});

test('the preview shows unsaved input in a sandboxed frame', async () => {
  const { post, surveys } = await member('editor');
  const typed = [...everything, ['preview.language', 'de'], ['preview.scheme', 'dark']] as [
    string,
    string,
  ][];
  const page = await post('/preview', typed);
  assert.match(page.text, /<html lang="de".*Zufrieden\?/s);
  assert.match(page.policy, /frame-ancestors 'self';.*sandbox/);
  assert.ok(page.text.includes('@media all') && !page.text.includes('prefers-color-scheme'));
  const mail = await post('/preview', [...everything, ['preview.show', 'mail']]);
  assert.ok(mail.text.includes('Happy, Robin?') && mail.text.includes('Hello<br/>again'));
  const thanks = await post('/preview', [
    ...everything,
    ['preview.show', 'thanks'],
    ['preview.category', 'promoter'],
  ]);
  assert.ok(thanks.text.includes('Say so!'));
  const broken = await post('/preview', { ...fields, subject: '{{x}}' });
  assert.ok(broken.status === 200 && broken.text.includes('not a placeholder'));
  assert.equal((await surveys()).length, 0);
});

test("another organization's survey returns 404", async () => {
  const { get } = await member('owner');
  const theirs = await makeSurvey(db, await makeOrganization(db));
  for (const path of ['', '/share', '/share/qr.svg', '/edit', '/close', '/delete'])
    assert.equal((await get(`/${theirs}${path}`)).status, 404, path);
});

/** The fields that a browser would submit. */
function typedIn(html: string): [string, string][] {
  const form = html.slice(html.indexOf('data-preview'), html.indexOf('class="preview"'));
  const text = (value: string) =>
    value
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&');
  const found: [string, string][] = [];
  for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
    const name = /name="([^"]*)"/.exec(tag)?.[1];
    const isOff = /type="(checkbox|radio)"/.test(tag) && !/ checked/.test(tag);
    if (name && !isOff) found.push([name, text(/ value="([^"]*)"/.exec(tag)?.[1] ?? '')]);
  }
  for (const [, name, value] of form.matchAll(/<textarea[^>]*name="([^"]*)"[^>]*>([^<]*)</g)) {
    found.push([name!, text(value!)]);
  }
  for (const [, name, options] of form.matchAll(
    /<select[^>]*name="([^"]*)"[^>]*>(.*?)<\/select>/gs,
  )) {
    const [, value, word] =
      /<option(?: value="([^"]*)")? selected[^>]*>([^<]*)/.exec(options!) ?? [];
    const chosen = value ?? word;
    if (chosen !== undefined) found.push([name!, chosen]);
  }
  return found;
}

test('a survey page shows its trend and response counts', async () => {
  const { org, get } = await member('viewer');
  const survey_id = await makeSurvey(db, org, { type: 'csat' });
  const other = await makeSurvey(db, org, { type: 'csat' });
  assert.doesNotMatch((await get(`/${survey_id}`)).text, />Trend</);

  const daysAgo = (days: number) => ({ created_at: new Date(Date.now() - days * 86_400_000) });
  for (const days of [1, 3, 5, 40]) {
    const comment = `Fresh after ${days} days`;
    const score = { score: 5, category: 'promoter', comment, ...daysAgo(days) };
    await makeResponse(db, { org_id: org, survey_id }, score);
    const low = { score: 1, category: 'detractor', ...daysAgo(days) };
    await makeResponse(db, { org_id: org, survey_id: other }, low);
  }
  for (const { created_at: sent_at } of [daysAgo(0), daysAgo(30)]) {
    await makeContact(db, { org_id: org, survey_id }, { status: 'sent', sent_at });
  }

  const week = (await get(`/${survey_id}?period=7d`)).text;
  assert.match(week, /aria-label="[^"]* of the last 30 days\. /);
  assert.match(week, /lowest 100%, highest 100%/);
  assert.match(week, /Response rate/);
  assert.match(week, askedBy(1));
  assert.match(week, /class="sub">3 responses</);
  assert.match(week, /All 3 responses.*Fresh after 1 days/s);
  const all = (await get(`/${survey_id}`)).text;
  assert.match(all, /aria-label="[^"]* of the last 30 days\. /);
  assert.match(all, /lowest 100%, highest 100%/);
  assert.match(all, askedBy(2));
  assert.match(all, /class="sub">4 responses</);
});

const askedBy = (many: number) =>
  new RegExp(`id="asked".*?>Sent</span></span><b class="num">${many}<`, 's');

test('the list shows the surveys of one status', async () => {
  const { org, get } = await member('viewer');
  for (const status of ['active', 'draft', 'draft']) await makeSurvey(db, org, { status });
  const { text } = await get('?status=draft&limit=1');
  assert.match(text, /2 surveys/);
  assert.match(text, /status=draft&amp;page=2" rel="next"/);
  assert.match(text, /type="hidden" name="status" value="draft"/);
  assert.match((await get('?status=completed')).text, /No surveys match/);
  assert.equal((await get('?status=closed')).status, 400);
});

test('an empty list offers editors a new survey once', async () => {
  const offers = async (role: 'viewer' | 'editor') =>
    (await (await member(role)).get('')).text.match(/New survey/g)?.length;
  assert.deepEqual([await offers('viewer'), await offers('editor')], [undefined, 1]);
});

test('the list can be searched by part of a name', async () => {
  const { org, get } = await member('viewer');
  for (const name of ['Spring 100%', 'Spring 1000', 'Autumn']) await makeSurvey(db, org, { name });
  const some = (await get('?search=+100%25+')).text;
  assert.match(some, /1 survey\b/);
  assert.match(some, /Spring 100%</);
  assert.doesNotMatch(some, /Autumn|Spring 1000/);
  assert.match((await get('?search=SPRING&limit=1')).text, /search=SPRING&amp;page=2" rel="next"/);
  assert.match((await get('?search=winter')).text, /No surveys match/);
  assert.match((await get('?search=')).text, /3 surveys/);
  assert.equal((await get('?search=%00')).status, 400);
  const answers = [500, 501].map((length) => get(`?search=${'x'.repeat(length)}`));
  assert.deepEqual(
    (await Promise.all(answers)).map(({ status }) => status),
    [200, 400],
  );
});
