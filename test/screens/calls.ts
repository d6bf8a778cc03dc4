import { ago, ahead, id, idOfTime, word } from './scene/names.ts';

/** A call of the API that is kept: with a key that may write, unless it says otherwise. */
export type KeptCall = {
  method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  /** A text is a mail; anything else is sent as JSON. */
  body?: unknown;
  as?: 'write' | 'read' | 'stranger';
};

const v1 = (path: string) => `/api/v1${path}`;
const hooks = (path = '') => `/api/webhooks${path}`;
const survey = (name: string, path = '') => v1(`/surveys/${id(`survey-${name}`)}${path}`);
const response = (name: string, path = '') => v1(`/responses/${id(`response-${name}`)}${path}`);
const campaign = (name: string, path = '') => v1(`/campaigns/${id(`campaign-${name}`)}${path}`);
const gets = (...paths: string[]): KeptCall[] => paths.map((path) => ({ path }));
const each = (path: string, queries: readonly string[]) =>
  gets(path, ...queries.map((query) => `${path}?${query}`));

const pages = ['limit=2', 'limit=2&page=2', 'limit=1&page=9999', 'page=0', 'limit=0', 'cursor=x'];

const scope = [
  ...[`survey_id=${id('survey-csat')}`, `survey_id=${id('nothing')}`, 'survey_id=x'],
  ...[
    'date_from=2026-05-01',
    'date_to=2026-05-10T12:00:00Z',
    'date_from=2026-05-10&date_to=2026-05-01',
  ],
  ...['date_from=2026-05-10&date_to=2026-05-10&tz=Asia/Tokyo', 'tz=Mars/Base'],
  ...['type=ces', 'type=stars', 'audience=employee', 'audience=customer'],
  ...[`tag=${id('tag-1')}`, `tag=${id('tag-1')}&tag=${id('tag-2')}`, 'sentiment=negative'],
  ...['property.plan=pro', 'property.plan=pro&property.page=/pricing', 'contact.plan=free'],
];
const facets = [
  ...['category=detractor', 'has_comment=true', 'has_comment=false', 'has_comment=True'],
  ...['language=ar', 'state=open', 'state=done', 'owner=lena@larkspur.example', 'owner=none'],
  ...['search=BILLED', 'search=ada@', 'search=%25', 'held=true'],
];
const contact = { email: 'new@people.example', name: 'New', survey_id: id('survey-nps') };
const goodSurvey = {
  ...{ name: 'Autumn', question_text: 'How was it, {{first_name|friend}}?', type: 'csat' },
  ...{ from_name: 'Larkspur', from_email: 'ask@larkspur.example', reply_to: 'r@larkspur.example' },
};
const wrongSurvey = {
  ...{ name: '', question_text: '{{nick', from_name: 'A\nB', from_email: 'no', reply_to: 'x@' },
  ...{ type: 'stars', language: 'english', subject: '{{x y}}', reminders: [{ after_days: 0 }] },
  ...{ thanks: { promoter: { link_url: 'ftp://x' } }, send_window: { from: '25:00' } },
};

const surveys: KeptCall[] = [
  ...each(v1('/surveys'), pages),
  ...['nps', 'csat', 'employees', 'draft', 'closed', 'answered'].map((name) => ({
    path: survey(name),
  })),
  { path: survey('nps'), as: 'read' },
  { path: survey('nps'), as: 'stranger' },
  ...gets(survey('alone'), survey('nothing'), v1('/surveys/x')),
  { method: 'POST', path: v1('/surveys'), body: goodSurvey },
  {
    method: 'POST',
    path: v1('/surveys'),
    body: { ...goodSurvey, status: 'draft', texts: { de: {} } },
  },
  { method: 'POST', path: v1('/surveys'), body: wrongSurvey },
  { method: 'POST', path: v1('/surveys'), body: goodSurvey, as: 'read' },
  {
    method: 'PATCH',
    path: survey('csat'),
    body: { name: 'Changed', reminders: [{ after_days: 4 }] },
  },
  { method: 'PATCH', path: survey('nps'), body: { ask_after_days: null, type: 'csat' } },
  { method: 'PATCH', path: survey('nps'), body: { ask_after_days: null } },
  {
    method: 'PATCH',
    path: survey('star5'),
    body: { send_window: { days: ['sun'], from: '22:00', to: '23:00', time_zone: 'Asia/Tokyo' } },
  },
  { method: 'POST', path: survey('draft', '/open') },
  { method: 'POST', path: survey('ces', '/open') },
  { method: 'POST', path: survey('ces', '/close') },
  { method: 'POST', path: survey('ces', '/close') },
  { method: 'POST', path: survey('answered', '/reopen') },
  { method: 'POST', path: survey('nps', '/copy') },
  { method: 'DELETE', path: survey('thumbs') },
  { method: 'DELETE', path: survey('thumbs'), as: 'read' },
  { method: 'DELETE', path: `${survey('thumbs')}?answers=keep` },
  { method: 'DELETE', path: `${survey('thumbs')}?answers=delete` },
];

