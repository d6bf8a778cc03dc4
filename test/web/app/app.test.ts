import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { Refusal } from '../../../src/errors.ts';
import { createSecrets } from '../../../src/lib/crypto/secrets.ts';
import { answerError, type RequestEnv } from '../../../src/lib/http/http.ts';
import { createLog } from '../../../src/lib/log/log.ts';
import { parseQuery } from '../../../src/lib/validation/parse.ts';
import { showErrorScreen, tryAgain } from '../../../src/web/app/error-screens.tsx';
import { flash, setOneTimeSecret, takeOneTimeSecret } from '../../../src/web/app/flash.ts';
import {
  cachePostedForm,
  fieldsToResend,
  guardForms,
  readForm,
} from '../../../src/web/app/forms.tsx';
import { DataTable, PagedList, type TableColumn } from '../../../src/web/app/lists.tsx';
import { renderScreen, renderStandalone, Sidebar } from '../../../src/web/app/screen.tsx';
import { showErrorPage } from '../../../src/web/show.ts';

const publicUrl = 'https://askback.test';
const member = { name: 'Lena <Dahl>', email: 'lena@people.test', isOperator: false };
const organization = { name: 'Larkspur', slug: 'larkspur', color: '#0f766e', role: 'owner' };

const Form = v.object({
  name: v.pipe(v.string(), v.trim(), v.nonEmpty('Enter a name.')),
  password: v.pipe(v.string(), v.minLength(12, 'must have 12 characters')),
});

const List = v.object({
  plan: v.optional(v.picklist(['free', 'paid'], 'must be free or <paid>')),
});

function app() {
  return new Hono<RequestEnv>()
    .use(guardForms(publicUrl))
    .onError(answerError(createLog({ level: 'silent' }), showErrorPage))
    .get('/alone', (c) => renderStandalone(c, { title: 'Sign in', body: 'words' }))
    .use('/o/*', async (c: Context, next) => {
      c.set('member', member);
      c.set('organization', organization);
      await next();
    })
    .get('/o/page', (c) => renderScreen(c, { title: 'Home', section: 'home', body: 'words' }))
    .get('/o/none', () => {
      throw new Refusal('gone', 'link is used');
    })
    .get('/refused/:status', (c) => {
      const { says } = c.req.query();
      const refusal = says === undefined ? undefined : new Refusal('invalid', says);
      return showErrorScreen(c, Number(c.req.param('status')) as 400, refusal);
    })
    .get('/o/list', (c) => {
      parseQuery(List, c.req.queries());
      return c.text('listed');
    })
    .post('/o/form', async (c) => c.json(await readForm(c, Form)))
    .post('/o/done', (c) => {
      flash(c, { kind: 'fine', text: 'Saved <it>.' });
      return c.redirect('/o/page', 303);
    });
}

const post = (headers: Record<string, string>, body = new URLSearchParams()) =>
  app().request('/o/form', { method: 'POST', body, headers });

const [name, state] = [{ head: 'a' }, { head: 'c' }];
const [emails, clicks] = ['Emails', 'Clicks'].map((head) => ({ head, number: true }));
const tableRow = (...columns: TableColumn[]) => {
  const rows = [{ cells: ['a', '1', '2', 'c'].slice(0, columns.length) }];
  return String(DataTable({ caption: 'x', columns, rows })).split('<tbody><tr>')[1] ?? '';
};

test('numbers of a table name their column for phones', () => {
  assert.match(
    tableRow(name, emails!, clicks!, state),
    /^<th scope="row">a<\/th><td class="n fact" data-after=" email">1<\/td><td class="n fact" data-after=" clicks">2<\/td><td class="fact">c<\/td>/,
  );
});

test('a table of numbers stays a table on phones', () => {
  assert.match(tableRow(name, emails!), /^<th scope="row">a<\/th><td class="n">1<\/td>/);
});

for (const [seconds, said] of [
  [1, 'a second'],
  [89, '89 seconds'],
  [90, '2 minutes'],
  [89 * 60, '89 minutes'],
  [89 * 60 + 1, '2 hours'],
  [121 * 60, '3 hours'],
] as const) {
  test(`a wait of ${seconds} seconds is described as ${said}`, () =>
    assert.equal(tryAgain(seconds), `Try again in ${said}.`));
}

