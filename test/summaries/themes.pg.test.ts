import assert from 'node:assert/strict';
import { test } from 'node:test';
import { json } from '../../src/lib/db/db.ts';
import { categoryOf, type SurveyType } from '../../src/survey-types.ts';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const app = bareApp(db);
const day = (ago: number) => new Date(Date.now() - ago * 86_400_000);

async function scene(over: Record<string, unknown> = {}) {
  const org = await makeOrganization(db, { ai_enabled: true, time_zone: 'UTC', ...over });
  const surveys = {
    nps: await makeSurvey(db, org),
    star5: await makeSurvey(db, org, { name: 'Stars', type: 'star5' }),
  };
  const browser = await memberBrowser(db, { app, org, role: 'viewer' });
  type Given = { type?: 'nps' | 'star5'; ago?: number; comment?: string | null } & Record<
    string,
    unknown
  >;
  const respond = (
    score: number,
    { type = 'nps', ago = 1, comment = 'Well', ...rest }: Given = {},
  ) =>
    makeResponse(
      db,
      { org_id: org, survey_id: surveys[type] },
      {
        score,
        category: categoryOf(type as SurveyType, score),
        comment,
        created_at: day(ago),
        ...rest,
      },
    );
  const read = (response_id: string, themes: string[], sentiment = 'neutral') =>
    db`insert into analyses ${db({ org_id: org, response_id, sentiment, themes, provider: 'test' } as never)}`;
  const say = async (score: number, themes: string[], given: Given = {}) => {
    const id = await respond(score, given);
    await read(id, themes, score > 6 ? 'positive' : 'negative');
    return id;
  };
  const html = async (query = '') => {
    const answer = await browser.get(`${browser.home}/themes${query}`);
    return { status: answer.status, text: await answer.text() };
  };
  return { org, surveys, ...browser, respond, read, say, html };
}

const plain = (html: string) =>
  html
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

/** The rows of the table by theme: comments, share, range, score, interval, change. */
const tableOf = (html: string) =>
  new Map(
    [...html.matchAll(/<tr[^>]*>\s*(<th scope="row".*?)<\/tr>/gs)].map(([, row]) => {
      const cells = [...row!.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell]) =>
        plain(cell!.replace(/<span class="hidden">.*?<\/span>/gs, '')),
      );
      return [cells[0]!, cells.slice(1, 7)];
    }),
  );

test('Themes shows numbers of one scale, without held and foreign responses', async () => {
  const org = await scene();
  const other = await scene();
  for (const score of [10, 9, 3]) await org.say(score, ['support']);
  await org.say(2, ['price', 'support']);
  await org.say(9, []);
  await org.respond(8);
  await org.respond(7, { comment: null });
  for (const score of [9, 9]) await org.say(score, ['support'], { ago: 100 });
  for (const score of [5, 4]) await org.say(score, ['support'], { type: 'star5' });
  await org.say(0, ['support', 'held'], { held_reason: 'hidden_field' });
  await other.say(0, ['support', 'theirs']);

  const { text } = await org.html('?type=nps');
  const table = tableOf(text);
  assert.deepEqual([...table.keys()], ['support', 'price']);
  const [comments, share, , score, , change] = table.get('support')!;
  assert.deepEqual([comments, share, score, change], ['4', '80.0%', '0', '−100']);
  assert.deepEqual(table.get('price')!.at(-1), 'new');
  assert.match(plain(text), /6 comments/);
  assert.match(plain(text), /1 comment not analyzed/);
  assert.match(plain(text), /1 analyzed comment without a theme/);
  assert.match(plain(text), /Positive 60% 3 Negative 40% 2 1 comment/);
  assert.match(plain(text), /Promoters 50% 2 Passives 0% 0 Detractors 50% 2/);

  const stars = await org.html('?type=star5');
  const [mentions, shareOfStars, , mean] = tableOf(stars.text).get('support')!;
  assert.deepEqual([mentions, shareOfStars, mean], ['2', '100.0%', '4.50']);
  const one = await org.html(`?survey_id=${org.surveys.star5}`);
  assert.deepEqual([...tableOf(one.text)], [...tableOf(stars.text)]);
  assert.equal((await org.html(`?survey_id=${other.surveys.nps}`)).status, 404);
});

