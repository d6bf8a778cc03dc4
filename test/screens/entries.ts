import { at, atEmpty, type KeptEntry, response, survey } from './entry.ts';
import { ago, id, idOfTime, word } from './scene/names.ts';
import { empty } from './scene/organizations.ts';

const home: KeptEntry[] = [
  { name: 'home', path: at('') },
  { name: 'home-csat-year', path: at('?type=csat&period=365d') },
  {
    name: 'home-days',
    path: at('?type=ces&date_from=2026-05-01&date_to=2026-05-10'),
    as: ['viewer'],
  },
  { name: 'home-survey', path: at(`?survey_id=${id('survey-star5')}&period=90d`) },
  { name: 'home-employees', path: at(`?survey_id=${id('survey-employees')}&period=7d`) },
  { name: 'home-compared', path: at('?compare=plan&period=90d') },
  { name: 'home-of-property', path: at('?property.plan=pro&type=thumbs&period=90d') },
  {
    name: 'home-mistakes',
    path: at('?type=thumbs&date_from=2026-05-02&date_to=2026-05-01&property=colour'),
  },
  { name: 'home-empty', path: atEmpty(''), as: ['owner', 'viewer'] },
  { name: 'home-troubled', path: '/o/tern?type=csat' },
  { name: 'home-untouched', path: '/o/osprey' },
  { name: 'home-old-slug', path: '/o/larkspur-old/surveys?search=x' },
  { name: 'home-no-such-page', path: at('/no-such-page') },
];

const contacts = survey('nps', '/contacts');
const send = survey('nps', '/send');
const campaign = (name: string, path = '') => `${send}/${id(`campaign-${name}`)}${path}`;

const surveys: KeptEntry[] = [
  { name: 'surveys', path: at('/surveys'), as: ['owner', 'viewer'] },
  { name: 'surveys-found', path: at('/surveys?search=work&status=active') },
  { name: 'surveys-none-found', path: at('/surveys?search=zzz') },
  { name: 'surveys-empty', path: atEmpty('/surveys?search=zzz'), as: ['editor'] },
  { name: 'survey-new', path: at('/surveys/new'), as: ['editor'] },
  { name: 'survey-nps', path: survey('nps'), as: ['owner', 'viewer'] },
  { name: 'survey-csat', path: survey('csat', '?period=90d'), as: ['editor'] },
  { name: 'survey-ces', path: survey('ces') },
  { name: 'survey-star5', path: survey('star5', '?period=30d') },
  { name: 'survey-thumbs', path: survey('thumbs') },
  { name: 'survey-employees', path: survey('employees') },
  { name: 'survey-draft', path: survey('draft') },
  { name: 'survey-closed', path: survey('closed') },
  { name: 'survey-answered', path: survey('answered') },
  { name: 'survey-edit', path: survey('nps', '/edit') },
  { name: 'survey-edit-draft', path: survey('draft', '/edit') },
  { name: 'survey-close', path: survey('nps', '/close') },
  { name: 'survey-delete', path: survey('nps', '/delete') },
  { name: 'survey-share', path: survey('nps', '/share'), as: ['editor', 'viewer'] },
  { name: 'survey-share-closed', path: survey('closed', '/share') },
  { name: 'survey-share-draft', path: survey('draft', '/share') },
  { name: 'survey-qr.svg', path: survey('nps', '/share/qr.svg') },
  { name: 'survey-unknown', path: at(`/surveys/${id('nothing')}`) },
  { name: 'contacts', path: contacts, as: ['editor', 'viewer'] },
  { name: 'contacts-page', path: `${contacts}?limit=3&page=2` },
  { name: 'contacts-found', path: `${contacts}?search=ada&status=responded` },
  { name: 'contacts-none', path: survey('draft', '/contacts'), as: ['editor', 'viewer'] },
  { name: 'contacts-none-found', path: `${contacts}?search=zzz` },
  { name: 'contacts-columns', path: `${contacts}/uploads/${id('upload-new')}` },
  { name: 'contacts-imported', path: `${contacts}/uploads/${id('upload-done')}` },
  { name: 'send', path: send, as: ['editor', 'viewer'] },
  { name: 'send-none', path: survey('ces', '/send') },
  { name: 'send-draft', path: survey('draft', '/send') },
  { name: 'send-closed', path: survey('closed', '/send') },
  { name: 'send-judgement.csv', path: `${send}/judgement.csv` },
  { name: 'campaign-running', path: campaign('running'), as: ['editor', 'viewer'] },
  { name: 'campaign-running-found', path: campaign('running', '?search=a&status=failed') },
  { name: 'campaign-none-found', path: campaign('running', '?search=zzz') },
  { name: 'campaign-results.csv', path: campaign('running', '/results.csv') },
  { name: 'campaign-stop', path: campaign('running', '/stop') },
  ...['scheduled', 'paused', 'finished', 'stopped', 'refused', 'asking', 'reminder'].map(
    (name) => ({
      name: `campaign-${name}`,
      path: campaign(name),
    }),
  ),
];

