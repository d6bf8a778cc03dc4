import { randomUUID } from 'node:crypto';
import { type Act, commandWriter } from '../../src/audit/acts.ts';
import { createKey } from '../../src/keys/manage.ts';
import type { Db } from '../../src/lib/db/db.ts';
import { savePeople } from '../../src/people/save.ts';
import { createCannedText } from '../../src/replies/canned-texts.ts';
import { createTag } from '../../src/tags/tags.ts';
import { addDeliveries } from '../support/make/delivery-rows.ts';
import { makeContact, makeResponse, makeSurvey, makeWebhook } from '../support/make/rows.ts';

/** An organization with its write key and the browser of its owner. */
export type ActScene = {
  db: Db;
  orgId: string;
  api: (method: string, path: string, body?: unknown) => Promise<Response>;
  post: (path: string, form?: Record<string, string>) => Promise<Response>;
  home: string;
  settings: string;
  survey: (over?: Record<string, unknown>) => Promise<string>;
  contact: (survey: string) => Promise<string>;
  response: (over?: Record<string, unknown>) => Promise<string>;
  /** Has a real secret, so that it can sign. */
  webhook: () => Promise<string>;
  tag: () => Promise<string>;
  campaign: () => Promise<string>;
};

/** The call of a route with the act that it records, or the reason why it records none. */
export type RouteAct =
  | { act: Act; call: (scene: ActScene) => Promise<Response> }
  | { none: string };

const onSurvey = (act: Act, word: string, over: object = {}): RouteAct => ({
  act,
  call: async ({ api, survey }) =>
    await api('POST', `/v1/surveys/${await survey({ ...over })}/${word}`),
});

const onCampaign = (act: Act, word: string): RouteAct => ({
  act,
  call: async ({ api, campaign }) => {
    const id = await campaign();
    if (word === 'resume') await api('POST', `/v1/campaigns/${id}/pause`);
    return await api('POST', `/v1/campaigns/${id}/${word}`);
  },
});

const onWebhook = (act: Act, method: string, rest = '', body?: object): RouteAct => ({
  act,
  call: async ({ api, webhook }) => await api(method, `/webhooks/${await webhook()}${rest}`, body),
});

/** Nothing is sent while the test runs. */
export const later = { send_at: new Date(Date.now() + 7 * 86_400_000).toISOString() };

const conditions = {
  name: 'Pro',
  field_0: 'property',
  property_0: 'plan',
  op_0: 'is',
  value_0: 'pro',
};
const segment = { name: 'x', filter: { all: [] } };

async function addSegment(api: ActScene['api']): Promise<string> {
  const answer = await api('POST', '/v1/segments', segment);
  return ((await answer.json()) as { data: { id: string } }).data.id;
}

async function erase({ api, survey }: Pick<ActScene, 'api' | 'survey'>) {
  const email = `${randomUUID()}@people.test`;
  await api('POST', '/v1/contacts', { survey_id: await survey(), email });
  return await api('DELETE', `/v1/people/${email}`);
}

const visit = 'a contact answers or unsubscribes: the row itself says when';
const ownView = 'filters that only the member sees';
const wish = { name: 'n', question_text: 'q', from_name: 'Ann', from_email: 'ann@acme.test' };
const cannedTextForm = { name: 'Thanks', text: 'ring ann@acme.test' };
const tagForm = { name: 'vip', color: '#112233' };
const general = {
  name: 'Renamed',
  color: '#112233',
  language: 'en',
  time_zone: 'UTC',
  slug: randomUUID(),
};

