/**
 * Who may open what. A number is the status that everybody gets, signed in or not; the words are the least that is
 * needed: `signed in` belongs to no organization, `viewer`, `editor` and `owner` to the organization of the path,
 * `operator` to the deployment. Every route of the app has a row.
 */
export type RouteAccess = number | 'signed in' | 'viewer' | 'editor' | 'owner' | 'operator';

/** The screens by which members come in. An empty form is posted, and a link that was never made is opened. */
const comingIn: Record<string, RouteAccess> = {
  'GET /assets/:file': 404,
  'GET /welcome/:token': 410,
  'POST /welcome/:token': 410,
  'GET /sign-in': 200,
  'POST /sign-in': 422,
  'POST /sign-out': 303,
  'GET /sign-in/code': 303,
  'POST /sign-in/code': 303,
  'POST /sign-in/passkey/options': 200,
  'POST /sign-in/passkey': 303,
  'GET /sign-in/oidc': 404,
  'GET /sign-in/oidc/callback': 404,
  'GET /forgot': 200,
  'POST /forgot': 422,
  'GET /forgot/sent': 200,
  'GET /reset/:token': 410,
  'POST /reset/:token': 410,
  'GET /invitations/:token': 410,
  'POST /invitations/:token': 410,
};

const account: Record<string, RouteAccess> = {
  'GET /account/prove': 'signed in',
  'POST /account/prove': 'signed in',
  'POST /account/prove/passkey': 'signed in',
  'GET /account/prove/oidc': 'signed in',
};

/** Below `/o/:slug`. */
const organization: Record<string, RouteAccess> = {
  'GET ': 'viewer',
  'GET /settings': 'viewer',

  'GET /surveys/:id/contacts': 'viewer',
  'POST /surveys/:id/contacts': 'editor',
  'POST /surveys/:id/contacts/uploads': 'editor',
  'GET /surveys/:id/contacts/uploads/:upload': 'editor',
  'POST /surveys/:id/contacts/uploads/:upload': 'editor',
  'GET /surveys/:id/send': 'viewer',
  'POST /surveys/:id/send': 'editor',
  'GET /surveys/:id/send/judgement.csv': 'viewer',
  'GET /surveys/:id/send/:campaign': 'viewer',
  'GET /surveys/:id/send/:campaign/results.csv': 'viewer',
  'POST /surveys/:id/send/:campaign/pause': 'editor',
  'POST /surveys/:id/send/:campaign/resume': 'editor',
  'GET /surveys/:id/send/:campaign/stop': 'editor',
  'POST /surveys/:id/send/:campaign/stop': 'editor',

  'GET /webhooks': 'viewer',
  'GET /webhooks/new': 'editor',
  'POST /webhooks': 'editor',
  'GET /webhooks/:id': 'viewer',
  'GET /webhooks/:id/deliveries/:delivery': 'viewer',
  'GET /webhooks/:id/edit': 'editor',
  'POST /webhooks/:id/edit': 'editor',
  'POST /webhooks/:id/test': 'editor',
  'POST /webhooks/:id/switch-off': 'editor',
  'POST /webhooks/:id/switch-on': 'editor',
  'GET /webhooks/:id/rotate-secret': 'editor',
  'POST /webhooks/:id/rotate-secret': 'editor',
  'GET /webhooks/:id/delete': 'editor',
  'POST /webhooks/:id/delete': 'editor',
  'POST /webhooks/:id/deliveries/:delivery/redeliver': 'editor',
  'GET /webhooks/:id/replay': 'editor',
  'POST /webhooks/:id/replay': 'editor',

  'GET /settings/general': 'viewer',
  'POST /settings/general': 'owner',
  'GET /settings/api-keys': 'owner',
  'GET /settings/api-keys/new': 'owner',
  'POST /settings/api-keys': 'owner',
  'GET /settings/api-keys/:id/revoke': 'owner',
  'POST /settings/api-keys/:id/revoke': 'owner',
  'GET /settings/members': 'owner',
  'POST /settings/members': 'owner',
  'GET /settings/members/:id/role': 'owner',
  'POST /settings/members/:id/role': 'owner',
  'GET /settings/members/:id/remove': 'owner',
  'POST /settings/members/:id/remove': 'owner',
  'GET /settings/members/invitations/:id/withdraw': 'owner',
  'POST /settings/members/invitations/:id/withdraw': 'owner',
  'GET /settings/tags': 'viewer',
  'POST /settings/tags': 'editor',
  'GET /settings/tags/:id': 'editor',
  'POST /settings/tags/:id': 'editor',
  'GET /settings/tags/:id/delete': 'editor',
  'POST /settings/tags/:id/delete': 'editor',
  'GET /settings/texts': 'owner',
  'POST /settings/texts': 'owner',
  'GET /settings/usage': 'viewer',
  'GET /settings/audit': 'owner',
  'GET /settings/audit/export': 'owner',
};

const below = Object.entries(organization).map(([route, access]) => [
  route.replace(' ', ' /o/:slug'),
  access,
]);

export const roleTable: Readonly<Record<string, RouteAccess>> = {
  ...comingIn,
  ...account,
  ...Object.fromEntries(below),
};