const responses: KeptEntry[] = [
  { name: 'responses', path: at('/responses'), as: ['editor'] },
  { name: 'responses-second-page', path: at('/responses?limit=4&page=2&category=detractor') },
  { name: 'responses-held', path: at('/responses?held=true') },
  {
    name: 'responses-filtered',
    path: at(
      `/responses?survey_id=${id('survey-nps')}&category=detractor&tag=${id('tag-1')}&search=billed&sentiment=mixed&state=open&property.plan=pro`,
    ),
    as: ['viewer'],
  },
  { name: 'responses-none-found', path: at('/responses?date_from=2001-01-01&date_to=2001-01-02') },
  {
    name: 'responses-mistake',
    path: at('/responses?date_from=2026-05-02&date_to=2026-05-01&search=zzz'),
  },
  { name: 'responses-past-the-end', path: at('/responses?page=99') },
  { name: 'responses-empty', path: atEmpty('/responses') },
  { name: 'responses-export.csv', path: at('/responses/export?format=csv&category=promoter') },
  { name: 'responses-export.jsonl', path: at('/responses/export?format=jsonl&held=true') },
  { name: 'response-late', path: response('late'), as: ['editor', 'viewer'] },
  { name: 'response-in-list', path: response('owned', '?category=detractor&state=open') },
  ...['done', 'quiet', 'praise', 'held', 'filled', 'imported', 'csat-0', 'thumbs-1'].map(
    (name) => ({ name: `response-${name}`, path: response(name) }),
  ),
  { name: 'response-delete', path: response('late', '/delete?category=detractor') },
  { name: 'response-unknown', path: at(`/responses/${id('nothing')}`) },
];

const person = (name: string, path = '') => at(`/people/${id(name)}${path}`);

const people: KeptEntry[] = [
  { name: 'people', path: at('/people'), as: ['owner', 'viewer'] },
  { name: 'people-page', path: at('/people?limit=3&page=2') },
  { name: 'people-found', path: at('/people?search=ada') },
  { name: 'people-none-found', path: at('/people?search=zzz') },
  { name: 'people-empty', path: atEmpty('/people') },
  { name: 'person-ada', path: person('ada'), as: ['owner', 'viewer'] },
  ...['ben', 'dan', 'eva', 'finn', 'gil', 'nameless'].map((name) => ({
    name: `person-${name}`,
    path: person(name),
  })),
  { name: 'person-editor', path: person('finn'), as: ['editor'] },
  { name: 'person-erase', path: person('ada', '/erase') },
  { name: 'erased', path: at('/people/erased') },
  { name: 'erased-none', path: atEmpty('/people/erased') },
];

const summaries: KeptEntry[] = [
  { name: 'summaries', path: at('/summaries'), as: ['editor', 'viewer'] },
  { name: 'summaries-empty', path: atEmpty('/summaries'), as: ['editor', 'viewer'] },
  { name: 'summary-new', path: at('/summaries/new') },
  { name: 'summary', path: at(`/summaries/${id('summary-2')}`) },
  { name: 'summary-first', path: at(`/summaries/${id('summary-1')}`) },
];

const webhook = (name: string, path = '') => at(`/webhooks/${id(`webhook-${name}`)}${path}`);
const delivery = (of: string, name: string, daysAgo: number): KeptEntry => ({
  name: `delivery-${name}`,
  path: webhook(of, `/deliveries/${idOfTime(`delivery-${name}`, ago(daysAgo, 1))}`),
});

