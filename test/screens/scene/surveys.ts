import { json, type Sql } from '../../../src/lib/db/db.ts';
import { ago, id, word } from './names.ts';
import { empty, full } from './organizations.ts';

const sender = {
  ...{ from_name: 'Larkspur', from_email: 'ask@larkspur.example' },
  reply_to: 'reply@larkspur.example',
};

/** A survey of each scale, one of each status, and one that uses all there is. */
export async function addSurveys(sql: Sql) {
  const all = {
    ...{ name: 'Onboarding <3', question_text: 'Would you recommend us, {{first_name|friend}}?' },
    ...{ subject: 'One question, {{name|please}}', intro: 'You joined us a week ago.' },
    follow_up: json(sql, { detractor: 'What went wrong?', promoter: 'What do you like?' }),
    thanks: json(sql, {
      promoter: {
        text: 'Review us!',
        link_url: 'https://reviews.example/larkspur',
        link_text: 'Review us',
      },
      detractor: { text: 'We will call you.' },
    }),
    texts: json(sql, {
      de: { question_text: 'Würden Sie uns empfehlen?', subject: 'Eine Frage' },
      ar: { question_text: 'هل توصي بنا؟' },
    }),
    reminders: json(sql, [{ after_days: 3 }, { after_days: 7 }]),
    ...{ ask_after_days: 2, ask_after_days_since: ago(30) },
    send_window: json(sql, {
      ...{
        days: ['mon', 'tue', 'wed', 'thu', 'fri'],
        from: '09:00',
        to: '17:00',
        time_zone: 'Europe/Berlin',
      },
    }),
    embed: json(sql, {
      ...{ origins: ['https://www.larkspur.example'], position: 'corner' },
      ...{ delay_seconds: 8, every_days: 14 },
    }),
  };
  await addSurvey(sql, 'nps', { ...all, created_at: ago(120) });
  await addSurvey(sql, 'csat', { type: 'csat', created_at: ago(100) });
  await addSurvey(sql, 'ces', { type: 'ces', created_at: ago(90) });
  await addSurvey(sql, 'star5', { type: 'star5', created_at: ago(80) });
  await addSurvey(sql, 'thumbs', { type: 'thumbs', created_at: ago(70) });
  await addSurvey(sql, 'employees', {
    ...{ audience: 'employee', name: 'Working here', created_at: ago(60), subject: null },
  });
  await addSurvey(sql, 'draft', { status: 'draft', created_at: ago(2) });
  await addSurvey(sql, 'closed', {
    ...{ status: 'completed', completed_by: 'hand', completed_at: ago(10), created_at: ago(50) },
  });
  await addSurvey(sql, 'answered', {
    ...{ status: 'completed', completed_by: 'answers', completed_at: ago(12), created_at: ago(40) },
  });
  await addSurvey(sql, 'alone', { org_id: empty.id, type: 'csat', created_at: ago(5) });
}

async function addSurvey(sql: Sql, name: string, over: Record<string, unknown>) {
  const survey = {
    ...{ id: id(`survey-${name}`), org_id: full.id, share_id: word(`share ${name}`).slice(0, 16) },
    ...{ name: `Survey ${name}`, question_text: 'How was it?', ...sender, ...over },
  };
  await sql`insert into surveys ${sql({ ...survey, updated_at: ago(1) })}`;
}

const plans = ['pro', 'free', 'team'];

/** Contacts that stand in every way, with the mails that brought them there. */
export async function addContacts(sql: Sql) {
  const people = [
    ...[{ name: 'Ada Marsh', status: 'responded', sent: 20, responded: 18 }],
    ...[
      { name: 'Ben Okoro', status: 'sent', sent: 9 },
      { name: 'Cora Diaz', status: 'sending' },
    ],
    ...[{ name: 'Dan Petrov', status: 'failed', reason: '550 5.7.1 refused', sent: 8 }],
    ...[{ name: 'Eva Lindqvist', status: 'bounced', reason: '550 5.1.1 no such user', sent: 7 }],
    ...[
      { name: 'Finn Baker', status: 'unsubscribed', sent: 15 },
      { name: 'Gil Abe', status: 'pending' },
    ],
    ...[{ name: 'ليلى منصور', status: 'responded', sent: 30, responded: 29 }],
    ...[{ name: null, status: 'pending' }],
  ];
  for (const [at, { name, status, reason, sent, responded }] of people.entries()) {
    const first = contactNames[at]!;
    await sql`insert into contacts ${sql({
      ...{ id: id(first), org_id: full.id, survey_id: id('survey-nps'), name, status },
      ...{ email: `${first}@people.example`, token: word(first).slice(0, 32) },
      properties: json(sql, { plan: plans[at % 3], seats: at, language: at === 0 ? 'de' : 'en' }),
      ...{ failure_reason: reason ?? null, sent_at: sent === undefined ? null : ago(sent) },
      responded_at: responded === undefined ? null : ago(responded),
      ...{ created_at: ago(40 - at), updated_at: ago(at) },
    })}`;
  }
  for (const [at, type] of ['csat', 'ces', 'star5', 'thumbs', 'employees', 'closed'].entries()) {
    await sql`insert into contacts ${sql({
      ...{ id: id(`ada-${type}`), org_id: full.id, survey_id: id(`survey-${type}`) },
      ...{
        email: 'ada@people.example',
        name: 'Ada Marsh',
        token: word(`ada ${type}`).slice(0, 32),
      },
      ...{ status: 'sent', sent_at: ago(5 + at), created_at: ago(30 + at), updated_at: ago(at) },
    })}`;
  }
  await addMails(sql);
}

