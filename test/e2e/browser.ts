import { mkdirSync } from 'node:fs';
import { after } from 'node:test';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** One browser per test file, closed at its end. */
export async function launchBrowser(): Promise<Browser> {
  const browser = await chromium.launch({ executablePath, args: quiet });
  after(() => browser.close());
  return browser;
}

export const phone: BrowserContextOptions = {
  viewport: { width: 360, height: 740 },
  hasTouch: true,
  isMobile: true,
};
export const desktop: BrowserContextOptions = { viewport: { width: 1024, height: 768 } };

/** Violations of axe on the current page, one per line. */
export async function violations(page: Page, rules?: string[]): Promise<string[]> {
  const resultTypes: axe.RunOptions['resultTypes'] = ['violations', 'incomplete'];
  const options: axe.RunOptions = rules ? { resultTypes, runOnly: rules } : { resultTypes };
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source);
  const found = await page.evaluate(async (chosen) => {
    const { axe } = globalThis as unknown as AxeWindow;
    const { violations, incomplete } = await axe.run(chosen);
    return { violations, incomplete };
  }, options);
  const unsure = found.incomplete
    .filter(({ id }) => id === 'color-contrast')
    // axe cannot judge text of a drawing, such as the monogram of an organization.
    .map((rule) => ({
      ...rule,
      nodes: rule.nodes.filter(({ html }) => !html.startsWith('<text ')),
    }));
  return [...found.violations, ...unsure].flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

type AxeWindow = { axe: { run: (options: axe.RunOptions) => Promise<axe.AxeResults> } };

const screenshots = '.cache/screenshots';

/**
 * Saves a screenshot of the whole page for people to look at. Chromium paints no frames outside the viewport, so a page
 * with frames gets a viewport of its own height.
 */
export async function keepScreenshot(page: Page, name: string) {
  mkdirSync(screenshots, { recursive: true });
  const path = `${screenshots}/${name}.png`;
  const viewport = page.viewportSize();
  if (!viewport || page.frames().length === 1) {
    await page.screenshot({ path, fullPage: true });
    return;
  }
  const height = (await page.evaluate('document.documentElement.scrollHeight')) as number;
  await page.setViewportSize({ width: viewport.width, height });
  await page.screenshot();
  await page.screenshot({ path });
  await page.setViewportSize(viewport);
}
