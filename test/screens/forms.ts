import { at, atEmpty, type KeptForm, response, survey } from './entry.ts';
import { ago, id, idOfTime, word } from './scene/names.ts';

const send = survey('nps', '/send');
const campaign = (name: string, act: string) => `${send}/${id(`campaign-${name}`)}/${act}`;
const wrongSurvey = {
  ...{ name: '', question_text: '{{nick', from_name: 'A\nB', from_email: 'no', reply_to: 'x@' },
  ...{ type: 'nps', language: 'english', subject: '{{x y}}', 'thanks.promoter.link_url': 'http' },
  ...{ follow_up: 'a', 'follow_up.promoter': 'b', add_language: 'klingonese' },
  ...{ ask_after_days: '-1', 'reminders.0.after_days': '900', 'send_window.from': '25:00' },
};
const goodSurvey = {
  ...{ name: 'Autumn', question_text: 'How was it?', type: 'csat', language: 'en' },
  ...{ from_name: 'Larkspur', from_email: 'ask@larkspur.example', reply_to: '' },
};

const surveys: KeptForm[] = [
  { name: 'survey-new-wrong', path: at('/surveys'), form: wrongSurvey },
  { name: 'survey-edit-wrong', path: survey('nps', '/edit'), form: wrongSurvey },
  {
    name: 'survey-language',
    path: at('/surveys'),
    form: { ...goodSurvey, act: 'add-language', add_language: 'de' },
  },
  { name: 'survey-preview', path: at('/surveys/preview'), form: { ...goodSurvey, name: 'P' } },
  ...['mail', 'promoter', 'passive', 'detractor'].map((show) => ({
    name: `survey-preview-${show}`,
    path: at('/surveys/preview'),
    form: {
      ...{ ...goodSurvey, question_text: 'Fine, {{properties.plan}}?', intro: 'Dear {{name}}' },
      ...{ 'thanks.promoter': 'Thanks!', follow_up: 'And why?', type: 'ces' },
      ...{ 'preview.show': show, 'preview.scheme': show === 'passive' ? 'dark' : 'light' },
    },
  })),
  { name: 'survey-preview-empty', path: at('/surveys/preview'), form: { type: 'star5' } },
  { name: 'survey-preview-wrong', path: at('/surveys/preview'), form: { question_text: '{{x' } },
  { name: 'survey-delete-wrong', path: survey('csat', '/delete'), form: { name: 'other' } },
  { name: 'contacts-wrong', path: survey('nps', '/contacts'), form: { email: 'no', name: 'N' } },
  { name: 'upload-wrong', path: survey('nps', '/contacts/uploads'), form: { list: 'a;b\nc;d\n' } },
  {
    name: 'upload-no-file',
    path: survey('nps', '/contacts/uploads'),
    form: { file: 'a name alone', list: 'a;b\nc;d\n' },
  },
  { name: 'upload-empty', path: survey('nps', '/contacts/uploads'), form: { list: '' } },
  {
    name: 'upload-columns-wrong',
    path: survey('nps', `/contacts/uploads/${id('upload-new')}`),
    form: { column_0: 'name', column_1: 'skip', column_2: 'skip', header: 'on' },
  },
  {
    name: 'send-wrong',
    path: send,
    form: { when: 'at', send_at: '2020-01-01T10:00', per_hour: '0' },
  },
  { name: 'send-closed', path: survey('closed', '/send'), form: { when: 'now' } },
  { path: at('/surveys'), form: { ...goodSurvey, draft: 'on' } },
  { path: survey('csat', '/edit'), form: { ...goodSurvey, name: 'Changed' } },
  { path: survey('draft', '/open'), form: {} },
  { path: survey('answered', '/reopen'), form: {} },
  { path: survey('ces', '/copy'), form: {} },
  { path: survey('thumbs', '/close'), form: {} },
  { path: survey('closed', '/delete'), form: { name: 'Survey closed' } },
  { path: survey('nps', '/contacts'), form: { email: 'new@people.example', name: 'New' } },
  { path: survey('ces', '/contacts/uploads'), form: { list: 'Email\nzoe@people.example\n' } },
  {
    path: survey('nps', `/contacts/uploads/${id('upload-new')}`),
    form: { column_0: 'email', column_1: 'name', column_2: 'property', header: 'on' },
  },
  { path: campaign('running', 'pause'), form: {} },
  { path: campaign('paused', 'resume'), form: {} },
  { path: campaign('scheduled', 'stop'), form: {} },
  { name: 'campaign-ended', path: campaign('finished', 'pause'), form: {} },
  { path: survey('answered', '/send'), form: { when: 'now' } },
  { path: send, form: { when: 'now' } },
  { path: send, form: { when: 'at', send_at: '2026-06-01T10:00', per_hour: '60' } },
];