const contacts: KeptCall[] = [
  ...each(v1('/contacts'), pages),
  ...each(v1('/contacts/export'), [`format=jsonl`, `survey_id=${id('survey-csat')}`, 'format=xml']),
  { method: 'POST', path: v1('/contacts'), body: contact },
  {
    method: 'POST',
    path: v1('/contacts'),
    body: { ...contact, properties: { plan: 'team', seats: 3 } },
  },
  {
    method: 'POST',
    path: v1('/contacts'),
    body: { ...contact, email: 'ADA@people.example', name: null },
  },
  { method: 'POST', path: v1('/contacts'), body: { email: 'no', survey_id: 'x', properties: [1] } },
  { method: 'POST', path: v1('/contacts'), body: { ...contact, survey_id: id('survey-alone') } },
  { method: 'POST', path: v1('/contacts'), body: { ...contact, survey_id: id('survey-closed') } },
  { method: 'DELETE', path: v1(`/contacts/${id('gil')}`) },
  { method: 'DELETE', path: v1(`/contacts/${id('gil')}`) },
  { method: 'DELETE', path: v1(`/contacts/${id('ben')}`) },
];

const sending: KeptCall[] = [
  ...['running', 'scheduled', 'finished', 'stopped', 'refused', 'asking', 'reminder'].map(
    (name) => ({ path: campaign(name) }),
  ),
  ...each(survey('nps', '/campaigns'), pages),
  ...each(campaign('running', '/results'), [
    ...pages,
    ...[
      'status=sent',
      'status=waiting',
      'status=failed',
      'status=duplicate',
      'search=ada',
      'status=x',
    ],
  ]),
  { method: 'POST', path: survey('csat', '/campaigns?dry_run=true'), body: { name: 'Looking' } },
  {
    method: 'POST',
    path: survey('star5', '/campaigns'),
    body: { name: 'May', per_hour: 60, send_at: ahead(3) },
  },
  { method: 'POST', path: survey('csat', '/campaigns'), body: {} },
  { method: 'POST', path: survey('draft', '/campaigns'), body: {} },
  {
    method: 'POST',
    path: survey('csat', '/campaigns'),
    body: { per_hour: 0, send_at: ago(2), name: 'x'.repeat(300) },
  },
  { method: 'POST', path: campaign('scheduled', '/pause') },
  { method: 'POST', path: campaign('running', '/pause') },
  { method: 'POST', path: campaign('paused', '/resume') },
  { method: 'POST', path: campaign('running', '/resume') },
  { method: 'POST', path: campaign('running', '/stop') },
  { method: 'POST', path: campaign('finished', '/stop') },
  { method: 'POST', path: survey('nps', '/send?dry_run=true'), body: { contacts: sent('nps') } },
  { method: 'POST', path: survey('nps', '/send'), body: { contacts: sent('ces') }, as: 'read' },
  { method: 'POST', path: survey('draft', '/send?dry_run=true'), body: { contacts: sent('x') } },
  { method: 'POST', path: survey('nps', '/send?dry_run=yes'), body: { contacts: 'all' } },
  // A contact that is mailed makes it wait for the outcome, at a moment that does not pass.
  {
    ...{ method: 'POST', path: survey('nps', '/send') },
    body: { contacts: ['ada', 'cora', 'eva', 'finn', 'layla'].map(contactNamed) },
  },
  ...['ben', 'unknown'].map(
    (name): KeptCall => ({
      ...{ method: 'POST', path: '/api/bounces', body: bounceOf(`${name}@people.example`) },
    }),
  ),
  { method: 'POST', path: '/api/bounces', body: 'Subject: Hello\r\n\r\nNo report.\r\n' },
  ...each(v1('/suppressions'), [...pages, 'kind=bounced', 'email=FINN@people.example', 'kind=x']),
  { method: 'DELETE', path: v1(`/suppressions/${id('suppression-finn')}`) },
  { method: 'DELETE', path: v1(`/suppressions/${id('suppression-finn')}`) },
];

/** One for each way in which a contact of a send is judged. */
function sent(name: string) {
  const known = ['ada', 'ben', 'cora', 'dan', 'eva', 'finn', 'gil', 'layla'];
  return [
    ...known.map(contactNamed),
    ...[{ email: `fresh-${name}@people.example`, name: 'Fresh', properties: { plan: 'pro' } }],
    ...[{ email: `Fresh-${name}@people.example` }, { email: 'no address' }, { name: 'No' }, 7],
  ];
}

