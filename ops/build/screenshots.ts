import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** Fills and serves a temporary demo, and takes the screenshots of README and documents from it. */
const target = 'ops/pictures';
const desktop: BrowserContextOptions = { viewport: { width: 1280, height: 800 } };
const phone: BrowserContextOptions = { viewport: { width: 390, height: 780 }, isMobile: true };
const maxAnalysisSeconds = 300;
const summaries = 11;
/** The preview in the editor loads after the page. */
const previewMs = 2000;

type Demo = {
  address: string;
  share_url: string;
  sign_in: { email: string; password: string };
  read_key: string;
};

const folder = mkdtempSync(join(tmpdir(), 'askback-pictures-'));
const environment = {
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  ASKBACK_DATA_DIR: folder,
  PORT: String(await freePort()),
  LOG_LEVEL: 'warn',
};
const program = ['--import', 'tsx', 'src/main.ts'];

const stdout = execFileSync(process.execPath, [...program, 'demo', '--json'], { env: environment });
const demo = JSON.parse(stdout.toString()) as Demo;
const service = spawn(process.execPath, [...program, 'serve'], {
  env: environment,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
try {
  await once(createInterface(service.stdout!), 'line');
  await waitForSummaries();
  await takePictures();
} finally {
  await browser.close();
  service.kill('SIGTERM');
  await once(service, 'exit');
  rmSync(folder, { recursive: true, force: true });
}

async function takePictures() {
  const light = await signedIn({ ...desktop, colorScheme: 'light' });
  const dark = await signedIn({ ...desktop, colorScheme: 'dark' });
  const small = await signedIn({ ...phone, colorScheme: 'light' });
  const home = new URL(light.url()).pathname;
  const [loyalty] = await read<{ id: string; name: string }>('surveys?limit=100', ({ name }) =>
    name.startsWith('Customer'),
  );
  const survey = `${home}/surveys/${loyalty!.id}`;
  const replied = await findReplied();
  const [summary] = await read<{ id: string }>('summaries?limit=1');
  await take(light, 'home', `${home}?period=365d`);
  await take(dark, 'home-dark', `${home}?period=365d`);
  await take(small, 'home-phone', `${home}?period=365d`);
  await take(light, 'inbox', `${home}/responses?has_comment=true`);
  await take(light, 'response', `${home}/responses/${replied}`);
  await take(light, 'themes', `${home}/themes?period=365d`);
  await take(light, 'survey', `${survey}?period=365d`);
  await take(light, 'editor', `${survey}/edit`);
  await take(light, 'campaign', await firstLink(light, `${survey}/send`, /\/send\/[\da-f]{8}-/));
  await take(
    dark,
    'webhook-dark',
    await firstLink(dark, `${home}/webhooks`, /\/webhooks\/[\da-f]/),
  );
  await take(dark, 'summary-dark', `${home}/summaries/${summary!.id}`);
  await take(small, 'survey-page-phone', new URL(demo.share_url).pathname);
}

async function signedIn(options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({ ...options, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(demo.address);
  await page.getByLabel('Email').fill(demo.sign_in.email);
  await page.getByLabel('Password').fill(demo.sign_in.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(/\/o\//);
  return page;
}

/** Playwright cannot write WebP, which takes a third of the space of PNG. */
async function take(page: Page, name: string, path: string) {
  await page.goto(`${demo.address}${path}`, { waitUntil: 'networkidle' });
  await sleep(previewMs);
  const devtools = await page.context().newCDPSession(page);
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: 85 });
  mkdirSync(target, { recursive: true });
  const picture = Buffer.from(data, 'base64');
  writeFileSync(join(target, `${name}.webp`), picture);
  console.log(`${target}/${name}.webp ${Math.round(picture.length / 1024)} KB`);
}

async function firstLink(page: Page, path: string, pattern: RegExp): Promise<string> {
  await page.goto(`${demo.address}${path}`);
  const paths = await page
    .locator('main a')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
  const found = paths.find((each) => pattern.test(each) && !each.endsWith('/new'));
  if (!found) throw new Error(`${path} has no link like ${pattern}: ${paths.join(' ')}`);
  return found;
}

async function read<T>(path: string, matches: (row: T) => boolean = () => true): Promise<T[]> {
  const answer = await fetch(`${demo.address}/api/v1/${path}`, {
    headers: { 'X-API-Key': demo.read_key },
  });
  return ((await answer.json()) as { data: T[] }).data.filter(matches);
}

/** A complaint with a note and a reply, which lists leave out. */
async function findReplied(): Promise<string> {
  const commented = await read<{ id: string; comment: string | null }>(
    'responses?category=detractor&state=done&limit=100',
    ({ comment }) => comment !== null,
  );
  for (const { id } of commented) {
    const answer = await fetch(`${demo.address}/api/v1/responses/${id}`, {
      headers: { 'X-API-Key': demo.read_key },
    });
    const { data } = (await answer.json()) as { data: { replies: unknown[]; notes: unknown[] } };
    if (data.replies.length > 0 && data.notes.length > 0) return id;
  }
  throw new Error('no response of the demo has a note and a reply');
}

/** The service analyzes all comments before it writes the last summary. */
async function waitForSummaries() {
  for (let seconds = 0; seconds < maxAnalysisSeconds; seconds += 2) {
    if ((await read('summaries?limit=100')).length >= summaries) return;
    await sleep(2000);
  }
  throw new Error(`no ${summaries} summaries after ${maxAnalysisSeconds} s`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
