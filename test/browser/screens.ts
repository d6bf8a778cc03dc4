import { accountEntries } from './account-screens.ts';
import { askingScreens } from './asking-screens.ts';
import { homeEntries } from './home.ts';
import { memberEntries } from './member-screens.ts';
import { responseEntries } from './response-screens.ts';
import type { ScreenEntry } from './screen-entry.ts';
import { settingsEntries } from './settings-screens.ts';
import { summaryEntries } from './summary-screens.ts';
import { surveyScreens } from './survey-screens.ts';
import { webhookEntries } from './webhook-screens.ts';

/** Every screen of the app, room by room: `screens.e2e.ts` visits each. A room keeps its list in a file of its own. */
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
