import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../e2e/browser.ts';
import { checkKeyboard, checkLooks, checkWidth, openScreen } from './check.ts';
import type { ScreenEntry } from './scene.ts';
import { makeScene, signInBrowser } from './scene.ts';
import { screenEntries } from './screens.ts';

const [scene, browser] = [await makeScene(), await launchBrowser()];
const pages = new Map<string, Promise<Page>>();

type MainScreen = {
  heading: RegExp;
  /** A folded part to open first. */
  opens?: string;
  /** Text to type first, by the label of its field. */
  types?: Readonly<Record<string, string>>;
  /** The link or button that Enter activates, by name or selector. */
  press: { link: string } | { button: string } | { first: string };
  /** Text on the resulting page. */
  shows: RegExp;
};

/** The most important screens, each with its main action. */
const mainScreens: Readonly<Record<string, MainScreen>> = {
  home: {
    heading: /^Home$/,
    press: { first: 'figure + .reveal > summary' },
    shows: /^\w{3,4} \d{4}$|^Week of |^30 days to /,
  },
  responses: {
    heading: /^Responses$/,
    press: { first: '.messages .who a' },
    shows: /^(Response of .*|Response)$/,
  },
  response: { heading: /^Response/, press: { button: 'Mark as done' }, shows: /^Reopen$/ },
  survey: { heading: /Onboarding/, press: { link: 'Edit' }, shows: /^Follow-up questions$/ },
  'survey-edit': { heading: /Onboarding/, press: { button: 'Save' }, shows: / saved\.$/ },
  send: { heading: /./, press: { button: 'Send' }, shows: /^Campaign started\.$/ },
  campaign: { heading: /./, press: { button: 'Pause' }, shows: /^Campaign paused\.$/ },
  contacts: {
    heading: /./,
    opens: 'Add a contact',
    types: { Email: 'by-keyboard@people.test' },
    press: { button: 'Add' },
    shows: /^Contact added\.$/,
  },
  webhook: { heading: /./, press: { first: 'a[href$="/replay"]' }, shows: /^Replay/ },
  'settings-general': {
    heading: /^Settings$/,
    press: { button: 'Save' },
    shows: /^Settings saved\.$/,
  },
  'sign-in': {
    heading: /^Sign in$/,
    types: { Email: 'ann@people.test', Password: 'not the password' },
    press: { button: 'Sign in' },
    shows: /^Wrong email or password\./,
  },
  operator: {
    heading: /^Operator$/,
    press: { first: 'a[href="/operator/organizations/new"]' },
    shows: /^New organization$/,
  },
};

/** `SCREENS="home surveys" make e2e only=screens` selects screens by name, `SCREENS=smoke` the main ones. */
const words = (process.env['SCREENS'] ?? '').split(' ').filter((word) => word !== '');
const chosen = screenEntries.filter(
  ({ name }) =>
    words.length === 0 ||
    words.some((word) => (word === 'smoke' ? name in mainScreens : name.includes(word))),
);

test('every screen has a unique name', () => {
  const names = screenEntries.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
});

for (const entry of chosen) {
  test(`${entry.name} is small, accessible, and works by keyboard and without script`, async () => {
    const { name, path, status = 200 } = entry;
    const address = `${scene.base}${typeof path === 'string' ? path : await path(scene)}`;
    const page = await pageFor(entry, true);
    const loaded = await openScreen(page, address);
    assert.equal(loaded.status, status);
    await checkLooks(page, name);
    await checkKeyboard(page);
    // The browser reports a status of 400 or higher itself.
    const own = loaded.complaints.filter(
      (text) => status < 400 || !text.includes('Failed to load'),
    );
    assert.deepEqual(own, []);

    const plain = await pageFor(entry, false);
    await plain.setViewportSize({ width: 360, height: 900 });
    assert.equal((await plain.goto(address))?.status(), status);
    assert.equal(await plain.locator('h1').count(), 1);
    await checkWidth(plain, `${name} without script`);
    await checkMainAct(page, name);
  });
}

/** Runs last, because it changes the data of other checks. */
async function checkMainAct(page: Page, name: string) {
  const screen = mainScreens[name];
  if (!screen) return;
  const { heading, opens, types = {}, press, shows } = screen;
  assert.match(await page.locator('h1').innerText(), heading);
  if (opens) await page.locator('summary', { hasText: opens }).press('Enter');
  for (const [label, text] of Object.entries(types)) {
    await page.getByLabel(label, { exact: true }).focus();
    await page.keyboard.type(text);
  }
  const control =
    'link' in press
      ? page.getByRole('link', { name: press.link, exact: true })
      : 'button' in press
        ? page.getByRole('button', { name: press.button, exact: true })
        : page.locator(press.first);
  await control.first().focus();
  await page.keyboard.press('Enter');
  await page.getByText(shows).filter({ visible: true }).first().waitFor();
}

/** One page per reader, with and without script, reused for every screen. */
function pageFor({ as }: ScreenEntry, javaScriptEnabled: boolean): Promise<Page> {
  const key = `${as} ${javaScriptEnabled}`;
  const known = pages.get(key) ?? newPage(as, javaScriptEnabled);
  pages.set(key, known);
  return known;
}

async function newPage(as: ScreenEntry['as'], javaScriptEnabled: boolean): Promise<Page> {
  const context = await browser.newContext({ javaScriptEnabled, reducedMotion: 'reduce' });
  if (as) await signInBrowser(context, scene, as);
  return await context.newPage();
}