test('a theme links to its responses in the inbox', async () => {
  const org = await scene();
  const contact = (plan: string) =>
    makeContact(
      db,
      { org_id: org.org, survey_id: org.surveys.nps },
      { properties: json(db, { plan }) },
    );
  for (const plan of ['pro', 'pro', 'free']) {
    await org.say(9, ['r&d'], {
      contact_id: await contact(plan),
      properties: json(db, { plan }),
    });
  }
  await org.say(9, ['price']);
  await org.say(9, ['r&d'], { ago: 100 });
  for (const [query, total] of [
    ['', 3],
    ['?property.plan=pro', 2],
    ['?property.plan=free', 1],
  ] as const) {
    const { text } = await org.html(query);
    assert.equal(tableOf(text).get('r&amp;d')![0], String(total), query);
    const [, link] = /href="([^"]+)">\d+<span class="hidden"> about r&amp;d/.exec(text) ?? [];
    const inbox = await (await org.get(link!.replaceAll('&amp;', '&'))).text();
    assert.ok(inbox.includes(`<h2>${total} response`), String(link));
  }
});

test('a theme shows its two newest comments', async () => {
  const org = await scene();
  await org.say(9, ['price'], { ago: 4, comment: 'oldest' });
  await org.say(9, ['price'], { ago: 3, comment: 'too costly' });
  await org.say(9, ['price', 'support'], { ago: 2, comment: 'call me' });
  await org.say(9, ['support'], { ago: 1, comment: 'nice people' });
  const quotes = async (query: string) =>
    [...(await org.html(query)).text.matchAll(/<p class="clamp" dir="auto">([^<]*)</g)].map(
      ([, text]) => text,
    );
  assert.deepEqual(await quotes('?theme=Price'), ['call me', 'too costly']);
  assert.deepEqual(await quotes('?theme=support'), ['nice people', 'call me']);
  assert.deepEqual(await quotes('?theme=none'), await quotes(''));
});

test("lists the organization's themes beyond the most frequent ones", async () => {
  const org = await scene();
  await db`insert into themes (org_id, name, words) values (${org.org}, 'Parking', '{garage}')`;
  for (let n = 0; n < 22; n++) {
    for (const _ of [1, 2]) await org.say(9, [`theme ${String(n).padStart(2, '0')}`]);
  }
  await org.say(3, ['parking']);
  const themes = [...tableOf((await org.html()).text).keys()];
  assert.equal(themes.length, 21);
  assert.equal(themes.at(-1), 'parking yours');
  const asked = [...tableOf((await org.html('?theme=theme 21')).text).keys()];
  assert.ok(asked.includes('theme 21'));
});

test('empty states say what to do', async () => {
  const off = await scene({ ai_enabled: false });
  await off.respond(9);
  const { text } = await off.html();
  assert.match(text, /Comment analysis is off/);
  assert.match(text, /href="\/o\/[^"]+\/settings\/general"/);
  const id = await off.respond(9);
  await off.read(id, ['price']);
  const earlier = (await off.html()).text;
  assert.match(earlier, /new comments are not read/);
  assert.ok(tableOf(earlier).has('price'));
  assert.match(earlier, /data-before="Comments "><a [^>]*>1</);

  const on = await scene();
  await on.respond(9, { comment: null });
  assert.match((await on.html()).text, /No comments in this period/);
  const none = await makeOrganization(db, { ai_enabled: true });
  const { get, home } = await memberBrowser(db, { app, org: none, role: 'viewer' });
  const empty = await (await get(`${home}/themes`)).text();
  assert.match(empty, /No comments yet/);
  assert.match(empty, /aria-current="page"><i [^>]*><\/i>Themes/);
  const wrong = await on.html('?date_from=2026-02-30');
  assert.equal(wrong.status, 422);
});

test('counts text answers as comments', async () => {
  const org = await scene();
  const id = await org.respond(9, { comment: null });
  await db`
    insert into response_answers (org_id, response_id, answers)
    values (${org.org}, ${id}, ${json(db, { q_1: { text: 'Too slow' } })})`;
  assert.match(plain((await org.html()).text), /1 comment not analyzed/);
  await org.read(id, ['performance']);
  const { text } = await org.html();
  assert.match(plain(text), /All comments are analyzed/);
  assert.deepEqual(tableOf(text).get('performance')?.[0], '1');
});