/** POST routes of screens that share code with a route below, or that tests of members cover. */
const elsewhere = `
    /welcome/:token /sign-in /sign-out /sign-in/code /sign-in/passkey/options /sign-in/passkey
    /account/prove/passkey /account/prove /forgot /reset/:token /invitations/:token
    /o/:slug/settings/notifications/slack /o/:slug/settings/notifications/slack/remove
    /o/:slug/settings/members /o/:slug/settings/members/:id/role
    /o/:slug/settings/members/:id/remove /o/:slug/settings/members/invitations/:id/withdraw
    /o/:slug/surveys/:id/contacts /o/:slug/surveys/:id/contacts/uploads
    /o/:slug/surveys/:id/contacts/uploads/:upload /o/:slug/surveys/:id/send
    /o/:slug/surveys/:id/contacts/:contact/delete /o/:slug/surveys/:id/contacts/uploads/:upload/delete
    /o/:slug/surveys/:id/send/:campaign/pause /o/:slug/surveys/:id/send/:campaign/resume
    /o/:slug/surveys/:id/send/:campaign/stop /o/:slug/surveys/preview /o/:slug/surveys
    /o/:slug/surveys/:id/test-mail /o/:slug/surveys/:id/repeat /o/:slug/settings/import
    /o/:slug/settings/import/:id /o/:slug/settings/import/:id/kinds /o/:slug/settings/import/:id/delete
    /o/:slug/surveys/:id/edit /o/:slug/surveys/:id/open /o/:slug/surveys/:id/reopen
    /o/:slug/surveys/:id/close /o/:slug/surveys/:id/copy /o/:slug/surveys/:id/delete
    /o/:slug/responses/:id /o/:slug/responses/:id/tags /o/:slug/responses/:id/notes
    /o/:slug/responses/:id/replies
    /o/:slug/responses/:id/release /o/:slug/responses/:id/delete /o/:slug/webhooks
    /o/:slug/webhooks/:id/edit /o/:slug/webhooks/:id/switch-off /o/:slug/webhooks/:id/switch-on
    /o/:slug/webhooks/:id/test /o/:slug/webhooks/:id/rotate-secret /o/:slug/webhooks/:id/delete
    /o/:slug/webhooks/:id/deliveries/:delivery/redeliver /o/:slug/webhooks/:id/replay
    /account/name /account/password /account/sessions/end /account/sessions/:id/end
    /account/email /account/email/:token
    /account/passkeys /account/passkeys/:id/remove
    /account/codes/new /account/codes/renew /account/codes/off /operator/organizations/:id/invite
    /operator/operators /operator/operators/:id/remove /account/codes /account/passkeys/options
    /operator/organizations /operator/organizations/:id /operator/organizations/:id/delete
    /o/:slug/people/import /o/:slug/people/:id/erase /o/:slug/people/erased/:id/allow
`;

