import { Hono } from 'hono';
import { auditScreens } from './audit/screens.tsx';
import { repeatScreens } from './campaigns/screens/repeat.tsx';
import { campaignScreens } from './campaigns/screens/routes.tsx';
import { contactScreens } from './contacts/screens/contacts.tsx';
import { homeScreens } from './home/screens.tsx';
import { importScreens } from './importers/screens.tsx';
import { keyScreens } from './keys/screens.tsx';
import type { RequestEnv } from './lib/http/http.ts';
import type { Log } from './lib/log/log.ts';
import { createOidcProvider } from './lib/oidc/provider.ts';
import { accountScreens } from './members/screens/account.tsx';
import { invitationScreens, memberScreens } from './members/screens/members.tsx';
import { resetScreens, welcomeScreens } from './members/screens/reset.tsx';
import {
  codeScreens,
  oidcCallbackPath,
  oidcScreens,
  passkeyScreens,
  proveScreens,
  signInScreens,
} from './members/screens/sign-in.tsx';
import { notificationScreens } from './notifications/screens.tsx';
import { mailScreens } from './operations/mail-screens.tsx';
import { type OperatorTools, operatorScreens } from './operations/operator/screens.tsx';
import { generalScreens, textScreens } from './organizations/screens/general.tsx';
import { settingsOverview } from './organizations/screens/overview.tsx';
import { usageScreens } from './organizations/screens/usage.tsx';
import type { ErasureFile } from './people/receipts-file.ts';
import { peopleScreens } from './people/screens/people.tsx';
import { questionScreens } from './questions/screens.tsx';
import { cannedTextScreens } from './replies/screens.tsx';
import type { Excerpt } from './responses/events.ts';
import { responseScreens } from './responses/screens/routes.tsx';
import { previewScreens } from './sends/screens/preview.tsx';
import type { SendProgress } from './sends/send.ts';
import { inOrganization, type ScreenEnv } from './sessions/session.ts';
import type { SignInSettings } from './settings.ts';
import { summaryScreens } from './summaries/screens.tsx';
import { themeScreens } from './summaries/theme-screens.tsx';
import { surveyScreens } from './surveys/screens/routes.tsx';
import { tagScreens } from './tags/screens.tsx';
import { assetRoutes } from './web/app/assets.ts';
import { guardForms } from './web/app/forms.tsx';
import { settingPath } from './web/app/settings-screen.tsx';
import type { WebhookTools } from './webhooks/api.ts';
import { webhookScreens } from './webhooks/screens/routes.tsx';

/** Paths of the app. All others are the API or pages for respondents. */
const appPaths = [
  '/sign-in',
  '/sign-out',
  '/forgot',
  '/account',
  '/operator',
  '/o',
  '/reset',
  '/invitations',
  '/welcome',
  '/notifications',
];

export type ScreenTools = WebhookTools &
  OperatorTools & {
    log: Log;
    erasureFile: ErasureFile;
    excerpt: Excerpt;
    progress: Pick<SendProgress, 'watch'>;
    settings: { signIn: SignInSettings; sendDeadlineSeconds: number };
  };

/** All screens of the app. */
export function screens(tools: ScreenTools) {
  const app = new Hono<RequestEnv>();
  for (const path of appPaths) app.use(`${path}/*`, guardForms(tools.publicUrl));
  const { oidc } = tools.settings.signIn;
  if (oidc) {
    const redirectUri = `${tools.publicUrl}${oidcCallbackPath}`;
    const provider = createOidcProvider({ ...oidc, redirectUri });
    app.route('/', oidcScreens({ ...tools, provider, rules: oidc }));
  }
  return app
    .route('/assets', assetRoutes())
    .route('/', welcomeScreens(tools))
    .route('/', signInScreens(tools))
    .route('/', codeScreens(tools))
    .route('/', passkeyScreens(tools))
    .route('/', proveScreens(tools))
    .route('/account', accountScreens(tools))
    .route('/', resetScreens(tools))
    .route('/', invitationScreens(tools))
    .route('/operator', operatorScreens(tools))
    .route('/o/:slug', organizationScreens(tools));
}

const organizationScreens = (tools: ScreenTools) =>
  new Hono<ScreenEnv>()
    .use(inOrganization(tools))
    .route('/', homeScreens(tools))
    .get('/settings', (c) => c.redirect(settingPath(c.var.organization, 'general'), 303))
    .route('/settings/overview', settingsOverview(tools))
    .route('/surveys', previewScreens(tools))
    .route('/surveys', questionScreens(tools))
    .route('/surveys', surveyScreens(tools))
    .route('/surveys', contactScreens(tools))
    .route('/surveys', campaignScreens(tools))
    .route('/surveys', repeatScreens(tools))
    .route('/settings/general', generalScreens(tools))
    .route('/settings/api-keys', keyScreens(tools))
    .route('/settings/members', memberScreens(tools))
    .route('/settings/mail', mailScreens(tools))
    .route('/settings/import', importScreens(tools))
    .route('/settings/tags', tagScreens(tools))
    .route('/settings/texts', textScreens(tools))
    .route('/settings/canned-texts', cannedTextScreens(tools))
    .route('/settings/notifications', notificationScreens(tools))
    .route('/settings/usage', usageScreens(tools))
    .route('/settings/audit', auditScreens(tools))
    .route('/responses', responseScreens(tools))
    .route('/people', peopleScreens(tools))
    .route('/themes', themeScreens(tools))
    .route('/summaries', summaryScreens(tools))
    .route('/webhooks', webhookScreens(tools));