const chosen = (act: Record<string, string>, ids = ['late', 'quiet']) => ({
  path: at('/responses/chosen'),
  form: { id: ids.map((name) => id(`response-${name}`)), query: 'category=detractor', ...act },
});

const responses: KeptForm[] = [
  { name: 'note-wrong', path: response('late', '/notes?state=open'), form: { text: '' } },
  { name: 'owner-unknown', path: response('late'), form: { owner: 'x@y.z', shown_owner: '' } },
  chosen({ do: 'tag', tag: id('tag-2') }),
  chosen({ do: 'untag', tag: id('tag-2') }),
  chosen({ do: 'tag', tag: '' }),
  chosen({ do: 'done' }),
  chosen({ do: 'open' }, ['late']),
  chosen({ do: 'take' }),
  chosen({ do: 'release' }),
  chosen({ do: 'release' }, ['held', 'trapped']),
  chosen({ do: 'done' }, []),
  { path: response('quiet', '?page=2'), form: { state: 'open', shown_owner: '' } },
  { path: response('praise'), form: { owner: 'lena@larkspur.example', shown_owner: '' } },
  { path: response('owned'), form: { owner: '', shown_owner: 'viktor@larkspur.example' } },
  { path: response('late', '/tags?state=open'), form: { tag: id('tag-3') } },
  { path: response('late', '/tags'), form: { untag: id('tag-1') } },
  { path: response('late', '/tags'), form: {} },
  { path: response('late', '/notes?state=open'), form: { text: 'Called again' } },
  { path: response('filled', '/release'), form: {} },
  { path: response('filled', '/release?state=open'), form: {} },
  { path: response('quiet', '/delete?category=passive'), form: {} },
];

const person = (name: string, act: string) => at(`/people/${id(name)}/${act}`);

const people: KeptForm[] = [
  { name: 'erase-wrong', path: person('ada', 'erase'), form: { email: 'x', scores: 'keep' } },
  { path: person('ben', 'suppress'), form: {} },
  { path: person('eva', 'allow'), form: {} },
  { path: at(`/people/erased/${id('receipt-first')}/allow`), form: {} },
  { path: person('gil', 'erase'), form: { email: 'gil@people.example', scores: 'delete' } },
];

const summaries: KeptForm[] = [
  { name: 'summary-wrong', path: at('/summaries'), form: { date_from: 'x', date_to: '' } },
  {
    name: 'summary-backwards',
    path: at('/summaries'),
    form: { date_from: '2026-05-10', date_to: '2026-05-01' },
  },
  { path: at('/summaries'), form: { date_from: '2026-05-01', date_to: '2026-05-10' } },
];

const webhook = (name: string, act: string) => at(`/webhooks/${id(`webhook-${name}`)}/${act}`);
const failed = idOfTime('delivery-failed', ago(2, 1));
const target = { url: 'https://new.example.com/', events: 'response.received' };

const webhooks: KeptForm[] = [
  { name: 'webhook-new-wrong', path: at('/webhooks'), form: { url: 'http://127.0.0.1/' } },
  {
    name: 'webhook-new-not-allowed',
    path: at('/webhooks'),
    form: { url: 'https://127.0.0.1/', events: 'response.received', retries: 'extended' },
  },
  { name: 'webhook-edit-wrong', path: webhook('failing', 'edit'), form: { url: '', retries: 'x' } },
  { name: 'webhook-replay-wrong', path: webhook('failing', 'replay'), form: { since: 'never' } },
  { name: 'webhook-created', path: at('/webhooks'), form: target, follow: true },
  { name: 'webhook-rotated', path: webhook('well', 'rotate-secret'), form: {}, follow: true },
  { path: webhook('failing', 'edit'), form: { ...target, retries: 'standard' } },
  { path: webhook('well', 'test'), form: {} },
  { path: webhook('well', 'switch-off'), form: {} },
  { path: webhook('off', 'switch-on'), form: {} },
  { path: webhook('failing', 'replay'), form: { since: '2026-05-01' } },
  { path: webhook('failing', `deliveries/${failed}/redeliver`), form: {} },
  { path: webhook('off', 'delete'), form: {} },
];

