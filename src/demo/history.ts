import { randomBytes, randomUUID } from 'node:crypto';
import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Sql } from '../lib/db/db.ts';
import { addUsage, lockUsage } from '../organizations/queries.ts';
import { savePeople } from '../people/save.ts';
import type { StoredAnswer } from '../questions/check-answers.ts';
import type { Question } from '../questions/definition.ts';
import { insertSuppressions } from '../suppressions/queries.ts';
import type { ManagedSurvey } from '../surveys/queries.ts';
import { newSecret } from '../webhooks/deliver.ts';
import { detractorDetected, responseReceived } from '../webhooks/events.ts';
import { maxFailures } from '../webhooks/rules.ts';
import sayings from './sayings.json' with { type: 'json' };
import { type makeStory, reminderDays, type StoryAnswer, type StoryContact } from './story.ts';

type Row = Record<string, unknown>;

/** Writes rows with times in the past, which no feature can do. All rows must have the same columns. */
export async function insertRows(sql: Sql, table: string, rows: readonly Row[]) {
  if (rows.length === 0) return;
  const columns = sql(Object.keys(rows[0]!));
  await sql`
    insert into ${sql(table)} (${columns})
    select ${columns}
    from json_populate_recordset(null::${sql(table)}, ${JSON.stringify(rows)}::text::json)`;
}

const hoursAfter = (time: Date, hours: number) => new Date(time.getTime() + hours * 3_600_000);

