import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { launchBrowser, violations } from '../e2e/browser.ts';
import { showWholeInbox } from './check.ts';
import { makeScene, signInBrowser } from './scene.ts';

const [scene, browser] = [await makeScene(), await launchBrowser()];
const list = `${scene.base}/o/${scene.full.slug}/responses`;
const wide = { viewport: { width: 1440, height: 900 } };

/** The list of responses as an editor sees it on a wide screen. */
async function open(query = '', over: { javaScriptEnabled?: boolean } = {}): Promise<Page> {
  const context = await browser.newContext({ ...wide, ...over });
  context.setDefaultTimeout(8000);
  await signInBrowser(context, scene, 'editor');
  const page = await context.newPage();
  await page.goto(`${list}${query}`);
  return page;
}

const row = (page: Page, at: number) => page.locator('.messages .who a').nth(at);
const addressOf = async (page: Page, at: number) =>
  `${scene.base}${await row(page, at).getAttribute('href')}`;
const pane = (page: Page) => page.locator('.inbox > #answer');
const focused = (page: Page) => page.locator(':focus');
/** Waits until the pane shows the response of this row and the URL names it. */
const isShown = async (page: Page, at: number) => {
  await page.waitForURL(await addressOf(page, at));
  await pane(page)
    .getByRole('heading', { level: 2, name: (await row(page, at).textContent())! })
    .waitFor();
  await page.locator('.messages li').nth(at).locator('a[aria-current=true]').waitFor();
};
const countOf = async (page: Page) =>
  Number(/^\d+/.exec((await page.locator('#found h2').textContent()) ?? '')?.[0]);
/** Waits until the list has this number of responses. */
const hasCount = (page: Page, count: number) =>
  page.locator('#found h2').getByText(`${count} responses`, { exact: true }).waitFor();

/** Waits until the pane shows the response of this row, whatever the URL names. */
const isInPane = async (page: Page, at: number) =>
  await page
    .locator(`#answer[data-address="${await row(page, at).getAttribute('href')}"]`)
    .waitFor();

test('the inbox opens the first response, and others by their own URL', async () => {
  const page = await open('?category=detractor');
  await isInPane(page, 0);
  assert.equal(page.url(), `${list}?category=detractor`);
  const kept = await page.locator('.messages').elementHandle();
  await row(page, 1).click();
  await isShown(page, 1);
  assert.match(page.url(), /category=detractor$/);
  await row(page, 3).click();
  await isShown(page, 3);
  assert.match(await page.title(), /^Response of /);
  await page.goBack();
  await isShown(page, 1);
  await page.goBack();
  await isInPane(page, 0);
  assert.equal(page.url(), `${list}?category=detractor`);
  await page.goForward();
  await isShown(page, 1);
  assert.ok(await kept?.evaluate((element) => element.isConnected), 'the list was loaded again');
});

test('single-key shortcuts work outside fields and can be turned off', async () => {
  const page = await open('?category=passive');
  await page.keyboard.press('j');
  await isShown(page, 1);
  await page.keyboard.press('a');
  await pane(page).getByText('Owner: Lena Dahl').waitFor();
  await page.keyboard.press('e');
  await pane(page).getByRole('button', { name: 'Reopen' }).waitFor();
  await page.keyboard.press('n');
  assert.equal(await focused(page).getAttribute('name'), 'text');
  await page.keyboard.type('keja');
  assert.equal(await pane(page).getByLabel('Note').inputValue(), 'keja');
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await page.getByText('Show these shortcuts').waitFor();
  await page.getByLabel('Turn on single-key shortcuts').uncheck();
  await row(page, 1).focus();
  await page.keyboard.press('/');
  assert.notEqual(await focused(page).getAttribute('name'), 'search');
  await page.reload();
  assert.equal(await page.locator('#use-keys').isChecked(), false);
  await page.locator('.keys summary').click();
  await page.getByLabel('Turn on single-key shortcuts').check();
  await row(page, 1).focus();
  await page.keyboard.press('/');
  assert.equal(await focused(page).getAttribute('name'), 'search');
});