function contactNamed(name: string) {
  return { email: `${name}@people.example` };
}

/** A mail server's report that a mailbox does not exist. */
function bounceOf(address: string): string {
  const lines = [
    ...['From: MAILER-DAEMON@mx.example', 'Subject: failure', 'MIME-Version: 1.0'],
    ...['Content-Type: multipart/report; report-type=delivery-status; boundary=b', '', '--b'],
    ...['Content-Type: text/plain', '', 'No such user.', '--b'],
    ...['Content-Type: message/delivery-status', '', 'Reporting-MTA: dns; mx.example', ''],
    ...[`Final-Recipient: rfc822; ${address}`, 'Action: failed', 'Status: 5.1.1'],
    ...['Diagnostic-Code: smtp; 550 5.1.1 no such user', '', '--b--', ''],
  ];
  return lines.join('\r\n');
}

const responses: KeptCall[] = [
  ...each(v1('/responses'), [
    ...pages,
    ...scope.map((query) => `limit=2&${query}`),
    ...facets.map((query) => `limit=2&${query}`),
  ]),
  ...each(v1('/responses/export'), [
    'category=detractor',
    'format=jsonl&has_comment=true',
    'held=true',
    'property.plan=pro',
  ]),
  ...['late', 'owned', 'done', 'held', 'imported', 'csat-1'].map((name) => ({
    path: response(name),
  })),
  ...each(v1('/nps'), scope),
  ...each(v1('/nps/trend'), [
    ...scope.map((query) => `interval=month&${query}`),
    ...['interval=week', 'interval=month&tz=Asia/Tokyo', 'interval=year'],
  ]),
  {
    method: 'PATCH',
    path: response('late'),
    body: { state: 'done', owner: 'lena@larkspur.example' },
  },
  { method: 'PATCH', path: response('late'), body: { state: 'open', owner: null } },
  {
    method: 'PATCH',
    path: response('late'),
    body: { state: 'gone', owner: 'unknown@larkspur.example' },
  },
  { method: 'PATCH', path: response('late'), body: { owner: 'olu@askback.example' } },
  { method: 'PUT', path: response('late', '/tags'), body: { tags: [id('tag-3')] } },
  { method: 'PUT', path: response('late', '/tags'), body: { tags: [id('tag-9')] } },
  { method: 'POST', path: response('late', '/notes'), body: { text: 'Called again.' } },
  { method: 'POST', path: response('late', '/notes'), body: { text: '' } },
  { method: 'POST', path: response('held', '/release') },
  { method: 'POST', path: response('held', '/release') },
  { method: 'DELETE', path: response('trapped') },
  { method: 'DELETE', path: response('late') },
  { method: 'DELETE', path: response('late') },
  ...gets(v1('/tags')),
  { method: 'POST', path: v1('/tags'), body: { name: 'VIP', color: '#123456' } },
  { method: 'POST', path: v1('/tags'), body: { name: 'Billing' } },
  { method: 'POST', path: v1('/tags'), body: { name: '', color: 'red' } },
  { method: 'PATCH', path: v1(`/tags/${id('tag-1')}`), body: { name: 'invoices' } },
  { method: 'DELETE', path: v1(`/tags/${id('tag-2')}`) },
  { method: 'DELETE', path: v1(`/tags/${id('tag-2')}`) },
];

const answers: KeptCall[] = [
  {
    method: 'POST',
    path: `/s/${word('cora').slice(0, 32)}`,
    body: { score: 3, comment: 'Too slow.' },
  },
  {
    method: 'POST',
    path: `/s/${word('cora').slice(0, 32)}`,
    body: { score: 9, comment: 'Better.' },
  },
  { method: 'POST', path: `/s/${word('dan').slice(0, 32)}`, body: { score: 11 } },
  { method: 'POST', path: `/s/${word('none').slice(0, 32)}`, body: { score: 1 } },
  {
    method: 'POST',
    path: `/f/${word('share csat').slice(0, 16)}`,
    body: { score: 5, comment: 'Great' },
  },
  { method: 'POST', path: `/f/${word('share closed').slice(0, 16)}`, body: { score: 5 } },
  {
    method: 'POST',
    path: `/f/${word('share csat').slice(0, 16)}`,
    body: { score: '5', comment: 7 },
  },
];