/** Makes an id that sorts by time, like the SQL function `id_at`. */
function idAt(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000${randomUUID().slice(18)}`;
}

export type Owner = { id: string; name: string };

type HistoryOf = {
  orgId: string;
  survey: ManagedSurvey;
  owners: readonly Owner[];
  tagIds: ReadonlyMap<string, string>;
  now: Date;
};

type PastContact = StoryContact & { id: string };
export type PastResponse = StoryAnswer & { id: string; survey: ManagedSurvey; name: string | null };

/** Writes what happened to a survey, and returns its responses. */
export async function fillHistory(
  tx: Sql,
  of: HistoryOf,
  { contacts: people, anonymous }: ReturnType<typeof makeStory>,
): Promise<PastResponse[]> {
  const key = { org_id: of.orgId, survey_id: of.survey.id };
  const contacts = people.map((contact) => ({ ...contact, id: idAt(contact.created_at) }));
  await insertRows(
    tx,
    'contacts',
    contacts.map(({ id, email, name, properties, status, sent_at, answer, created_at }) => ({
      ...key,
      id,
      email,
      name,
      properties,
      status,
      failure_reason: status === 'bounced' ? noMailbox : null,
      token: randomBytes(24).toString('base64url'),
      sent_at: status === 'bounced' ? null : sent_at,
      responded_at: answer?.created_at ?? null,
      created_at,
    })),
  );
  await savePeople(tx, of.orgId, contacts);
  await fillMails(tx, of, contacts);
  const toResponse = (answer: StoryAnswer, contact: PastContact | null) => ({
    ...answer,
    id: randomUUID(),
    survey: of.survey,
    contactId: contact?.id ?? null,
    name: contact?.name ?? null,
  });
  const responses = [
    ...contacts.flatMap((contact) => (contact.answer ? [toResponse(contact.answer, contact)] : [])),
    ...anonymous.map((answer) => toResponse(answer, null)),
  ];
  await insertRows(
    tx,
    'responses',
    responses.map(({ id, contactId, handling, ...answer }) => ({
      ...key,
      id,
      contact_id: contactId,
      source: contactId === null ? 'share' : 'link',
      score: answer.score,
      category: answer.category,
      comment: answer.comment,
      language: answer.language,
      chosen_state: handling.isDone ? 'done' : null,
      owner_id: handling.owner === null ? null : (of.owners[handling.owner]?.id ?? null),
      created_at: answer.created_at,
    })),
  );
  await insertRows(tx, 'responses', of.survey.type === 'nps' ? heldOf(key, contacts) : []);
  await insertRows(tx, 'response_answers', responses.flatMap(answersOf(of)));
  await fillFollowUp(tx, of, responses);
  return responses;
}

/** Responses that a mail scanner submitted, from the newest emails without an answer. */
const heldOf = (key: Row, contacts: readonly PastContact[]) =>
  contacts
    .filter(({ status, sent_at, answer }) => status === 'sent' && sent_at && !answer)
    .sort((one, other) => +other.sent_at! - +one.sent_at!)
    .slice(0, scannedMails)
    .map(({ id, sent_at }) => ({
      ...key,
      contact_id: id,
      source: 'link',
      score: 0,
      category: 'detractor',
      held_reason: 'scores_opened',
      created_at: hoursAfter(sent_at!, 0.03),
    }));

const scannedMails = 2;

const answersOf =
  ({ orgId, survey }: HistoryOf) =>
  ({ id, answers, created_at }: PastResponse) => {
    const given = answers.flatMap((answer, at): [string, StoredAnswer][] => {
      const question: Question | undefined = survey.questions[at];
      return answer && question ? [[question.id, answer]] : [];
    });
    if (given.length === 0) return [];
    const saved_at = hoursAfter(created_at, 0.02);
    const answered = { answers: Object.fromEntries(given), sent: true, saved_at };
    return [{ org_id: orgId, response_id: id, ...answered, completed_at: saved_at }];
  };

const noMailbox = '550 5.1.1 The email account that you tried to reach does not exist';

/** Writes the emails of a survey, and its campaigns and reminders if it has any. */
async function fillMails(tx: Sql, of: HistoryOf, contacts: readonly PastContact[]) {
  const { orgId, survey } = of;
  const key = { org_id: orgId, survey_id: survey.id };
  const asked = contacts.filter(({ sent_at }) => sent_at !== null);
  const mails = new Map<string, string>();
  for (const [campaign, people] of Map.groupBy(asked, ({ campaign }) => campaign)) {
    const batch = campaign === null ? null : await fillCampaign(tx, of, people);
    const rows = people.map((contact) => {
      mails.set(contact.id, idAt(contact.sent_at!));
      const row = mailRow(key, contact, contact.sent_at!);
      return { ...row, id: mails.get(contact.id), request_id: batch ?? randomUUID() };
    });
    await insertRows(tx, 'mails', rows);
  }
  await fillReminders(tx, of, asked, mails);
  await fillUsage(tx, orgId, asked);
  const gone = asked.filter(({ status }) => status === 'bounced' || status === 'unsubscribed');
  await insertSuppressions(
    tx,
    orgId,
    gone.map(({ email, status, sent_at }) => ({
      email,
      kind: status === 'bounced' ? 'bounced' : 'unsubscribed',
      detail: status === 'bounced' ? noMailbox : null,
      created_at: sent_at,
    })),
  );
}

function mailRow(key: Row, { id, email, status }: PastContact, at: Date) {
  const isBounced = status === 'bounced';
  return {
    ...key,
    contact_id: id,
    email,
    awaited: false,
    blocks_resend: !isBounced,
    attempts: 1,
    status: isBounced ? 'failed' : 'sent',
    reason: isBounced ? noMailbox : null,
    reason_code: isBounced ? 'rejected' : null,
    server_reply: isBounced ? null : '250 2.0.0 Ok: queued',
    month: `${at.toISOString().slice(0, 7)}-01`,
    claimed_at: at,
    sending_at: at,
    finished_at: hoursAfter(at, 0.001),
  };
}

const monthName = (time: Date) =>
  time.toLocaleDateString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });

async function fillCampaign(tx: Sql, of: HistoryOf, people: readonly PastContact[]) {
  const times = people.map(({ sent_at }) => +sent_at!);
  const at = new Date(Math.min(...times) - 60_000);
  return await fillBatch(tx, of, people, {
    name: `New customers, ${monthName(at)}`,
    status: 'finished',
    created_at: hoursAfter(at, -2),
    started_at: at,
    finished_at: new Date(Math.max(...times) + 60_000),
  });
}

/** `seen_until` keeps the service from sending reminders of past emails. */
async function fillReminders(
  tx: Sql,
  of: HistoryOf,
  asked: readonly PastContact[],
  mails: ReadonlyMap<string, string>,
) {
  const { orgId, survey, now } = of;
  const reminded = asked.filter(({ reminded_at }) => reminded_at !== null);
  if (reminded.length === 0) return;
  const request_id = await fillBatch(tx, of, reminded, {
    name: survey.name,
    status: 'running',
    kind: 'reminder',
    reminder: 1,
    after_days: reminderDays,
    seen_until: hoursAfter(now, -24 * reminderDays),
    created_at: survey.created_at,
    started_at: survey.created_at,
  });
  const key = { org_id: orgId, survey_id: survey.id, request_id, reminder: 1 };
  const rows = reminded.map((contact) => {
    const at = contact.reminded_at!;
    return { ...mailRow(key, contact, at), id: idAt(at), reminds_of: mails.get(contact.id) };
  });
  await insertRows(tx, 'mails', rows);
}

/** A row of campaigns with one batch for these people. Returns the id of the batch. */
async function fillBatch(
  tx: Sql,
  { orgId: org_id, survey: { id: survey_id } }: HistoryOf,
  people: readonly PastContact[],
  campaign: Row & { started_at: Date },
) {
  const [campaign_id, batch_id] = [randomUUID(), randomUUID()];
  const total = people.length;
  const failed = people.filter(({ status }) => status === 'bounced').length;
  const at = campaign.started_at;
  await insertRows(tx, 'campaigns', [{ ...campaign, id: campaign_id, org_id, survey_id, total }]);
  const counts = { mails: total, sent: total - failed, blocked: 0, failed };
  const times = { claimed_at: at, ended_at: hoursAfter(at, 0.6) };
  await insertRows(tx, 'campaign_batches', [
    { id: batch_id, org_id, campaign_id, ...counts, ...times },
  ]);
  const judged = { org_id, survey_id, campaign_id, batch_id, created_at: at };
  await insertRows(
    tx,
    'campaign_contacts',
    people.map(({ id: contact_id }) => ({ ...judged, contact_id })),
  );
  return batch_id;
}

async function fillUsage(tx: Sql, orgId: string, asked: readonly PastContact[]) {
  const times = asked.flatMap(({ sent_at, reminded_at }) =>
    [sent_at ?? [], reminded_at ?? []].flat(),
  );
  const byMonth = Map.groupBy(times, (time) => time.toISOString().slice(0, 7));
  for (const [month, mails] of byMonth) {
    await lockUsage(tx, orgId, mails[0]!);
    await addUsage(tx, orgId, `${month}-01`, mails.length);
  }
}

const tagWords: readonly (readonly [string, RegExp])[] = [
  ['App', /\bapp\b|application/i],
  ['Delivery', /deliver|parcel|courier|lieferung|paket|colis/i],
  ['Refund', /refund|charged|abgebucht/i],
  ['Idea', /would like|wish|please|wünsche/i],
];

/** Tags, notes and replies. */
async function fillFollowUp(
  tx: Sql,
  { orgId, owners, tagIds, now }: HistoryOf,
  responses: readonly PastResponse[],
) {
  const key = ({ id }: PastResponse) => ({ org_id: orgId, response_id: id });
  const soon = ({ created_at, handling }: PastResponse, factor = 1) =>
    new Date(Math.min(+hoursAfter(created_at, handling.hours * factor), +now - 60_000));
  const writer = ({ handling }: PastResponse) => ({
    author: owners[handling.owner ?? 0]?.name ?? 'Demo',
    author_kind: 'member',
  });
  const tagged = responses.flatMap((response) =>
    tagsOf(response).map((name) => ({ ...key(response), tag_id: tagIds.get(name) })),
  );
  await insertRows(tx, 'response_tags', tagged);
  const noted = responses.filter(({ handling, comment }) => handling.note && comment);
  const notes = noted.map((response, at) => ({
    ...key(response),
    text: sayings.notes[at % sayings.notes.length],
    ...writer(response),
    created_at: soon(response, 0.8),
  }));
  await insertRows(tx, 'response_notes', notes);
  const replied = responses.filter(
    ({ handling, comment, name, language }) =>
      handling.reply && comment && name && language === 'en',
  );
  const replies = replied.map((response, at) => {
    const texts = sayings.replies[response.about === 'release' ? 'release' : 'detractor'];
    const { author, author_kind } = writer(response);
    const [first = ''] = (response.name ?? '').split(' ');
    const text = texts[at % texts.length]!.replace('{name}', first);
    const created_at = soon(response);
    return {
      ...key(response),
      text: `${text}\n${author}`,
      author,
      author_kind,
      closes: true,
      status: 'sent',
      attempts: 1,
      server_reply: '250 2.0.0 Ok: queued',
      created_at,
      sending_at: created_at,
      finished_at: created_at,
    };
  });
  await insertRows(tx, 'replies', replies);
}

function tagsOf({ comment, category, handling: { luck } }: PastResponse): string[] {
  if (comment === null || luck > 0.7) return [];
  if (category === 'promoter') return luck < 0.2 ? ['Praise'] : [];
  return tagWords.filter(([, words]) => words.test(comment)).map(([name]) => name);
}

const webhookDays = 30;
/** Every 23rd delivery fails at its first attempt. */
const retriedEvery = 23;
const busy = { status_code: 503, response_body: 'Service Unavailable' };

/**
 * A webhook with a month of deliveries. The last ones failed and turned it off, because its address does not exist and
 * each new delivery would fail.
 */
export async function fillWebhook(
  tx: Sql,
  { orgId, secrets, now }: { orgId: string; secrets: Secrets; now: Date },
  responses: readonly PastResponse[],
) {
  const id = randomUUID();
  const recent = responses
    .filter(({ created_at }) => +created_at > +now - webhookDays * 86_400_000)
    .sort((one, other) => +one.created_at - +other.created_at);
  const webhook = {
    id,
    org_id: orgId,
    url: 'https://crm.larkspur.example/hooks/askback',
    events: ['response.received', 'detractor.detected'],
    description: 'Customer records (an example: this address does not exist)',
    secret: `\\x${secrets.seal({ owner: orgId, id }, newSecret()).toString('hex')}`,
    active: false,
    failure_count: maxFailures,
    deactivated_at: recent.at(-1)?.created_at ?? null,
    deactivated_reason: `${maxFailures} deliveries in a row failed (last error: status 503)`,
    last_delivery_at: recent.at(-1)?.created_at ?? null,
    created_at: hoursAfter(now, -300 * 24),
    updated_at: now,
  };
  const published = recent.flatMap((response) => {
    const { id: responseId, survey, score, comment, category, created_at: at } = response;
    const facts = { surveyId: survey.id, responseId, surveyType: survey.type, score, at };
    const events = [responseReceived({ ...facts, comment })];
    if (category === 'detractor') {
      events.push(detractorDetected({ ...facts, excerpt: comment?.slice(0, 100) ?? null }));
    }
    return events.map((event) => ({ ...event, at }));
  });
  const deliveries = published.map(({ type, body, at }, number) => {
    const isFailed = number >= published.length - maxFailures;
    const attempts = isFailed || number % retriedEvery === retriedEvery - 1 ? 2 : 1;
    return { id: idAt(at), type, body, at, isFailed, attempts, took: 80 + ((number * 37) % 190) };
  });
  await insertRows(tx, 'webhooks', [webhook]);
  await insertRows(
    tx,
    'events',
    deliveries.map(({ id: event, type, body, at }) => {
      return { org_id: orgId, id: event, type, body, used_at: at };
    }),
  );
  const key = { org_id: orgId, webhook_id: id };
  await insertRows(
    tx,
    'ended_deliveries',
    deliveries.map(({ id: delivery, at, isFailed, attempts, took }) => ({
      ...key,
      id: delivery,
      event_id: delivery,
      delivered_at: isFailed ? null : hoursAfter(at, attempts === 1 ? 0.0002 : 0.02),
      duration_ms: isFailed ? null : took,
      attempts,
      undelivered: isFailed ? 'failed' : null,
      ...(isFailed ? busy : { status_code: 200, response_body: '{"ok":true}' }),
    })),
  );
  const failures = deliveries.flatMap(({ attempts, isFailed, ...delivery }) =>
    [1, 2].slice(0, isFailed ? attempts : attempts - 1).map((number) => ({ ...delivery, number })),
  );
  await insertRows(
    tx,
    'delivery_attempts',
    failures.map(({ id: delivery_id, at, number, took }) => ({
      ...key,
      ...busy,
      delivery_id,
      number,
      duration_ms: took + 40,
      at: hoursAfter(at, 0.001 * number),
    })),
  );
}