const setting = (page: string) => at(`/settings/${page}`);
const wrongGeneral = {
  ...{ name: '', slug: 'No Slug', color: 'red', contact_email: 'x', time_zone: 'Mars' },
  ...{ frequency_days: '0', keep_comments_days: 'x', keep_contacts_days: '-1', language: 'xx' },
  ...{ keep_openings_days: '91', keep_mails_days: '0', people: '' },
};
const goodGeneral = {
  ...{ name: 'Northgate', slug: 'northgate-clinic', color: '#2f6fed', time_zone: 'UTC' },
  ...{ language: 'en', contact_email: '', postal_address: '', frequency_days: '' },
};
const notified = { events: ['detractor'], digest: 'week', time_zone: 'Europe/Berlin' };

const settings: KeptForm[] = [
  { name: 'general-wrong', path: setting('general'), form: wrongGeneral },
  { name: 'key-wrong', path: setting('api-keys'), form: { name: '', permission: 'x' } },
  { name: 'invite-wrong', path: setting('members'), form: { email: 'x', role: 'king' } },
  {
    name: 'invite-member',
    path: setting('members'),
    form: { email: 'lena@larkspur.example', role: 'viewer' },
  },
  {
    name: 'role-wrong',
    path: setting(`members/${id('member-ines')}/role`),
    form: { role: 'king' },
  },
  { name: 'tag-new-wrong', path: setting('tags'), form: { name: 'billing', color: '#b3261e' } },
  { name: 'tag-wrong', path: setting(`tags/${id('tag-1')}`), form: { name: '', color: 'red' } },
  { name: 'texts-wrong', path: setting('texts'), form: { mail_foot: 'x'.repeat(501) } },
  {
    name: 'notifications-wrong',
    path: setting('notifications'),
    form: { events: 'x', digest: 'hour', time_zone: 'Mars' },
  },
  {
    name: 'slack-wrong',
    path: setting('notifications/slack'),
    form: { url: 'http://127.0.0.1', digest: 'day' },
  },
  {
    name: 'key-created',
    path: setting('api-keys'),
    form: { name: 'shop', permission: 'write', expires: '30d' },
    follow: true,
  },
  { name: 'key-by-default', path: setting('api-keys'), form: { name: 'shop' }, follow: true },
  { path: atEmpty('/settings/general'), form: goodGeneral },
  { path: setting(`api-keys/${id('key-1')}/revoke`), form: {} },
  { path: setting('members'), form: { email: 'new@larkspur.example', role: 'editor' } },
  { path: setting(`members/${id('member-ines')}/role`), form: { role: 'viewer' } },
  { path: setting(`members/${id('member-ines')}/remove`), form: {} },
  { path: setting(`members/invitations/${id('invited-editor')}/withdraw`), form: {} },
  { name: 'member-last', path: setting(`members/${id('member-owner')}/remove`), form: {} },
  { path: setting('tags'), form: { name: 'new', color: '#112233' } },
  { path: setting(`tags/${id('tag-2')}`), form: { name: 'renamed', color: '#112233' } },
  { path: setting(`tags/${id('tag-2')}/delete`), form: {} },
  { path: setting('texts'), form: { postal_address: 'A 1', mail_foot: 'B', language: 'fr' } },
  { path: setting('notifications'), form: notified },
  { path: setting('notifications/contents'), form: { unedited: 'on' } },
  { path: setting('notifications/slack'), form: { url: '', events: 'held', digest: 'none' } },
  { path: setting('notifications/slack/remove'), form: {} },
];