const webhooks: KeptEntry[] = [
  { name: 'webhooks', path: at('/webhooks'), as: ['editor', 'viewer'] },
  { name: 'webhooks-empty', path: atEmpty('/webhooks'), as: ['editor', 'viewer'] },
  { name: 'webhook-new', path: at('/webhooks/new') },
  { name: 'webhook-well', path: webhook('well'), as: ['editor'] },
  { name: 'webhook-failing', path: webhook('failing', '?status=failed'), as: ['viewer'] },
  { name: 'webhook-off', path: webhook('off', '?status=delivered') },
  { name: 'webhook-edit', path: webhook('failing', '/edit') },
  { name: 'webhook-rotate-secret', path: webhook('well', '/rotate-secret') },
  { name: 'webhook-delete', path: webhook('well', '/delete') },
  { name: 'webhook-replay', path: webhook('failing', '/replay') },
  { name: 'webhook-replay-since', path: webhook('failing', '/replay?since=2026-05-01') },
  {
    name: 'webhook-replay-confirm',
    path: webhook('failing', '/replay?since=2026-05-01&confirm=true'),
  },
  { name: 'webhook-replay-off', path: webhook('off', '/replay') },
  delivery('well', 'delivered', 0),
  delivery('well', 'test', 1),
  delivery('failing', 'failed', 2),
  delivery('failing', 'unreached', 3),
  delivery('failing', 'retried', 4),
  delivery('well', 'first', 5),
  delivery('off', 'skipped', 6),
  delivery('failing', 'replayed', 7),
  delivery('well', 'again', 8),
  { ...delivery('failing', 'failed', 2), name: 'delivery-viewer', as: ['viewer'] },
];

const setting = (page: string) => at(`/settings/${page}`);

const settings: KeptEntry[] = [
  { name: 'settings', path: at('/settings') },
  { name: 'general', path: setting('general'), as: ['owner', 'viewer'] },
  { name: 'general-unset', path: atEmpty('/settings/general') },
  { name: 'api-keys', path: setting('api-keys'), as: ['owner', 'editor'] },
  { name: 'api-keys-none', path: atEmpty('/settings/api-keys') },
  { name: 'api-key-new', path: setting('api-keys/new') },
  { name: 'api-key-revoke', path: setting(`api-keys/${id('key-1')}/revoke`) },
  { name: 'members', path: setting('members') },
  { name: 'members-one-invited', path: '/o/tern/settings/members' },
  { name: 'members-own-role', path: setting(`members/${id('member-owner')}/role`) },
  { name: 'member-role', path: setting(`members/${id('member-ines')}/role`) },
  { name: 'member-remove', path: setting(`members/${id('member-ines')}/remove`) },
  { name: 'member-leave', path: setting(`members/${id('member-owner')}/remove`) },
  {
    name: 'member-withdraw',
    path: setting(`members/invitations/${id('invited-editor')}/withdraw`),
  },
  { name: 'tags', path: setting('tags'), as: ['editor', 'viewer'] },
  { name: 'tags-none', path: atEmpty('/settings/tags') },
  { name: 'tag', path: setting(`tags/${id('tag-1')}`) },
  { name: 'tag-delete', path: setting(`tags/${id('tag-1')}/delete`) },
  { name: 'texts', path: setting('texts') },
  { name: 'texts-unset', path: atEmpty('/settings/texts') },
  { name: 'mail', path: setting('mail') },
  { name: 'mail-no-server', path: setting('mail'), sso: true },
  { name: 'usage-reached', path: '/o/tern/settings/usage' },
  { name: 'mail-looked', path: setting('mail?look=now') },
  { name: 'notifications', path: setting('notifications'), as: ['owner', 'viewer'] },
  { name: 'notifications-unset', path: atEmpty('/settings/notifications') },
  { name: 'usage', path: setting('usage'), as: ['owner', 'viewer'] },
  { name: 'usage-none', path: atEmpty('/settings/usage') },
  { name: 'audit', path: setting('audit') },
  { name: 'audit-filtered', path: setting('audit?limit=5&page=2') },
  { name: 'audit-none', path: atEmpty('/settings/audit') },
  { name: 'audit-export.csv', path: setting('audit/export?format=csv&act=key.created') },
];

