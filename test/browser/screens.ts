import { accountEntries } from './account-screens.ts';
import { askingScreens } from './asking-screens.ts';
import { memberEntries } from './member-screens.ts';
import { responseEntries } from './response-screens.ts';
import type { BrowserScene, ScreenEntry } from './scene.ts';
import { settingsEntries } from './settings-screens.ts';
import { surveyScreens } from './survey-screens.ts';
import { webhookEntries } from './webhook-screens.ts';

const homeEntries: readonly ScreenEntry[] = [
  {
    name: 'home',
    as: 'viewer',
    async path(scene) {
      await addThemes(scene);
      return `/o/${scene.full.slug}`;
    },
  },
  {
    name: 'home-csat-year',
    as: 'editor',
    path: ({ full }) => `/o/${full.slug}?type=csat&period=365d`,
  },
  {
    name: 'home-one-survey-without-responses',
    as: 'editor',
    path: async ({ db, full }) => {
      const [survey] = await db<{ id: string }[]>`
        select id from surveys where org_id = ${full.id} order by created_at limit 1`;
      return `/o/${full.slug}?survey_id=${survey?.id}&date_from=2001-01-01&date_to=2001-03-31`;
    },
  },
  {
    name: 'home-mistake',
    as: 'editor',
    path: ({ full }) => `/o/${full.slug}?date_from=2026-05-02&date_to=2026-05-01`,
    status: 422,
  },
  {
    name: 'home-by-property',
    as: 'viewer',
    path: ({ full }) => `/o/${full.slug}?compare=plan&period=365d`,
  },
  {
    name: 'home-of-property',
    as: 'viewer',
    path: ({ full }) => `/o/${full.slug}?property.country=de&compare=`,
  },
  { name: 'home-first-steps', as: 'owner', path: ({ empty }) => `/o/${empty.slug}` },
  { name: 'home-first-steps-viewer', as: 'viewer', path: ({ empty }) => `/o/${empty.slug}` },
];

const text = `From 1 October 2026 to 31 October 2026, Larkspur Coffee received 350 responses. The Net Promoter Score is +51, no clear change from +44.

Customers speak most of delivery and of the support. “The new dashboard saves me an hour a week” (promoter). “We were billed twice and it took three weeks to get an answer” (detractor).`;

const change = { from: 44, by: 7, interval: { low: -4, high: 17.9 }, is_clear: false };
const blocks = [
  {
    type: 'nps',
    audience: 'customer',
    score: 51,
    interval: { low: 43.1, high: 58.2 },
    n: 310,
    change,
  },
  {
    type: 'star5',
    audience: 'customer',
    score: 4.31,
    interval: { low: 3.98, high: 4.64 },
    n: 40,
    change: null,
  },
];

/** Themes of comments, and some comments that are not analyzed. */
async function addThemes({ db, full }: BrowserScene) {
  const theme = (name: string, words: string) =>
    db`case when comment ~* ${words} then ${name}::text end`;
  await db`
    insert into analyses (org_id, response_id, sentiment, themes, provider)
    select org_id, id,
           case category when 'promoter' then 'positive' when 'passive' then 'neutral' else 'negative' end,
           array_remove(array[
             ${theme('delivery', 'deliver|liefer|livr|parcel|late|early|arriv')},
             ${theme('price', 'price|teuer|prix|expensive|cheap|worth|pay|bill')},
             ${theme('taste', 'coffee|kaffee|koffie|café|decaf|taste|roast|beans|fresh|vers|stale|flat')},
             ${theme('support', 'support|reply|answer|help|refund|team|voice|chat')},
             ${theme('subscription', 'subscri|cancel|gekündigt|pause|plan|box')},
             ${theme('app', '\\mapp\\M|website|page|account|email')}
           ], null), 'test'
    from responses
    where org_id = ${full.id} and comment is not null and held_reason is null
      and created_at < now() - interval '5 days'
    on conflict do nothing`;
}

async function themesPath(scene: BrowserScene): Promise<string> {
  const { full } = scene;
  await addThemes(scene);
  return `/o/${full.slug}/themes?period=365d`;
}

/** Path of the newer of two monthly summaries, which shows changes since the first. */
async function summaryPath({ db, full }: BrowserScene): Promise<string> {
  const [, row] = await db<{ id: string }[]>`
    insert into summaries (org_id, period_start, period_end, nps, previous_nps, blocks, responses, top_themes, text)
    values (${full.id}, '2026-09-01', '2026-10-01', 44, 40, ${db.json([{ ...blocks[0], score: 44, interval: { low: 35.6, high: 52 }, change: null }])}, 284, '{support,price}', 'Calm.'),
           (${full.id}, '2026-10-01', '2026-11-01', 51, 44, ${db.json(blocks)}, 350, '{delivery,support}', ${text})
    returning id`;
  return `/o/${full.slug}/summaries/${row!.id}`;
}

const summaryEntries: readonly ScreenEntry[] = [
  { name: 'themes-empty', as: 'viewer', path: ({ empty }) => `/o/${empty.slug}/themes` },
  { name: 'themes', as: 'viewer', path: themesPath },
  { name: 'summaries-empty', as: 'viewer', path: ({ empty }) => `/o/${empty.slug}/summaries` },
  { name: 'summary-new', as: 'editor', path: ({ full }) => `/o/${full.slug}/summaries/new` },
  { name: 'summary', as: 'viewer', path: summaryPath },
  { name: 'summaries', as: 'editor', path: ({ full }) => `/o/${full.slug}/summaries` },
];

/** All screens of the app. `screens.e2e.ts` visits each one. Each area keeps its list in its own file. */
export const screenEntries: readonly ScreenEntry[] = [
  ...homeEntries,
  {
    name: 'not-found',
    as: 'viewer',
    path: ({ full }) => `/o/${full.slug}/no-such-page`,
    status: 404,
  },
  ...askingScreens,
  ...responseEntries,
  ...settingsEntries,
  ...accountEntries,
  ...summaryEntries,
  ...webhookEntries,
  ...surveyScreens,
  ...memberEntries,
  { name: 'not-found-alone', as: null, path: '/welcome/no/such/page', status: 404 },
];
