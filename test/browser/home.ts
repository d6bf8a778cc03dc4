import type { ScreenEntry } from './screen-entry.ts';

export const homeEntries: readonly ScreenEntry[] = [
  { name: 'home', as: 'viewer', path: ({ full }) => `/o/${full.slug}` },
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
    name: 'home-property-mistake',
    as: 'viewer',
    path: ({ full }) => `/o/${full.slug}?property.country=de&property=plan&compare=`,
    status: 422,
  },
  { name: 'home-first-steps', as: 'owner', path: ({ empty }) => `/o/${empty.slug}` },
  { name: 'home-first-steps-viewer', as: 'viewer', path: ({ empty }) => `/o/${empty.slug}` },
];