const visitor = [null] as const;

const account: KeptEntry[] = [
  { name: 'account', path: '/account', as: ['owner', 'viewer', 'operator'] },
  { name: 'prove', path: '/account/prove?next=/account' },
  { name: 'passkey-new', path: '/account/passkeys/new' },
  { name: 'passkey-name', path: '/account/passkeys/passkey-laptop/name' },
  { name: 'passkey-remove', path: '/account/passkeys/passkey-laptop/remove' },
  { name: 'codes-new', path: '/account/codes/new', as: ['viewer'] },
  { name: 'codes-recovery', path: '/account/codes/recovery' },
  { name: 'codes-renew', path: '/account/codes/renew' },
  { name: 'codes-off', path: '/account/codes/off' },
  { name: 'sso-remove', path: '/account/sso/remove' },
  { name: 'prove-sso', path: '/account/prove/oidc?next=%2Faccount%2Fpasskeys' },
  { name: 'account-sso', path: '/account', sso: true },
  { name: 'prove-by-sso', path: '/account/prove?next=/account', sso: true, as: ['owner of old'] },
  { name: 'prove-first', path: '/account/codes/off', as: ['owner of old'] },
];

const comingIn: KeptEntry[] = [
  { name: 'front', path: '/', as: [null, 'owner', 'operator'] },
  { name: 'sign-in', path: '/sign-in?next=/o/larkspur/surveys', as: [null, 'owner'] },
  { name: 'sign-in-code', path: '/sign-in/code?next=/account', as: [null, 'owner without code'] },
  { name: 'sign-in-sso-alone', path: '/sign-in?next=/account', as: visitor, sso: true },
  {
    name: 'invitation-sso',
    path: `/invitations/${word('operator invited')}`,
    as: visitor,
    sso: true,
  },
  { name: 'sign-in-sso', path: '/sign-in/oidc', as: visitor },
  { name: 'sign-in-sso-back', path: '/sign-in/oidc/callback?state=x', as: visitor },
  { name: 'led-to-sign-in', path: at('/surveys?search=x'), as: visitor },
  { name: 'lost-password', path: '/forgot', as: visitor },
  { name: 'lost-password-sent', path: '/forgot/sent', as: visitor },
  { name: 'reset', path: `/reset/${word('reset')}`, as: visitor },
  { name: 'reset-gone', path: `/reset/${word('unknown')}`, as: visitor },
  { name: 'invitation-new', path: `/invitations/${word('invited-editor')}`, as: [null, 'owner'] },
  { name: 'invitation-known', path: `/invitations/${word('invited-lena')}`, as: [null, 'editor'] },
  { name: 'invitation-operator', path: `/invitations/${word('operator invited')}`, as: visitor },
  { name: 'invitation-gone', path: `/invitations/${word('unknown')}`, as: visitor },
  { name: 'welcome-gone', path: `/welcome/${word('unknown')}`, as: visitor },
  { name: 'stop-unknown', path: `/notifications/stop/${word('unknown')}`, as: visitor },
  { name: 'no-such-page', path: '/welcome/no/such/page', as: visitor },
];

const operator: KeptEntry[] = [
  { name: 'overview', path: '/operator', as: ['operator', 'owner'] },
  { name: 'overview-unwell', path: '/operator', as: ['operator'], sso: true },
  { name: 'organization-new', path: '/operator/organizations/new', as: ['operator'] },
  { name: 'organization', path: `/operator/organizations/${empty.id}`, as: ['operator'] },
  {
    name: 'organization-full',
    path: `/operator/organizations/${id('larkspur')}`,
    as: ['operator'],
  },
  { name: 'operator-new', path: '/operator/operators/new', as: ['operator'] },
  {
    name: 'operator-remove',
    path: `/operator/operators/${id('member-operator')}/remove`,
    as: ['operator'],
  },
];

/** Every page of the app, by the folder that keeps it. */
export const keptEntries: Readonly<Record<string, readonly KeptEntry[]>> = {
  ...{ home, surveys, responses, people, summaries, webhooks, settings },
  ...{ account, 'coming-in': comingIn, operator },
};