const people: KeptCall[] = [
  ...gets(
    v1('/people/ada@people.example'),
    v1('/people/EVA@people.example'),
    v1('/people/none@people.example'),
    v1('/people/x'),
  ),
  ...each(v1('/erasures'), [...pages, 'email=first']),
  { method: 'POST', path: v1(`/erasures/${id('receipt-first')}/allow`) },
  { method: 'POST', path: v1(`/erasures/${id('receipt-first')}/allow`) },
  { method: 'DELETE', path: v1('/people/ada@people.example'), as: 'read' },
  { method: 'DELETE', path: v1('/people/ada@people.example') },
  { method: 'DELETE', path: v1('/people/layla@people.example?scores=delete') },
  { method: 'DELETE', path: v1('/people/layla@people.example?scores=some') },
  ...gets(v1('/me'), v1('/usage')),
  { path: v1('/me'), as: 'read' },
  ...each(v1('/summaries'), pages),
  ...gets(v1(`/summaries/${id('summary-2')}`), v1(`/summaries/${id('nothing')}`)),
];

const webhook = (name: string, path = '') => hooks(`/${id(`webhook-${name}`)}${path}`);
const delivery = (name: string, days: number) => idOfTime(`delivery-${name}`, ago(days, 1));
const goodWebhook = { url: 'https://hooks.example.com/new', events: ['response.received'] };

const webhooks: KeptCall[] = [
  ...gets(hooks(), hooks('/events'), webhook('well'), webhook('off'), webhook('none')),
  ...gets(webhook('well', '/deliveries'), webhook('failing', '/deliveries')),
  { method: 'POST', path: hooks(), body: goodWebhook },
  {
    method: 'POST',
    path: hooks(),
    body: { ...goodWebhook, description: 'CRM', retries: 'extended' },
  },
  { method: 'POST', path: hooks(), body: { url: 'http://x', events: ['x'], retries: 'never' } },
  { method: 'POST', path: hooks(), body: goodWebhook, as: 'read' },
  {
    method: 'PUT',
    path: webhook('well'),
    body: { events: ['detractor.detected'], description: '' },
  },
  { method: 'PUT', path: webhook('off'), body: { active: true } },
  { method: 'PUT', path: webhook('failing'), body: { active: false } },
  { method: 'PUT', path: webhook('failing'), body: { active: 'no', url: 'x' } },
  { method: 'POST', path: webhook('well', '/rotate-secret') },
  { method: 'POST', path: webhook('well', '/test') },
  { method: 'POST', path: webhook('failing', `/deliveries/${delivery('failed', 2)}/redeliver`) },
  { method: 'POST', path: webhook('well', `/deliveries/${delivery('none', 2)}/redeliver`) },
  { method: 'POST', path: webhook('failing', '/replay'), body: { since: ago(10) } },
  { method: 'POST', path: webhook('off', '/replay'), body: { since: ago(10) } },
  { method: 'POST', path: webhook('off', '/replay'), body: { since: 'soon' } },
  { method: 'DELETE', path: webhook('off') },
  { method: 'DELETE', path: webhook('off') },
];

/** Each write to what does not exist. */
const unknown: KeptCall[] = [
  { method: 'PATCH', path: survey('nothing'), body: { name: 'x' } },
  { method: 'DELETE', path: survey('nothing') },
  ...['/open', '/close', '/reopen', '/copy'].map(
    (act): KeptCall => ({ method: 'POST', path: survey('nothing', act) }),
  ),
  { method: 'POST', path: survey('nothing', '/send'), body: { contacts: [] } },
  { method: 'POST', path: survey('nothing', '/campaigns'), body: {} },
  { path: survey('nothing', '/campaigns') },
  { path: campaign('nothing', '/results') },
  ...['/pause', '/resume', '/stop'].map(
    (act): KeptCall => ({ method: 'POST', path: campaign('nothing', act) }),
  ),
  { method: 'PATCH', path: response('nothing'), body: { state: 'done' } },
  { method: 'PUT', path: response('nothing', '/tags'), body: { tags: [] } },
  { method: 'POST', path: response('nothing', '/notes'), body: { text: 'x' } },
  { method: 'POST', path: response('nothing', '/release') },
  { method: 'PATCH', path: v1(`/tags/${id('nothing')}`), body: { name: 'x' } },
  { method: 'POST', path: v1(`/erasures/${id('nothing')}/allow`) },
  { path: webhook('nothing', '/deliveries') },
  { method: 'PUT', path: webhook('nothing'), body: { active: true } },
  { method: 'POST', path: webhook('nothing', '/rotate-secret') },
  { method: 'POST', path: webhook('nothing', '/test') },
  { method: 'POST', path: webhook('nothing', `/deliveries/${delivery('failed', 2)}/redeliver`) },
  { method: 'POST', path: webhook('nothing', '/replay'), body: { since: ago(10) } },
];

/** By folder, in the order in which they are asked: each finds what those before it left. */
export const keptCalls = {
  surveys,
  contacts,
  sending,
  responses,
  answers,
  people,
  webhooks,
  unknown,
};
