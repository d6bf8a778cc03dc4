import type { BrowserScene, ScreenEntry } from './screen-entry.ts';

const text = `From 1 October 2026 to 31 October 2026, Larkspur received 350 answers. The Net Promoter Score is +51, up 7 points from +44 in the period before.

Customers speak most of delivery and of the support. “The new dashboard saves me an hour a week” (promoter). “We were billed twice and it took three weeks to get an answer” (detractor).`;

/** The newest of two months, so that there is one to compare with. */
async function summaryPath({ db, full }: BrowserScene): Promise<string> {
  const [, row] = await db<{ id: string }[]>`
    insert into summaries (org_id, period_start, period_end, nps, previous_nps, responses, top_themes, text)
    values (${full.id}, '2026-09-01', '2026-10-01', 44, 40, 310, '{support,price}', 'Calm.'),
           (${full.id}, '2026-10-01', '2026-11-01', 51, 44, 350, '{delivery,support}', ${text})
    returning id`;
  return `/o/${full.slug}/summaries/${row!.id}`;
}

export const summaryEntries: readonly ScreenEntry[] = [
  { name: 'summaries-empty', as: 'viewer', path: ({ empty }) => `/o/${empty.slug}/summaries` },
  { name: 'summary-new', as: 'editor', path: ({ full }) => `/o/${full.slug}/summaries/new` },
  { name: 'summary', as: 'viewer', path: summaryPath },
  { name: 'summaries', as: 'editor', path: ({ full }) => `/o/${full.slug}/summaries` },
];