test('a filter shows its first response, its chip and its saved view', async () => {
  const page = await open();
  await page.getByText('Filter', { exact: true }).click();
  await page.getByLabel('Category').selectOption('detractor');
  await page.getByLabel('State', { exact: true }).first().selectOption('open');
  await page.getByRole('link', { name: 'Remove the filter State: Open' }).waitFor();
  await page.waitForURL(/category=detractor&state=open/);
  await isInPane(page, 0);
  await page.getByRole('link', { name: 'Remove the filter State: Open' }).click();
  await page.waitForURL(`${list}?category=detractor`);
  await page.getByText('Save view').first().click();
  await page.getByLabel('Name', { exact: true }).fill('All detractors');
  await page.getByRole('button', { name: 'Save view' }).click();
  await page.locator('.views [aria-current=page]').getByText('All detractors').waitFor();
  await page.getByRole('link', { name: 'Clear' }).click();
  await page.waitForURL(list);
});

test('keys move through the list, Enter opens and Escape returns', async () => {
  const page = await open();
  await row(page, 0).click();
  await isShown(page, 0);
  for (const [key, at] of [
    ['j', 1],
    ['ArrowDown', 2],
    ['k', 1],
    ['ArrowUp', 0],
  ] as const) {
    await page.keyboard.press(key);
    await isShown(page, at);
    assert.equal(
      await focused(page).getAttribute('href'),
      await row(page, at).getAttribute('href'),
    );
  }
  await page.keyboard.press('Enter');
  assert.equal(await focused(page).getAttribute('id'), 'answer');
  assert.equal(await pane(page).getAttribute('aria-labelledby'), 'answer-who');
  await page.keyboard.press('ArrowRight');
  await isShown(page, 1);
  await page.locator('#answer:focus').waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await focused(page).getAttribute('href'), await row(page, 1).getAttribute('href'));
});

test('keys beyond the last row open the next page of the list', async () => {
  const page = await open();
  const last = (await page.locator('.messages > li').count()) - 1;
  await row(page, last).click();
  await isShown(page, last);
  await page.keyboard.press('j');
  await page.waitForURL(/page=2/);
  await isShown(page, 0);
  await page.keyboard.press('k');
  await page.waitForURL(/page=1/);
  await isShown(page, last);
});

test('actions in the pane update the list and keep the selection', async () => {
  const page = await open('?state=open');
  const before = await countOf(page);
  await row(page, 1).click();
  await isShown(page, 1);
  const ticked = await addressOf(page, 4);
  await page.locator('.messages input').nth(4).check();
  await pane(page).getByRole('button', { name: 'Assign to me' }).click();
  await page.locator('.messages li').nth(1).getByText('Owner: Lena Dahl').waitFor();
  await pane(page).getByRole('button', { name: 'Mark as done' }).click();
  await pane(page).getByText('Response saved.').waitFor();
  await pane(page).getByRole('button', { name: 'Reopen' }).waitFor();
  await hasCount(page, before - 1);
  const chosen = page.locator('.messages li:has(:checked) a');
  assert.equal(`${scene.base}${await chosen.getAttribute('href')}`, ticked);
  await page.keyboard.press('ArrowRight');
  await isShown(page, 1);
});

test('deleting a response in the pane focuses the next row', async () => {
  const page = await open('?category=promoter');
  const before = await countOf(page);
  await row(page, 2).click();
  await isShown(page, 2);
  const next = await row(page, 3).getAttribute('href');
  await pane(page).getByLabel('More actions').click();
  await pane(page).getByRole('link', { name: 'Delete' }).click();
  await pane(page)
    .getByRole('heading', { name: /^Delete the response of/ })
    .waitFor();
  await pane(page).getByRole('button', { name: 'Delete' }).click();
  await hasCount(page, before - 1);
  await page.locator(`:focus[href="${next}"]`).waitFor();
  await page.locator(`#answer[data-address="${next}"]`).waitFor();
  assert.equal(page.url(), `${list}?category=promoter`);
});

