import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiDocument } from '../../src/api.ts';
import { renderDocs } from '../../src/lib/openapi/docs/page.tsx';
import { notSavedPage } from '../../src/responses/view/messages.tsx';
import { errorPage } from '../../src/web/error-page.tsx';
import { languageOf } from '../../src/web/language.ts';
import { testSettings } from '../support/make/settings.ts';
import { htmlLines } from '../support/walls/html-lines.ts';
import { keptScreens } from '../support/walls/kept-screens.ts';
import { id, withNames, word } from './scene/names.ts';
import { makeStillScene } from './scene/scene.ts';
import { shownAnswer } from './shown.ts';

const { app } = await makeStillScene();
const kept = keptScreens('pages');

type KeptPage = { name: string; path: string; language?: string; form?: Record<string, string> };

const share = (name: string, path = 'f') => `/${path}/${word(`share ${name}`).slice(0, 16)}`;
const link = (name: string) => `/s/${word(name).slice(0, 32)}`;
const leave = (name: string) => `/u/${word(name).slice(0, 32)}`;
const scales = { nps: '9', csat: '2', ces: '7', star5: '4', thumbs: '0', employees: '6' };

const ofScales = Object.entries(scales).flatMap(([name, score]): KeptPage[] => [
  { name: `${name}-form`, path: share(name) },
  { name: `${name}-form-chosen-de`, path: `${share(name)}?score=${score}`, language: 'de' },
  { name: `${name}-no-score`, path: share(name), form: { score: '', comment: '\nwritten' } },
  { name: `${name}-thanks`, path: share(name), form: { score, comment: 'Fine, <b> & "all"' } },
]);

const handedIn = encodeURIComponent('{"plan":"pro","page":"/a&b"}');

const pages: KeptPage[] = [
  ...ofScales,
  { name: 'monogram', path: share('alone') },
  { name: 'personal', path: link('ben') },
  { name: 'personal-ar', path: `${link('gil')}?score=3`, language: 'ar' },
  { name: 'personal-of-language', path: link('ada') },
  { name: 'personal-answered', path: link('layla') },
  { name: 'personal-trap', path: `${link('ben')}/x` },
  { name: 'personal-thanks-de', path: link('gil'), language: 'de', form: { score: '2' } },
  { name: 'personal-answered-de', path: link('gil'), language: 'de' },
  { name: 'personal-answered-again', path: link('gil'), form: { score: '3' } },
  { name: 'personal-trapped', path: `${link('cora')}/x`, form: { score: '5', topic: 'x' } },
  { name: 'too-long', path: link('dan'), form: { score: '5', comment: 'x'.repeat(5001) } },
  { name: 'personal-closed', path: link('ada closed') },
  { name: 'frame', path: `${share('nps', 'e')}?properties=${handedIn}` },
  {
    name: 'frame-no-score',
    path: share('nps', 'e'),
    form: { score: '', properties: '{"plan":"pro"}' },
  },
  { name: 'frame-thanks', path: share('nps', 'e'), form: { score: '7' } },
  ...['draft', 'closed', 'answered'].flatMap((name): KeptPage[] => [
    { name: `${name}-survey`, path: share(name), language: 'fr' },
    { name: `${name}-survey-posted`, path: share(name), form: { score: '7' } },
  ]),
  { name: 'unknown', path: share('unknown') },
  { name: 'unknown-de', path: `${link('unknown')}`, language: 'de' },
  { name: 'leave', path: leave('ben') },
  { name: 'leave-de', path: leave('ben'), language: 'de' },
  { name: 'left', path: leave('ben'), form: {} },
  { name: 'left-before', path: leave('ben') },
  { name: 'left-undone', path: `${leave('ben')}/undo`, form: {} },
  { name: 'leave-unknown', path: leave('unknown') },
  { name: 'embed', path: '/embed.js' },
  { name: 'mailbox', path: '/mailbox' },
  { name: 'mailbox-newer', path: '/mailbox?limit=1' },
  { name: 'mailbox-older', path: '/mailbox?limit=1&page=2' },
  { name: 'mailbox-mail', path: `/mailbox/${id('mailed-1')}` },
  { name: 'mailbox-mail-html', path: `/mailbox/${id('mailed-1')}/html` },
  { name: 'mailbox-text', path: `/mailbox/${id('mailed-2')}` },
  { name: 'mailbox-unknown', path: `/mailbox/${id('unknown')}` },
  { name: 'robots', path: '/robots.txt' },
];

const here = { incoming: { socket: { remoteAddress: '127.0.0.1' } } };
const framed = new Set([
  'nps-form',
  'nps-thanks',
  'personal-ar',
  'unknown',
  'leave',
  'mailbox',
  'mailbox-mail',
  'frame',
]);

for (const page of pages) {
  test(`the page ${page.name} is as it is kept`, async () => {
    const { path, language = 'en', form } = page;
    const isMailbox = path.startsWith('/mailbox');
    const url = `${isMailbox ? 'http://localhost' : 'https://askback.test'}${path}`;
    const answer = await app.request(
      url,
      {
        method: form ? 'POST' : 'GET',
        headers: { Accept: 'text/html', 'Accept-Language': language, Host: new URL(url).host },
        ...(form && { body: new URLSearchParams(form) }),
      },
      here,
    );
    assert.ok(answer.status < 500, `${path} answers ${answer.status}`);
    assert.notEqual(answer.status, 403, `${path} is refused`);
    const asked = `${form ? 'POST' : 'GET'} ${path} in ${language}`;
    const { lines, frame = [] } = await shownAnswer(asked, answer);
    // The frame of these pages is their sender's: it is kept with one page of each.
    const whole = framed.has(page.name) ? [...lines, 'within', ...frame] : lines;
    kept.compare(`${page.name}.txt`, whole.map(withNames));
  });
}

test('the pages without a survey are as they are kept', () => {
  const fields = { score: '7', comment: 'a <b>', topic: 'x' };
  const unsaved = notSavedPage(languageOf('en'), { action: '/s/token', fields });
  kept.compare('not-saved.txt', htmlLines(bodyOf(unsaved.html)));
  const troubles = ['notFound', 'tooManyRequests', 'tooLarge', 'refused', 'unavailable'] as const;
  const pages = troubles.map((why) => bodyOf(errorPage(why, languageOf('de')).html));
  kept.compare('troubles-de.txt', pages.flatMap(htmlLines));
});

test('the page of the API is as it is kept', () => {
  const { paths, ...document } = apiDocument(testSettings);
  const some = ['/api/v1/tags'].map((path) => [path, paths[path]]);
  const html = renderDocs({ ...document, paths: Object.fromEntries(some) }, 'https://ask.example');
  kept.compare('docs.txt', htmlLines(html.replace(/<style>[\s\S]*?<\/style>/g, '<style></style>')));
});

const bodyOf = (html: string) => /<main>[\s\S]*<\/main>/.exec(html)?.[0] ?? '';

test('every page that is kept is one of these', () => {
  assert.deepEqual(kept.left(), []);
});
