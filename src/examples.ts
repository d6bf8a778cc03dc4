import * as v from 'valibot';
import { type ApiSection, type Example, operationsOf } from './lib/openapi/openapi.ts';
import { defaultLimit } from './lib/paging/page.ts';
import type { messages } from './webhooks/events.ts';

const ids: Readonly<Record<string, string>> = {
  Survey: '3f6f2a52-7c1e-4d0a-9a55-0c8d7f0b2a11',
  Response: '5a7e9d31-0f4b-4c92-8e16-2b3d4f5a6c70',
  Contact: 'c2f0a6de-1b7f-4a53-b7a9-5d6f3e2c1a08',
  Campaign: '8d7c6b5a-4f3e-42d1-8c0b-9a8f7e6d5c4b',
  Tag: '2a3b4c5d-6e7f-4890-a1b2-c3d4e5f60718',
  Webhook: 'd4b8f1c6-3a2e-47f5-9c70-8e1f2a3b4c5d',
  Delivery: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
};
const otherId = '2b7d9f31-6c4e-4a85-9d20-7f1e3c5a8b64';
const createdAt = '2026-04-01T08:00:00.000Z';
const sentAt = '2026-04-14T09:00:00.000Z';
const answeredAt = '2026-04-14T10:02:31.123Z';

/**
 * Example values by field name. If a name has several meanings, the key begins with its schema, operation or event. All
 * examples tell one story: Acme asks its customers in spring.
 */
