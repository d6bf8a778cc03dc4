import type { RouteAct } from './route-acts.ts';

const byItsTests = 'leaves the acts of a member, which the tests of the members room look at';
const proof = 'a proof or a look-up: what follows from it is session.started';

/** Routes whose acts need more than a form: another test takes them. */
export const otherRouteActs: Readonly<Record<string, RouteAct>> = {
  'POST /welcome/:token': { none: byItsTests },
  'POST /sign-in': { none: byItsTests },
  'POST /sign-out': { none: byItsTests },
  'POST /sign-in/code': { none: byItsTests },
  'POST /sign-in/passkey/options': { none: proof },
  'POST /sign-in/passkey': { none: byItsTests },
  'POST /account/prove/passkey': { none: proof },
  'POST /account/prove': { none: proof },
  'POST /forgot': { none: 'the answer is the same whatever the address, and so is its trace' },
  'POST /reset/:token': { none: byItsTests },
  'POST /invitations/:token': { none: byItsTests },
  'POST /o/:slug/settings/members': { none: byItsTests },
  'POST /o/:slug/settings/members/:id/role': { none: byItsTests },
  'POST /o/:slug/settings/members/:id/remove': { none: byItsTests },
  'POST /o/:slug/settings/members/invitations/:id/withdraw': { none: byItsTests },
  'POST /o/:slug/surveys/:id/contacts': { sameAs: 'POST /api/v1/contacts' },
  'POST /o/:slug/surveys/:id/contacts/uploads': {
    none: 'an upload is only looked at; taking it over is the act',
  },
  'POST /o/:slug/surveys/:id/contacts/uploads/:upload': {
    none: 'contacts.imported, looked at by the tests of the upload',
  },
  'POST /o/:slug/surveys/:id/send': { sameAs: 'POST /api/v1/surveys/:id/campaigns' },
  'POST /o/:slug/surveys/:id/send/:campaign/pause': {
    sameAs: 'POST /api/v1/campaigns/:id/pause',
  },
  'POST /o/:slug/surveys/:id/send/:campaign/resume': {
    sameAs: 'POST /api/v1/campaigns/:id/resume',
  },
  'POST /o/:slug/surveys/:id/send/:campaign/stop': { sameAs: 'POST /api/v1/campaigns/:id/stop' },
  'POST /o/:slug/surveys/preview': { none: 'shows what was typed, and stores nothing' },
  'POST /o/:slug/surveys': { sameAs: 'POST /api/v1/surveys' },
  'POST /o/:slug/surveys/:id/edit': { sameAs: 'PATCH /api/v1/surveys/:id' },
  'POST /o/:slug/surveys/:id/open': { sameAs: 'POST /api/v1/surveys/:id/open' },
  'POST /o/:slug/surveys/:id/reopen': { sameAs: 'POST /api/v1/surveys/:id/reopen' },
  'POST /o/:slug/surveys/:id/close': { sameAs: 'POST /api/v1/surveys/:id/close' },
  'POST /o/:slug/surveys/:id/copy': { sameAs: 'POST /api/v1/surveys/:id/copy' },
  'POST /o/:slug/surveys/:id/delete': { sameAs: 'DELETE /api/v1/surveys/:id' },
  'POST /o/:slug/responses/tags': { none: 'responses.tagged, looked at by the tests of the inbox' },
  'POST /o/:slug/responses/:id': { sameAs: 'PATCH /api/v1/responses/:id' },
  'POST /o/:slug/responses/:id/tags': { sameAs: 'PUT /api/v1/responses/:id/tags' },
  'POST /o/:slug/responses/:id/notes': { sameAs: 'POST /api/v1/responses/:id/notes' },
  'POST /o/:slug/responses/:id/release': { sameAs: 'POST /api/v1/responses/:id/release' },
  'POST /o/:slug/responses/:id/delete': { sameAs: 'DELETE /api/v1/responses/:id' },
  'POST /o/:slug/webhooks': { sameAs: 'POST /api/webhooks' },
  'POST /o/:slug/webhooks/:id/edit': { sameAs: 'PUT /api/webhooks/:id' },
  'POST /o/:slug/webhooks/:id/switch-off': { sameAs: 'PUT /api/webhooks/:id' },
  'POST /o/:slug/webhooks/:id/switch-on': { sameAs: 'PUT /api/webhooks/:id' },
  'POST /o/:slug/webhooks/:id/test': { sameAs: 'POST /api/webhooks/:id/test' },
  'POST /o/:slug/webhooks/:id/rotate-secret': { sameAs: 'POST /api/webhooks/:id/rotate-secret' },
  'POST /o/:slug/webhooks/:id/delete': { sameAs: 'DELETE /api/webhooks/:id' },
  'POST /o/:slug/webhooks/:id/deliveries/:delivery/redeliver': {
    sameAs: 'POST /api/webhooks/:id/deliveries/:delivery_id/redeliver',
  },
  'POST /o/:slug/webhooks/:id/replay': { sameAs: 'POST /api/webhooks/:id/replay' },
};
