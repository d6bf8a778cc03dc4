import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { desktop, launchBrowser, phone } from '../e2e/browser.ts';
import { makeContact, makeResponse } from '../support/make/rows.ts';
import { makeScene, signInBrowser } from './scene.ts';

const [scene, browser] = [await makeScene(), await launchBrowser()];
const { db, full } = scene;
const home = `${scene.base}/o/${full.slug}`;

const name = 'Wolfeschlegelsteinhausenbergerdorffwelchevoralternwarengewissenhaftschaferswessen';
const comment = `First paragraph.\n\nSecond paragraph.\n${'A long line of words. '.repeat(40)}`;

/** Adds the newest response, by a contact whose name is one long word. */
async function makeLongResponse(): Promise<string> {
  const [survey] = await db<{ id: string }[]>`
    select id
    from surveys
    where org_id = ${full.id} and type = 'nps' and audience is null
    limit 1`;
  const of = { org_id: full.id, survey_id: survey!.id };
  const contact_id = await makeContact(db, of, { name, status: 'responded' });
  return await makeResponse(db, of, { contact_id, comment });
}

const long = await makeLongResponse();

async function open(path: string, options: Parameters<typeof browser.newContext>[0]) {
  const context = await browser.newContext(options);
  await signInBrowser(context, scene, 'editor');
  const page = await context.newPage();
  await page.goto(`${home}${path}`);
  return page;
}

const beyondEdge = async (page: Page) =>
  await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );

const linesOf = async (page: Page, selector: string) => {
  const words = JSON.stringify(selector);
  return await page.evaluate(`Math.round(document.querySelector(${words}).clientHeight /
    parseFloat(getComputedStyle(document.querySelector(${words})).lineHeight))`);
};

for (const [width, options] of [['desktop', desktop] as const, ['phone', phone] as const]) {
  test(`a name of one long word does not overflow a ${width}`, async () => {
    for (const path of ['', '/responses', `/responses/${long}`]) {
      const page = await open(path, options);
      await page.getByText(name).filter({ visible: true }).first().waitFor();
      assert.equal(await beyondEdge(page), 0, `Home${path}`);
    }
  });
}

test('a long comment is clamped on Home and in the inbox', async () => {
  const lines = async (path: string) => await linesOf(await open(path, desktop), '.rows .clamp');
  assert.deepEqual([await lines(''), await lines('/responses')], [2, 2]);
  const page = await open(`/responses/${long}`, desktop);
  const shown = await page.locator('blockquote').innerText();
  assert.match(shown, /First paragraph\.\n\nSecond paragraph\.\nA long line/);
});