const values: Readonly<Record<string, unknown>> = {
  org_id: otherId,
  survey_id: ids['Survey'],
  surveyId: ids['Survey'],
  responseId: ids['Response'],
  contact_id: ids['Contact'],
  webhook_id: ids['Webhook'],
  webhookId: ids['Webhook'],
  delivery_id: ids['Delivery'],
  'GivenAnswer.id': ids['Response'],
  'SendResult.id': ids['Contact'],
  'ResponseNote.id': otherId,
  'Person.webhook_id': null,
  'Person.delivery_id': null,
  message_id: `${ids['Contact']}@feedback.acme.example`,
  server_reply: '250 2.0.0 Ok: queued as 4F2xKq3lNzz9',
  created_at: createdAt,
  updated_at: createdAt,
  'Response.created_at': answeredAt,

  name: 'Spring',
  question_text: 'How likely are you to recommend Acme?',
  from_name: 'Ann at Acme',
  from_email: 'ann@acme.example',
  reply_to: 'feedback@acme.example',
  status: 'active',
  type: 'nps',
  language: 'en',
  subject: 'One question, {{first_name|please}}',
  intro: 'You have been on our {{properties.plan|free}} plan for a while now.',
  follow_up: { promoter: 'What do you like best?', detractor: 'What should we do better?' },
  thanks: {
    promoter: {
      text: 'Would you say so in public, too?',
      link_url: 'https://reviews.example/acme',
      link_text: 'Write a review',
    },
  },
  texts: { de: { question_text: 'Wie wahrscheinlich ist es, dass Sie Acme empfehlen?' } },
  reminders: [{ after_days: 3 }],
  send_window: {
    days: ['mon', 'tue', 'wed', 'thu', 'fri'],
    from: '09:00',
    to: '17:00',
    time_zone: 'Europe/Berlin',
  },
  repeat: { every_days: 90, audience: 'people', per_day: null, spread: true },
  embed: {
    origins: ['https://www.acme.example'],
    position: 'corner',
    delay_seconds: 5,
    every_days: 30,
  },
  'Schedule.days': [{ date: '2026-04-01', count: 12 }],
  share_url: 'https://feedback.acme.example/f/q7Tz0mWb3YxK9fNs',
  share_id: 'q7Tz0mWb3YxK9fNs',
  sent_count: 96,
  response_count: 40,
  responseCount: 40,
  completionRate: 41.7,

  total_responses: 40,
  'Nps.total': 40,
  avg_score: 7.9,
  nps: 38,
  previous_nps: 31,
  promoters: 22,
  passives: 11,
  detractors: 7,
  margin_of_error: 22.9,
  'Nps.interval': { low: 12, high: 57.8 },
  'Survey.interval': { low: 12, high: 57.8 },
  'Summary.interval': { low: 12, high: 57.8 },
  promoter_pct: 55,
  passive_pct: 27.5,
  detractor_pct: 17.5,
  'Nps.held': 2,
  start: '2026-04-01',
  interval: 'month',
  tz: 'Europe/Berlin',

  score: 9,
  comment: 'Setup took five minutes.',
  ai_sentiment: 'positive',
  ai_themes: ['onboarding'],
  ai_churn_risk: 'low',
  ai_summary: 'Praises how quickly it was set up.',
  held: false,
  survey_name: 'Spring',
  contact_email: 'ada@example.com',
  contact_name: 'Ada',
  round: 1,
  properties: { plan: 'pro', country: 'DE' },
  tags: [{ id: ids['Tag'], name: 'Enterprise', color: '#1F6FEB' }],
  'setResponseTags.tags': [ids['Tag']],
  'changeResponse.state': 'done',
  'changeResponse.owner': 'ann@acme.example',
  text: 'Ada agreed to be quoted.',
  author: 'Ann',
  'Tag.name': 'Enterprise',
  'createTag.name': 'Enterprise',
  'changeTag.name': 'Key account',
  color: '#1F6FEB',

  email: 'ada@example.com',
  'Contact.name': 'Ada',
  'Person.name': 'Ada',
  'putPerson.name': 'Ada',
  'patchPerson.name': 'Ada',
  'Segment.name': 'Pro customers',
  'createSegment.name': 'Pro customers',
  'changeSegment.name': 'Pro customers',
  filter: { all: [{ field: 'property.plan', op: 'is', value: 'pro' }] },
  'Campaign.audience': { segment_id: otherId },
  'createCampaign.audience': { segment_id: otherId },
  'saveContact.name': 'Ada',
  'Contact.status': 'responded',
  sent_at: sentAt,
  responded_at: answeredAt,
  token: 'Xq3v9Yb2mNfK8sLw0TzRcA',
  'sendSurvey.contacts': [
    { email: 'ada@example.com', name: 'Ada', properties: { plan: 'pro' } },
    { email: 'not an address' },
  ],
  'SendResult.results': [
    { email: 'ada@example.com', status: 'sent' },
    {
      email: 'not an address',
      status: 'invalid',
      reason: 'invalid or missing email address',
      reason_code: 'invalid_email',
      index: 1,
    },
  ],
  kind: 'bounced',
  detail: '550 5.1.1 no such user',

  'Campaign.status': 'running',
  'createCampaign.status': 'running',
  'Campaign.started_at': createdAt,
  per_hour: 600,
  'Campaign.total': 40,
  'createCampaign.total': 40,
  duplicates: 0,
  failed: 0,
  remaining: 38,
  reasons: { frequency: 20, unsubscribed: 11 },

  address_hash: '5f1c2b7e9d0a4c8e6b3f1d2a7c5e9f0b4a6d8c1e3f5a7b9d0c2e4f6a8b1d3c5e',
  'KeyAccount.name': 'Acme',
  permission: 'write',
  requests_per_minute: 100,
  mails_per_month: 10_000,
  mails_this_month: 96,
  month: '2026-04',
  mails_sent: 96,
  mails_limit: 10_000,
  mails_remaining: 9904,
  'Usage.responses': 40,
  'Usage.contacts': 120,

  report_type: 'executive-summary',
  reportType: 'executive-summary',
  period_start: '2026-04-01T00:00:00.000Z',
  period_end: '2026-05-01T00:00:00.000Z',
  'Summary.responses': 40,
  top_themes: ['onboarding', 'support'],
  topThemes: ['onboarding', 'support'],
  'Summary.blocks': [
    {
      type: 'nps',
      audience: 'customer',
      score: 38,
      interval: { low: 12, high: 57.8 },
      n: 40,
      change: { from: 31, by: 7, interval: { low: -26.3, high: 38.2 }, is_clear: false },
    },
  ],
  'Summary.text': 'The NPS is 38, which is no clear change from 31. Customers praise onboarding.',

  url: 'https://hooks.acme.example/askback',
  events: ['response.received', 'detractor.detected'],
  retries: 'extended',
  description: 'CRM',
  failure_count: 0,
  last_delivery_at: answeredAt,
  secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  event: 'response.received',
  'Delivery.status': 'delivered',
  status_code: 204,
  duration_ms: 41,
  delivered_at: answeredAt,
  'Delivery.trace_id': '0af7651916cd43dd8448eb211c80319c',
  surveyType: 'nps',
  since: '2026-04-14T00:00:00Z',
  'detractor.detected.score': 3,
  'detractor.detected.comment': 'I waited a week for [name] to answer.',

  limit: defaultLimit,
};

/** A bounce message. */
const deliveryReport = [
  'From: mailer-daemon@mx.example.com',
  'To: bounce@feedback.acme.example',
  'Subject: Undelivered Mail Returned to Sender',
  'Content-Type: multipart/report; report-type=delivery-status; boundary=part',
  '',
  '--part',
  'Content-Type: message/delivery-status',
  '',
  'Reporting-MTA: dns; mx.example.com',
  '',
  'Final-Recipient: rfc822; ada@example.com',
  'Action: failed',
  'Status: 5.1.1',
  '--part--',
  '',
].join('\r\n');