test('a survey page distinguishes a failure from a refusal', async () => {
  const pages = new Hono().get(
    '/s/:status',
    (c) => showErrorPage(c, Number(c.req.param('status')) as 400) ?? c.text('nothing'),
  );
  const pageOf = async (status: number) => await (await pages.request(`/s/${status}`)).text();
  const [refused, broken] = [await pageOf(409), await pageOf(502)];
  assert.notEqual(refused, broken);
  assert.deepEqual([await pageOf(499), await pageOf(500)], [refused, broken]);
});

test('a screen has a heading, its section and the reader', async () => {
  const html = await (await app().request('/o/page')).text();
  assert.equal(html.match(/<h1>/g)?.length, 1);
  assert.match(html, /<a href="\/o\/larkspur" aria-current="page"><i [^>]*><\/i>Home<\/a>/);
  assert.match(html, /<title>Home · Larkspur · askback<\/title>/);
  assert.ok(html.includes('Lena &lt;Dahl&gt;'));
});

test('the policy of a screen allows only our own files', async () => {
  for (const path of ['/o/page', '/alone', '/o/none']) {
    const { headers } = await app().request(path);
    const policy = headers.get('Content-Security-Policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'self'; /);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe|\*|http/);
    assert.equal(headers.get('Referrer-Policy'), 'same-origin');
    assert.equal(headers.get('Cache-Control'), 'no-store');
  }
});

test('a form from another site is refused', async () => {
  const own = { Origin: publicUrl };
  for (const [headers, status] of [
    [{ 'Sec-Fetch-Site': 'same-origin' }, 200],
    [{ 'Sec-Fetch-Site': 'none' }, 200],
    [{ 'Sec-Fetch-Site': 'cross-site' }, 403],
    [{ 'Sec-Fetch-Site': 'same-site', ...own }, 403],
    [{ 'Sec-Fetch-Site': 'cross-site', ...own }, 403],
    [own, 200],
    [{ Origin: 'null' }, 403],
    [{ Origin: 'http://askback.test' }, 403],
    [{ Origin: 'https://evil.askback.test' }, 403],
    [{}, 200],
  ] as const) {
    assert.equal((await post({ ...headers })).status, status, JSON.stringify(headers));
  }
});

test('an invalid form keeps its values except passwords', async () => {
  const body = new URLSearchParams({ name: ' ', password: 'short', other: 'kept' });
  assert.deepEqual(await (await post({}, body)).json(), {
    errors: { name: 'Enter a name.', password: 'Must have 12 characters.' },
    typed: { name: ' ', other: 'kept' },
  });
});

test('a valid form returns its values', async () => {
  const body = new URLSearchParams({ name: ' Maya ', password: 'long enough it is' });
  const { values } = (await (await post({}, body)).json()) as { values: unknown };
  assert.deepEqual(values, { name: 'Maya', password: 'long enough it is' });
});

test('an invalid or too large form body is refused', async () => {
  assert.equal((await post({ 'Content-Type': 'text/plain' })).status, 400);
  const large = new URLSearchParams({ name: 'x'.repeat(1_100_000) });
  assert.equal((await post({}, large)).status, 413);
});

test('a notice shows only on the next page', async () => {
  const done = await app().request('/o/done', { method: 'POST' });
  const set = done.headers.get('Set-Cookie') ?? '';
  assert.match(
    set,
    /^__Host-askback-notice=[^;]+; Max-Age=60; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  const cookie = set.split(';')[0]!;
  const page = await app().request('/o/page', { headers: { Cookie: cookie } });
  assert.match(await page.text(), /role="status"><i [^>]*><\/i><p>Saved &lt;it&gt;\.<\/p>/);
  assert.match(page.headers.get('Set-Cookie') ?? '', /Max-Age=0/);
});

test('a used or expired link offers a new one', async () => {
  const answer = await app().request('/o/none');
  assert.equal(answer.status, 410);
  assert.match(await answer.text(), /href="\/forgot"/);
});

test('a screen names the invalid parameter', async () => {
  const answer = await app().request('/o/list?plan=gold');
  assert.equal(answer.status, 400);
  assert.match(await answer.text(), /Details: plan: must be free or &lt;paid&gt;</);
});

test('an error screen shows the sentence of its refusal', async () => {
  const shown = async (path: string) => await (await app().request(`/refused/${path}`)).text();
  const sentence = await shown('409?says=The plan is taken.');
  assert.match(sentence, /<p>The plan is taken\.<\/p>/);
  assert.doesNotMatch(sentence, /Details:/);
  assert.match(await shown('400?says=plan: is wrong'), /Details: plan: is wrong</);
  assert.doesNotMatch(await shown('409?says=plan: is wrong'), /plan: is wrong/);
});

test('a page that cannot be shown offers to load it again', async () => {
  const html = await (await app().request('/refused/500?page=2')).text();
  assert.match(html, /href="\?page=2"[^>]*>Try again</);
  assert.doesNotMatch(html, /may have been saved/);
});

for (const [count, shown] of [
  [0, undefined],
  [1, '1'],
  [99, '99'],
  [100, '99+'],
] as const) {
  test(`${count} open detractors and failing webhooks are shown as ${shown ?? 'nothing'}`, () => {
    const counts = { openDetractors: count, failingWebhooks: count };
    const reader = {
      member: { name: 'Lena', isOperator: false },
      otherOrganizations: [],
      organization: { ...organization, ...counts },
    };
    const html = String(Sidebar({ reader: reader as never, section: 'home' }));
    const numbers = [...html.matchAll(/<span class="count[^>]*><span[^>]*>, <\/span>(.*?)</g)];
    assert.deepEqual(
      numbers.map(([, number]) => number),
      shown ? [shown, shown] : [],
    );
  });
}

const pages: [page: number, total: number, links: string[]][] = [
  [1, 0, []],
  [1, 10, []],
  [1, 11, ['/2']],
  [2, 11, ['/1']],
  [2, 20, ['/1']],
  [2, 21, ['/1', '/3']],
  [3, 21, ['/2']],
  [4, 21, ['/1', '/3']],
  [9, 21, ['/1', '/3']],
];
for (const [page, total, links] of pages) {
  test(`page ${page} of ${total} rows, ten per page, links to ${links.join(' and ') || 'no other'}`, () => {
    const meta = { page, limit: 10, total };
    const at = (number: number) => `/${number}`;
    const html = String(PagedList({ meta, at, empty: 'none', children: 'rows' }));
    const found = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!);
    assert.deepEqual(found, links);
  });
}

const formApp = new Hono().post('/', async (c) => {
  await cachePostedForm(c);
  return c.json(fieldsToResend(c));
});

async function again(...fields: [name: string, value: string | File][]) {
  const body = new FormData();
  for (const [name, value] of fields) body.append(name, value);
  return (await (await formApp.request('/', { method: 'POST', body })).json()) as unknown;
}

test('a form is resent with all fields in order', async () => {
  assert.deepEqual(
    await again(['tag', 'a'], ['name', 'password of Ann'], ['tag', 'b'], ['tag', 'c']),
    [
      ['tag', 'a'],
      ['tag', 'b'],
      ['tag', 'c'],
      ['name', 'password of Ann'],
    ],
  );
});

for (const [what, name, value] of [
  ['a file', 'logo', new File(['x'], 'logo.png')],
  ['a password', 'newPassword', 'long enough'],
  ['a code', 'code', '123456'],
] as const) {
  test(`a form with ${what} is not sent again`, async () => {
    assert.deepEqual(await again(['name', 'Ann'], [name, value], ['other', 'x']), []);
  });
}

test('a form up to 1 MiB can be resent', async () => {
  const send = async (bytes: number) => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const body = `a=${'x'.repeat(bytes - 2)}`;
    return await (await formApp.request('/', { method: 'POST', body, headers })).json();
  };
  assert.equal(((await send(1024 * 1024)) as unknown[]).length, 1);
  assert.deepEqual(await send(1024 * 1024 + 1), []);
});

test('a one-time secret expires after a minute', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 });
  const secrets = createSecrets([Buffer.alloc(32, 1)]);
  const owner = { orgId: 'org', memberId: 'ann' };
  const app = new Hono()
    .get('/keep', (c) => {
      setOneTimeSecret(c, secrets, owner, { secret: 'x' });
      return c.text('');
    })
    .get('/take', (c) => c.json(takeOneTimeSecret(c, secrets, owner) ?? null));
  const kept = (await app.request('/keep')).headers.get('Set-Cookie')!;
  assert.match(kept, /Max-Age=60;/);
  const taken = async () =>
    await (await app.request('/take', { headers: { Cookie: kept.split(';')[0]! } })).json();
  t.mock.timers.tick(59_999);
  assert.deepEqual(await taken(), { secret: 'x' });
  t.mock.timers.tick(1);
  assert.equal(await taken(), null);
});