test('an unsaved note survives actions, filters and other responses', async () => {
  const page = await open();
  await row(page, 5).click();
  await isShown(page, 5);
  const path = new URL(page.url()).pathname;
  const note = pane(page).getByLabel('Note');
  await note.fill('Called them, they want');
  await pane(page).getByRole('button', { name: 'Mark as done' }).click();
  await pane(page).getByText('Response saved.').waitFor();
  assert.equal(await note.inputValue(), 'Called them, they want');
  await note.fill('Called them, they want a discount');
  await page.getByText('Filter', { exact: true }).click();
  await page.getByLabel('State', { exact: true }).first().selectOption('done');
  await page.waitForURL(`${scene.base}${path}?state=done`);
  assert.equal(await note.inputValue(), 'Called them, they want a discount');
  await page.getByLabel('State', { exact: true }).first().selectOption('');
  await page.waitForURL(`${scene.base}${path}`);
  await note.fill('Called them, they want a call');
  await row(page, 4).click();
  await isShown(page, 4);
  assert.equal(await note.inputValue(), '');
  await row(page, 5).click();
  await isShown(page, 5);
  assert.equal(await note.inputValue(), 'Called them, they want a call');
  await pane(page).getByRole('button', { name: 'Add note' }).click();
  await pane(page).getByText('Note added.').waitFor();
  assert.equal(await note.inputValue(), '');
});

test('a failed action shows a message and keeps the typed text', async () => {
  const page = await open();
  await row(page, 0).click();
  await isShown(page, 0);
  await pane(page).getByLabel('Note').fill('Called them');
  await page.route('**/notes*', (route) => route.abort());
  await pane(page).getByRole('button', { name: 'Add note' }).click();
  await pane(page).getByRole('alert').getByText('the service cannot be reached').waitFor();
  assert.equal(await pane(page).getByLabel('Note').inputValue(), 'Called them');
  await page.unroute('**/notes*');
  await scene.db`delete from sessions`;
  await pane(page).getByRole('button', { name: 'Add note' }).click();
  await pane(page).getByRole('button', { name: 'Send again' }).waitFor();
  await pane(page).getByText('Called them').waitFor();
});

test('an action on selected responses refreshes the open one', async () => {
  const page = await open('?category=passive');
  await row(page, 0).click();
  await isShown(page, 0);
  await page.locator('.messages input').nth(0).check();
  await page.getByRole('button', { name: 'Mark as done (selected)' }).click();
  await page.getByText('1 response marked as done.').first().waitFor();
  await pane(page).getByRole('button', { name: 'Reopen' }).waitFor();
  await isShown(page, 0);
});

test('a response URL shows it beside its list, or alone on narrow screens', async () => {
  const page = await open('?category=detractor');
  const address = await addressOf(page, 2);
  await page.goto(address);
  await isShown(page, 2);
  await page.setViewportSize({ width: 390, height: 800 });
  await page.getByRole('link', { name: 'Back to the list' }).click();
  await page.waitForURL(`${list}?category=detractor`);
  assert.equal(await page.locator('.messages').isVisible(), true);
  assert.equal(await pane(page).isVisible(), false);
  await row(page, 2).click();
  await page.waitForURL(address);
  assert.equal(await page.locator('.messages').isVisible(), false);
  await page.setViewportSize(wide.viewport);
  await isShown(page, 2);
});

test('a response in the pane is accessible, light and dark', async () => {
  const page = await open();
  await row(page, 0).click();
  await isShown(page, 0);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await showWholeInbox(page, true);
    const found = await violations(page);
    assert.deepEqual(
      found.filter((line) => !line.includes('content is too short')),
      [],
    );
  }
});

test('the printed list has no checkboxes', async () => {
  const page = await open();
  await page.emulateMedia({ media: 'print' });
  assert.ok(await row(page, 0).isVisible());
  assert.equal(await page.locator('.messages label').first().isVisible(), false);
});

test('without script, a row opens its response beside the list', async () => {
  const page = await open('', { javaScriptEnabled: false });
  const address = await addressOf(page, 1);
  await row(page, 1).click();
  await page.waitForURL(address);
  await isShown(page, 1);
  await pane(page).getByRole('button', { name: 'Assign to me' }).click();
  await page.getByText('Response saved.').waitFor();
  await page.locator('.messages > li').nth(1).getByText('Owner: Lena Dahl').waitFor();
});