const account: KeptForm[] = [
  { name: 'name-wrong', path: '/account/name', form: { name: '' } },
  { name: 'password-wrong', path: '/account/password', form: { new_password: 'short' } },
  { name: 'code-wrong', path: '/account/codes/new', form: { code: '1' }, as: 'viewer' },
  { name: 'codes-begun', path: '/account/codes', form: {}, as: 'viewer', follow: true },
  { name: 'codes-renewed', path: '/account/codes/renew', form: {}, follow: true },
  { name: 'prove-wrong', path: '/account/prove', form: { password: '' } },
  { name: 'passkey-name-wrong', path: '/account/passkeys/passkey-key/name', form: { name: '' } },
  {
    name: 'code-missing',
    path: '/sign-in/code?next=/account',
    form: {},
    as: 'owner without code',
  },
  {
    name: 'proof-too-old',
    path: at('/settings/api-keys'),
    form: { name: 'two words', permission: 'read', expires: 'never' },
    as: 'owner of old',
  },
  { path: '/account/codes/off', form: {}, as: 'owner of old' },
  { path: '/account/name', form: { name: 'Hana M.' } },
  { path: `/account/sessions/${id('session-phone')}/end`, form: {} },
  { path: '/account/sessions/end', form: {} },
  { path: '/account/passkeys/passkey-key/name', form: { name: 'Key' } },
  { path: '/account/passkeys/passkey-key/remove', form: {} },
  { path: '/account/codes/off', form: {} },
  { path: '/account/password', form: { new_password: 'nine blue kettles' }, as: 'editor' },
];

const comingIn: KeptForm[] = [
  { name: 'sign-in-empty', path: '/sign-in?next=/account', form: {}, as: null },
  {
    name: 'sign-in-wrong',
    path: '/sign-in',
    form: { email: 'x@y.example', password: 'x' },
    as: null,
  },
  { name: 'lost-password-wrong', path: '/forgot', form: { email: 'x' }, as: null },
  { name: 'reset-wrong', path: `/reset/${word('reset')}`, form: { password: 'short' }, as: null },
  {
    name: 'invitation-wrong',
    path: `/invitations/${word('operator invited')}`,
    form: { name: '', password: 'password1234' },
    as: null,
  },
  { path: '/forgot', form: { email: 'unknown@larkspur.example' }, as: null },
  { name: 'signed-out', path: '/account/name', form: { name: 'X Y' }, as: null },
  { name: 'signed-out-empty', path: '/account/sessions/end', form: {}, as: null },
  { path: '/sign-out', form: {}, as: 'viewer' },
  { path: `/reset/${word('reset')}`, form: { password: 'nine blue kettles' }, as: null },
  {
    path: `/invitations/${word('invited-one')}`,
    form: { name: 'One', password: 'nine blue kettles' },
    as: null,
  },
  { path: `/invitations/${word('invited-lena')}`, form: {}, as: 'editor' },
];

const as = 'operator';
const operator: KeptForm[] = [
  { name: 'organization-new-wrong', path: '/operator/organizations', form: { name: '' }, as },
  {
    name: 'organization-wrong',
    path: `/operator/organizations/${id('northgate')}`,
    form: { monthly_send_limit: '-1' },
    as,
  },
  {
    name: 'organization-invite-wrong',
    path: `/operator/organizations/${id('northgate')}/invite`,
    form: { email: 'x' },
    as,
  },
  { name: 'operator-wrong', path: '/operator/operators', form: { email: 'x' }, as },
  {
    path: '/operator/organizations',
    form: { name: 'Third & last', monthly_send_limit: '500', email: 'c@third.example' },
    as,
  },
  {
    path: `/operator/organizations/${id('northgate')}`,
    form: { monthly_send_limit: '20000' },
    as,
  },
  {
    path: `/operator/organizations/${id('northgate')}/invite`,
    form: { email: 'd@north.example' },
    as,
  },
  {
    name: 'operator-invited',
    path: '/operator/operators',
    form: { email: 'e@askback.example' },
    as,
    follow: true,
  },
  {
    name: 'operator-last',
    path: `/operator/operators/${id('member-operator')}/remove`,
    form: {},
    as,
  },
  { path: '/operator/operators', form: { email: 'lena@larkspur.example' }, as },
  { path: `/operator/operators/${id('member-editor')}/remove`, form: {}, as },
];

/** Forms of the app, filled in wrongly and then rightly, by the folder that keeps what they answer. */
export const keptForms: Readonly<Record<string, readonly KeptForm[]>> = {
  ...{ surveys, responses, people, summaries, webhooks, settings },
  ...{ account, 'coming-in': comingIn, operator },
};
