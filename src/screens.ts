import { Hono } from 'hono';
import type { RequestEnv } from './lib/http/http.ts';
import { assetRoutes } from './web/app/asset-routes.ts';
import { guardForms } from './web/app/guard-forms.ts';

/** Where the screens of the app are: all else is the API, or pages for contacts. */
const appPaths = [
  ...['/sign-in', '/sign-out', '/forgot', '/account', '/operator', '/o'],
  ...['/reset', '/invitations', '/welcome'],
];

type ScreenTools = { publicUrl: string };

/** The table of contents of the app: what members see once they sign in, and how they come in. */
export function screens({ publicUrl }: ScreenTools) {
  const app = new Hono<RequestEnv>();
  for (const path of appPaths) app.use(`${path}/*`, guardForms(publicUrl));
  return app.route('/assets', assetRoutes());
}
