import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { keepScreenshot, violations } from '../e2e/browser.ts';

const widths = [360, 768, 1280];
const height = 900;
const largestPage = 60_000;
const largestScripts = 20_480;
const mostStops = 250;
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/**
 * axe cannot judge single letters or digits, such as a monogram or a score, text of a drawing, or clipped cells and
 * tabs of a part that scrolls. These are judged at widths that show them whole.
 */
const isUnsure = (line: string, isCutOff: boolean) =>
  line.includes('content is too short') || (isCutOff && line.includes('partially obscured'));
const somePartScrolls =
  "[...document.querySelectorAll('.scroll, .tabs, .segments')].some((part) => part.scrollWidth > part.clientWidth)";
/** Lets the list and the response of the inbox grow, because axe cannot judge rows that they clip. */
export const showWholeInbox = (page: Page, isWhole: boolean) =>
  page.evaluate(
    `document.querySelectorAll('.inbox').forEach(({ style }) => { style.flex = '${isWhole ? 'none' : ''}' })`,
  );
const inPage = readFileSync(new URL('in-page.js', import.meta.url), 'utf8');

export type LoadedScreen = { status: number; complaints: string[] };

/** Opens a screen and records what the browser reports, such as violations of the policy. */
export async function openScreen(page: Page, address: string): Promise<LoadedScreen> {
  const complaints: string[] = [];
  const scripts: Promise<number>[] = [];
  page.removeAllListeners();
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('requestfinished', (request) => {
    const isOurs = request.url().startsWith(new URL(address).origin);
    if (!isOurs && !request.url().startsWith('data:')) complaints.push(`asks ${request.url()}`);
    if (request.resourceType() === 'script') {
      scripts.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    }
  });
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: widths[0]!, height });
  const response = await page.goto(address);
  // Parts that load after the page.
  await page.locator('[hx-trigger=load], iframe.coming').waitFor({ state: 'detached' });
  const bytes = (await response?.body())?.byteLength ?? 0;
  assert.ok(bytes < largestPage, `the page has ${bytes} bytes`);
  const script = (await Promise.all(scripts)).reduce((sum, size) => sum + size, 0);
  assert.ok(script < largestScripts, `${script} bytes of script`);
  return { status: response?.status() ?? 0, complaints };
}

/**
 * Runs axe at every width, light and dark, and checks that the page never scrolls sideways. A field with an error may
 * scroll the page, and axe cannot judge text that the top bar covers. So axe runs from the top, and the field itself
 * must not be covered.
 */
export async function checkLooks(page: Page, name: string) {
  await page.evaluate(inPage);
  assert.equal(await page.evaluate('inPage.coveredFocus()'), null, `${name}: the focus is covered`);
  for (const width of widths) {
    await page.setViewportSize({ width, height });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate('scrollTo(0, 0)');
      await keepScreenshot(page, `app-${name}-${width}-${colorScheme}`);
      // Content and its order do not depend on dark mode.
      const chosen = colorScheme === 'dark' ? ['color-contrast'] : rules;
      await showWholeInbox(page, true);
      const isCutOff = (await page.evaluate(somePartScrolls)) === true;
      const found = (await violations(page, chosen)).filter((line) => !isUnsure(line, isCutOff));
      assert.deepEqual(found, [], `${name} at ${width}, ${colorScheme}`);
      await showWholeInbox(page, false);
    }
    await checkWidth(page, `${name} at ${width}`);
  }
}

export async function checkWidth(page: Page, what: string) {
  await page.evaluate(inPage);
  const found = (await page.evaluate('inPage.sideways()')) as {
    overflow: number;
    culprits: string[];
  };
  assert.equal(found.overflow, 0, `${what} scrolls sideways: ${found.culprits.join(' ')}`);
}

/** Tab reaches every interactive element, and each one shows its focus. */
export async function checkKeyboard(page: Page) {
  await page.evaluate(inPage);
  const expected = (await page.evaluate('inPage.watchFocus()')) as number;
  assert.ok(expected < mostStops, `${expected} stops are too many for one page`);
  for (let stop = 0; stop < expected + 3; stop++) await page.keyboard.press('Tab');
  assert.deepEqual(await page.evaluate('inPage.missedStops()'), []);
}