/** Every route that is not a GET. A new route fails the test until it is listed here. */
export const routeActs: Readonly<Record<string, RouteAct>> = {
  'POST /api/v1/surveys': {
    act: 'survey.created',
    call: ({ api }) => api('POST', '/v1/surveys', wish),
  },
  'PATCH /api/v1/surveys/:id': {
    act: 'survey.changed',
    call: async ({ api, survey }) =>
      await api('PATCH', `/v1/surveys/${await survey()}`, { name: 'x' }),
  },
  'DELETE /api/v1/surveys/:id': {
    act: 'survey.deleted',
    call: async ({ api, survey }) => await api('DELETE', `/v1/surveys/${await survey()}`),
  },
  'POST /api/v1/surveys/:id/open': onSurvey('survey.opened', 'open', { status: 'draft' }),
  'POST /api/v1/surveys/:id/close': onSurvey('survey.closed', 'close'),
  'POST /api/v1/surveys/:id/reopen': onSurvey('survey.reopened', 'reopen', {
    status: 'completed',
    completed_by: 'hand',
    completed_at: new Date(),
  }),
  'POST /api/v1/surveys/:id/copy': onSurvey('survey.copied', 'copy'),
  'POST /api/v1/surveys/:id/test-mail': {
    act: 'survey.test_mailed',
    call: async ({ api, survey }) =>
      await api('POST', `/v1/surveys/${await survey()}/test-mail`, { email: 'a@people.test' }),
  },
  'POST /api/v1/surveys/:id/send': {
    act: 'send.requested',
    call: async ({ api, survey }) =>
      await api('POST', `/v1/surveys/${await survey()}/send`, { contacts: [{ email: 'x' }] }),
  },
  'POST /api/v1/surveys/:id/campaigns': {
    act: 'campaign.created',
    call: async ({ api, survey, contact }) => {
      const id = await survey();
      await contact(id);
      return await api('POST', `/v1/surveys/${id}/campaigns`, later);
    },
  },
  'POST /api/v1/campaigns/:id/pause': onCampaign('campaign.paused', 'pause'),
  'POST /api/v1/campaigns/:id/resume': onCampaign('campaign.resumed', 'resume'),
  'POST /api/v1/campaigns/:id/stop': onCampaign('campaign.stopped', 'stop'),
  'DELETE /api/v1/suppressions/:id': {
    act: 'suppression.removed',
    call: async ({ api, db, orgId }) => {
      const [row] = await db<{ id: string }[]>`
        insert into suppressions ${db({ org_id: orgId, email: 'a@b.test', kind: 'bounced' })}
        returning id`;
      return await api('DELETE', `/v1/suppressions/${row!.id}`);
    },
  },
  'PATCH /api/v1/responses/:id': {
    act: 'response.changed',
    call: async ({ api, response }) =>
      await api('PATCH', `/v1/responses/${await response()}`, { state: 'done' }),
  },
  'PUT /api/v1/responses/:id/tags': {
    act: 'response.tagged',
    call: async ({ api, response, tag }) =>
      await api('PUT', `/v1/responses/${await response()}/tags`, { tags: [await tag()] }),
  },
  'POST /api/v1/responses/:id/notes': {
    act: 'response.noted',
    call: async ({ api, response }) =>
      await api('POST', `/v1/responses/${await response()}/notes`, { text: 'ring ann@acme.test' }),
  },
  'POST /api/v1/responses/:id/replies': {
    act: 'response.replied',
    call: async ({ api, survey, contact, response }) => {
      const survey_id = await survey();
      const contact_id = await contact(survey_id);
      const id = await response({ survey_id, contact_id });
      return await api('POST', `/v1/responses/${id}/replies`, { text: 'ring ann@acme.test' });
    },
  },
  'POST /api/v1/responses/:id/release': {
    act: 'response.released',
    call: async ({ api, response }) =>
      await api('POST', `/v1/responses/${await response({ held_reason: 'scanner' })}/release`),
  },
  'DELETE /api/v1/responses/:id': {
    act: 'response.deleted',
    call: async ({ api, response }) => await api('DELETE', `/v1/responses/${await response()}`),
  },
  'POST /api/v1/tags': { act: 'tag.created', call: ({ api }) => api('POST', '/v1/tags', tagForm) },
  'PATCH /api/v1/tags/:id': {
    act: 'tag.changed',
    call: async ({ api, tag }) => await api('PATCH', `/v1/tags/${await tag()}`, { name: 'x' }),
  },
  'DELETE /api/v1/tags/:id': {
    act: 'tag.deleted',
    call: async ({ api, tag }) => await api('DELETE', `/v1/tags/${await tag()}`),
  },
  'POST /api/v1/contacts': {
    act: 'contact.saved',
    call: async ({ api, survey }) =>
      await api('POST', '/v1/contacts', { survey_id: await survey(), email: 'bo@people.test' }),
  },
  'DELETE /api/v1/contacts/:id': {
    act: 'contact.deleted',
    call: async ({ api, survey, contact }) =>
      await api('DELETE', `/v1/contacts/${await contact(await survey())}`),
  },
  'PUT /api/v1/people/:email': {
    act: 'person.saved',
    call: ({ api }) => api('PUT', '/v1/people/bo@people.test', { name: 'Bo' }),
  },
  'PATCH /api/v1/people/:email': {
    act: 'person.saved',
    call: async ({ db, orgId, api }) => {
      await savePeople(db, orgId, [{ email: 'cy@people.test', name: null, properties: {} }]);
      return await api('PATCH', '/v1/people/cy@people.test', { name: 'Cy' });
    },
  },
  'POST /api/v1/segments': {
    act: 'segment.created',
    call: ({ api }) => api('POST', '/v1/segments', segment),
  },
  'PATCH /api/v1/segments/:id': {
    act: 'segment.changed',
    call: async ({ api }) =>
      await api('PATCH', `/v1/segments/${await addSegment(api)}`, { name: 'y' }),
  },
  'DELETE /api/v1/segments/:id': {
    act: 'segment.deleted',
    call: async ({ api }) => await api('DELETE', `/v1/segments/${await addSegment(api)}`),
  },
  'DELETE /api/v1/people/:email': {
    act: 'person.erased',
    call: ({ api, survey }) => erase({ api, survey }),
  },
  'POST /api/v1/erasures/:id/allow': {
    act: 'person.allowed',
    call: async ({ api, survey }) => {
      const { data } = (await (await erase({ api, survey })).json()) as { data: { id: string } };
      return await api('POST', `/v1/erasures/${data.id}/allow`);
    },
  },
  'POST /api/bounces': { none: 'test/suppressions/bounces.pg.test.ts hands in real messages' },
  'POST /api/webhooks': {
    act: 'webhook.created',
    call: ({ api }) =>
      api('POST', '/webhooks', { url: 'https://a.test/x?token=s', events: ['response.received'] }),
  },
  'PUT /api/webhooks/:id': onWebhook('webhook.changed', 'PUT', '', { description: 'x' }),
  'DELETE /api/webhooks/:id': onWebhook('webhook.deleted', 'DELETE'),
  'POST /api/webhooks/:id/rotate-secret': onWebhook(
    ...(['webhook.secret_rotated', 'POST', '/rotate-secret'] as const),
  ),
  'POST /api/webhooks/:id/test': onWebhook('webhook.tested', 'POST', '/test'),
  'POST /api/webhooks/:id/replay': {
    act: 'webhook.replayed',
    call: async (scene) => {
      const { webhook } = await failedDelivery(scene);
      return await scene.api('POST', `/webhooks/${webhook}/replay`, { since: '2020-01-01' });
    },
  },
  'POST /api/webhooks/:id/deliveries/:delivery_id/redeliver': {
    act: 'delivery.redelivered',
    call: async (scene) => {
      const { webhook, delivery } = await failedDelivery(scene);
      return await scene.api('POST', `/webhooks/${webhook}/deliveries/${delivery}/redeliver`);
    },
  },
  'POST /mcp': { none: 'its tools call the routes of the API, which leave their own traces' },
  'POST /o/:slug/people/:id': {
    act: 'person.saved',
    call: async ({ post, home, contact, survey }) =>
      await post(`${home}/people/${await contact(await survey())}`, { name: 'Bo' }),
  },
  'POST /o/:slug/people/segments/new': {
    act: 'segment.created',
    call: async ({ post, home }) => await post(`${home}/people/segments/new`, conditions),
  },
  'POST /o/:slug/people/segments/:id/edit': {
    act: 'segment.changed',
    call: async ({ api, post, home }) =>
      await post(`${home}/people/segments/${await addSegment(api)}/edit`, conditions),
  },
  'POST /o/:slug/people/segments/:id/delete': {
    act: 'segment.deleted',
    call: async ({ api, post, home }) =>
      await post(`${home}/people/segments/${await addSegment(api)}/delete`),
  },
  'POST /o/:slug/people/:id/suppress': {
    act: 'suppression.added',
    call: async ({ post, home, survey, contact }) =>
      await post(`${home}/people/${await contact(await survey())}/suppress`),
  },
  'POST /o/:slug/people/:id/allow': {
    act: 'suppression.removed',
    call: async ({ post, home, survey, contact }) => {
      const person = `${home}/people/${await contact(await survey())}`;
      await post(`${person}/suppress`);
      return await post(`${person}/allow`);
    },
  },
  'POST /o/:slug/people/:id/consent': {
    act: 'consent.recorded',
    call: async ({ post, home, survey, contact, db, orgId }) => {
      const id = await contact(await survey());
      await db`
        insert into suppressions (org_id, email, kind)
        select ${orgId}, email_key, 'unsubscribed' from contacts where id = ${id}`;
      const form = { consent: 'asked for it by phone' };
      return await post(`${home}/people/${id}/consent`, form);
    },
  },
  'POST /o/:slug/summaries': {
    none: 'the job that it starts leaves summary.created, in the name of the member',
  },
  'POST /o/:slug/settings/general': {
    act: 'organization.changed',
    call: ({ post, settings }) => post(`${settings}/general`, general),
  },
  'POST /o/:slug/settings/api-keys': {
    act: 'key.created',
    call: ({ post, settings }) => post(`${settings}/api-keys`, { name: 'website' }),
  },
  'POST /o/:slug/settings/api-keys/:id/revoke': {
    act: 'key.revoked',
    call: async ({ db, orgId, post, settings }) => {
      const { id } = await createKey(db, commandWriter(orgId), { name: 'old' });
      return await post(`${settings}/api-keys/${id}/revoke`);
    },
  },
  'POST /o/:slug/settings/tags': {
    act: 'tag.created',
    call: ({ post, settings }) => post(`${settings}/tags`, tagForm),
  },
  'POST /o/:slug/settings/tags/:id': {
    act: 'tag.changed',
    call: async ({ post, settings, tag }) => await post(`${settings}/tags/${await tag()}`, tagForm),
  },
  'POST /o/:slug/settings/tags/:id/delete': {
    act: 'tag.deleted',
    call: async ({ post, settings, tag }) => await post(`${settings}/tags/${await tag()}/delete`),
  },
  'POST /o/:slug/settings/texts': {
    act: 'organization.changed',
    call: ({ post, settings }) => post(`${settings}/texts`, { mail_foot: 'Thanks' }),
  },
  'POST /o/:slug/settings/canned-texts': {
    act: 'canned_text.created',
    call: ({ post, settings }) => post(`${settings}/canned-texts`, cannedTextForm),
  },
  'POST /o/:slug/settings/canned-texts/:id': {
    act: 'canned_text.changed',
    call: async ({ db, orgId, post, settings }) => {
      const { id } = await createCannedText(db, commandWriter(orgId), cannedTextForm);
      return await post(`${settings}/canned-texts/${id}`, { ...cannedTextForm, name: 'Sorry' });
    },
  },
  'POST /o/:slug/settings/canned-texts/:id/delete': {
    act: 'canned_text.deleted',
    call: async ({ db, orgId, post, settings }) => {
      const { id } = await createCannedText(db, commandWriter(orgId), cannedTextForm);
      return await post(`${settings}/canned-texts/${id}/delete`);
    },
  },
  'POST /o/:slug/responses/views': { none: ownView },
  'POST /o/:slug/responses/views/:id/delete': { none: ownView },
  'POST /o/:slug/responses/chosen': {
    act: 'responses.changed',
    call: async ({ post, home, response }) =>
      await post(`${home}/responses/chosen`, { id: await response(), do: 'done' }),
  },
  'POST /o/:slug/settings/notifications/contents': {
    act: 'notifications.changed',
    call: ({ post, settings }) => post(`${settings}/notifications/contents`, { people: 'true' }),
  },
  'POST /o/:slug/settings/notifications': {
    act: 'notifications.changed',
    call: ({ post, settings }) =>
      post(`${settings}/notifications`, { digest: 'day', time_zone: 'UTC' }),
  },
  ...Object.fromEntries(
    elsewhere
      .trim()
      .split(/\s+/)
      .map((path) => [`POST ${path}`, { none: 'the tests of its screen look at it' }]),
  ),
  ...Object.fromEntries(
    ['/s/:token', '/f/:share_id', '/e/:share_id', '/u/:token'].flatMap((path) => [
      [`POST ${path}`, { none: visit }],
      [`POST ${path}/${path.startsWith('/u') ? 'undo' : 'x'}`, { none: visit }],
      ...(path.startsWith('/u') ? [] : [[`POST ${path}/answers`, { none: visit }]]),
    ]),
  ),
};

async function failedDelivery({ db, orgId, webhook }: ActScene) {
  const webhook_id = await webhook();
  const [delivery] = await addDeliveries(db, { org_id: orgId, webhook_id, status: 'failed' });
  return { webhook: webhook_id, delivery: delivery! };
}

/** Creates the rows that an act needs, unaudited where possible. */
export const rowsOf = (db: Db, orgId: string) => {
  const survey = (over: Record<string, unknown> = {}) => makeSurvey(db, orgId, over);
  return {
    survey,
    contact: (survey_id: string) => makeContact(db, { org_id: orgId, survey_id }),
    response: async (over: Record<string, unknown> = {}) =>
      await makeResponse(db, { org_id: orgId, survey_id: await survey() }, over),
    webhook: (secret: Buffer, id: string) => makeWebhook(db, orgId, { id, secret }),
    tag: async () =>
      (await createTag(db, commandWriter(orgId), { name: randomUUID(), color: '#112233' })).id,
  };
};