export const contactNames = [
  ...['ada', 'ben', 'cora', 'dan', 'eva', 'finn', 'gil', 'layla', 'nameless'],
];

async function addMails(sql: Sql) {
  const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const mails = [
    ...[{ of: 'ada', status: 'sent', days: 20, traceparent: trace }],
    ...[
      { of: 'ben', status: 'sent', days: 9 },
      { of: 'cora', status: 'sending', days: 0 },
    ],
    ...[{ of: 'dan', status: 'failed', days: 8, reason: '550 5.7.1 refused', code: 'refused' }],
    ...[{ of: 'eva', status: 'failed', days: 7, reason: 'no such user', code: 'bounced' }],
    ...[{ of: 'finn', status: 'unknown', days: 15, reason: 'no answer', code: 'unknown_outcome' }],
    ...[
      { of: 'layla', status: 'sent', days: 30 },
      { of: 'gil', status: 'claimed', days: 0 },
    ],
  ];
  for (const { of, status, days, reason, code, traceparent } of mails) {
    const isOpen = status === 'claimed' || status === 'sending';
    await sql`insert into mails ${sql({
      ...{ id: id(`mail-${of}`), org_id: full.id, survey_id: id('survey-nps'), status },
      ...{ contact_id: id(of), request_id: id('batch'), email: `${of}@people.example` },
      ...{ blocks_resend: status !== 'failed', reason: reason ?? null, reason_code: code ?? null },
      ...{ month: '2026-05-01', traceparent: traceparent ?? null, attempts: 1 },
      ...{ claimed_at: ago(days, 2), sending_at: status === 'claimed' ? null : ago(days, 1) },
      finished_at: isOpen ? null : ago(days),
    })}`;
  }
  await sql`insert into mails ${sql({
    ...{ id: id('mail-ben-again'), org_id: full.id, survey_id: id('survey-nps'), status: 'sent' },
    ...{ contact_id: id('ben'), request_id: id('batch-2'), email: 'ben@people.example' },
    ...{ blocks_resend: true, reminder: 1, reminds_of: id('mail-ben'), month: '2026-05-01' },
    ...{ claimed_at: ago(6), sending_at: ago(6), finished_at: ago(6) },
  })}`;
  await sql`insert into blocked_mails ${sql({
    ...{ org_id: full.id, survey_id: id('survey-csat'), email: 'ada@people.example' },
    ...{ reason_code: 'frequency', reason: 'was mailed 20 days ago', blocked_at: ago(4) },
    blocked_on: '2026-05-16',
  })}`;
  for (const [at, hours] of [3, 2].entries()) {
    await sql`insert into link_visits ${sql({
      ...{ id: id(`visit-${at}`), org_id: full.id, survey_id: id('survey-nps') },
      ...{ contact_id: id('ada'), kind: 'view', method: 'GET', visited_at: ago(18, hours) },
    })}`;
  }
  const suppressed = [
    ...[{ of: 'finn', kind: 'unsubscribed', detail: null, days: 14 }],
    ...[{ of: 'eva', kind: 'bounced', detail: '550 5.1.1 no such user', days: 7 }],
  ];
  for (const { of, kind, detail, days } of suppressed) {
    await sql`insert into suppressions ${sql({
      ...{ id: id(`suppression-${of}`), org_id: full.id, email: `${of}@people.example` },
      ...{ kind, detail, created_at: ago(days) },
    })}`;
  }
}