const files: Readonly<Record<string, Example['files']>> = {
  exportResponses: {
    csv: `id,created_at,survey_id,survey_name,survey_type,score,category,comment,language,contact_email,contact_name,properties,tags,state,owner,held,ai_sentiment,ai_themes,ai_churn_risk,ai_summary,round\r\n${ids['Response']},${answeredAt},${ids['Survey']},Spring,nps,9,promoter,Setup took five minutes.,en,ada@example.com,Ada,"{""plan"":""pro""}",Enterprise,,,false,positive,onboarding,low,Praises how quickly it was set up.,1\r\n`,
    jsonl: `{"id":"${ids['Response']}","created_at":"${answeredAt}","survey_id":"${ids['Survey']}","survey_name":"Spring","survey_type":"nps","score":9,"category":"promoter","comment":"Setup took five minutes.","language":"en","contact_email":"ada@example.com","contact_name":"Ada","round":1,"properties":{"plan":"pro"},"tags":[],"state":null,"owner":null,"held":false,"ai_sentiment":"positive","ai_themes":["onboarding"],"ai_churn_risk":"low","ai_summary":null}\n`,
  },
  exportPeople: {
    csv: `id,created_at,updated_at,email,name,language,properties\r\n${otherId},${createdAt},${createdAt},ada@example.com,Ada,en,"{""plan"":""pro""}"\r\n`,
    jsonl: `{"id":"${otherId}","created_at":"${createdAt}","updated_at":"${createdAt}","email":"ada@example.com","name":"Ada","language":"en","properties":{"plan":"pro"}}\n`,
  },
  exportContacts: {
    csv: `id,created_at,survey_id,survey_name,email,name,properties,status,failure_reason,sent_at,responded_at,round\r\n${ids['Contact']},${createdAt},${ids['Survey']},Spring,ada@example.com,Ada,"{""plan"":""pro""}",responded,,${sentAt},${answeredAt},1\r\n`,
    jsonl: `{"id":"${ids['Contact']}","created_at":"${createdAt}","survey_id":"${ids['Survey']}","survey_name":"Spring","email":"ada@example.com","name":"Ada","properties":{"plan":"pro"},"status":"responded","failure_reason":null,"sent_at":"${sentAt}","responded_at":"${answeredAt}","round":1}\n`,
  },
};

/** Makes an example for each operation and event from its schemas. */
export function examplesOf(
  sections: readonly ApiSection[],
  events: typeof messages,
): Readonly<Record<string, Example>> {
  const named = Object.assign({}, ...sections.map(({ schemas }) => schemas));
  const owners = new Map<v.GenericSchema, string>(
    Object.entries<v.GenericSchema>(named).map(([name, schema]) => [schema, name]),
  );
  const sample = (schema: v.GenericSchema | undefined, of: string) =>
    schema && sampleOf(schema, { owners, of, name: '' });
  return Object.fromEntries([
    ...sections
      .flatMap(operationsOf)
      .map(({ id, path, body, message, answer, also }): [string, Example] => [
        id,
        {
          path: pathOf(path),
          body: sample(body, id),
          answer: sample(answer.schema, id),
          also: sample(also?.schema, id),
          ...(message && { message: deliveryReport }),
          ...(files[id] && { files: files[id] }),
        },
      ]),
    ...events.map(({ type, payload }): [string, Example] => [
      type,
      { body: sample(payload, type) },
    ]),
  ]);
}

const pathOf = (path: string) =>
  Object.fromEntries(
    [...path.matchAll(/(\w)(\w*?)s?\/\{(\w+)\}/g)].map(([, first = '', rest, name = '']) => [
      name,
      name === 'id' ? idOf(`${first.toUpperCase()}${rest}`) : String(values[name]),
    ]),
  );

/** `SurveyItem` has the id of a survey. */
const idOf = (owner: string) => ids[/^[A-Z][a-z]+/.exec(owner)?.[0] ?? ''] ?? otherId;

type Place = { owners: ReadonlyMap<v.GenericSchema, string>; of: string; name: string };

function sampleOf(schema: v.GenericSchema, place: Place): unknown {
  const of = place.owners.get(schema) ?? place.of;
  const { name } = place;
  const kind = /^[A-Z][a-z]+/.exec(of)?.[0];
  const value = [`${of}.${name}`, `${kind}.${name}`, name]
    .map((key) => values[key])
    .find((each) => each !== undefined && v.is(schema, each));
  if (value !== undefined) return value;
  const { type, entries, item, wrapped, options, literal } = schema as unknown as Parts;
  if (type === 'object') {
    const fields = Object.entries(entries).map(([field, each]) => [
      field,
      sampleOf(each, { ...place, of, name: field }),
    ]);
    return Object.fromEntries(fields.filter(([, each]) => each !== undefined));
  }
  if (type === 'array') return [sampleOf(item, { ...place, of })];
  if (type === 'nullable' || type === 'null') return null;
  if (type === 'optional' || type === 'nullish') return undefined;
  if (type === 'picklist') return options[0];
  if (type === 'literal') return literal;
  return [idOf(of), answeredAt, 1, true, 'text', {}].find((each) => v.is(wrapped ?? schema, each));
}

type Parts = {
  type: string;
  entries: Record<string, v.GenericSchema>;
  item: v.GenericSchema;
  wrapped?: v.GenericSchema;
  options: readonly unknown[];
  literal: unknown;
};
