import { likePattern, one, type Part, type Sql } from '../lib/db/db.ts';
import { peopleMatching } from '../people/audience.ts';
import type { PeopleFilter } from '../people/filter.ts';
import { judgeContacts } from '../sends/claim.ts';
import { blockReasons, type Judgement, readContact } from '../sends/rules.ts';
import type { OrgSurvey } from '../surveys/queries.ts';
import type { SendWindow } from '../surveys/schemas.ts';

/** `reminds_of` is the mail that the reminder follows. The frequency rule does not apply to reminders. */
export async function judgeReminded(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  contacts: readonly AskableContact[],
): Promise<JudgedContact[]> {
  const contactIds = contacts.map(({ id }) => id);
  const facts = await sql<ReminderFacts[]>`
    select c.id as contact_id, m.id as mail_id, c.responded_at is not null as answered, c.superseded,
           (select max(kind) from suppressions x
            where x.org_id = c.org_id and x.email = c.email_key) as suppressed
    from contacts c
    join mails m on m.contact_id = c.id and m.org_id = c.org_id and m.reminder = 0 and m.status = 'sent'
    where c.org_id = ${orgId} and c.survey_id = ${surveyId} and c.id = any (${contactIds}::uuid[])`;
  const byContact = new Map(facts.map((each) => [each.contact_id, each]));
  return contacts.map((contact) => {
    const about = byContact.get(contact.id);
    const block = blockOfReminder(about);
    const judgement: Judgement = block
      ? { status: 'duplicate', key: contact.key, ...block }
      : { send: readContact(contact).recipient! };
    return { ...contact, judgement, reminds_of: about?.mail_id };
  });
}

function blockOfReminder(facts: ReminderFacts | undefined) {
  const alreadySent = (reason: string) => ({ reason_code: 'already_sent', reason }) as const;
  if (!facts) return alreadySent('the first email did not arrive');
  if (facts.answered) return alreadySent('this contact has already responded');
  if (facts.superseded) return alreadySent('the next round of this contact has begun');
  return facts.suppressed && blockReasons[facts.suppressed];
}

/** Each run looks back this far, because a row may be committed after a run has passed its time. */
const commitMargin = '1 hour';

type ReminderFacts = {
  contact_id: string;
  mail_id: string;
  answered: boolean;
  superseded: boolean;
  suppressed: 'unsubscribed' | 'bounced' | null;
};

export type AutomaticSurvey = {
  org_id: string;
  survey_id: string;
  name: string;
  repeats: boolean;
  ask_after_days: number | null;
  ask_since: Date | null;
  reminders: { after_days: number }[];
  send_window: SendWindow | null;
};

export async function listAutomaticSurveys(sql: Sql) {
  return await sql<AutomaticSurvey[]>`
    -- all organizations
    select org_id, id as survey_id, name, repeat is not null as repeats, ask_after_days, ask_after_days_since as ask_since, reminders,
           send_window
    from surveys
    where status <> 'draft' and completed_by is distinct from 'hand'
      and (ask_after_days is not null or repeat is not null or reminders <> '[]')
    order by org_id, id`;
}

export type Automation = {
  id: string;
  turn: number;
  month: string | null;
  waiting: number;
  created_at: Date;
  seen_until: Date | null;
};

/** Reminder 0 is the automatic first send, or the email of a later round. */
export type Enrollment = {
  survey: AutomaticSurvey;
  kind: 'asking' | 'round' | 'reminder';
  reminder: number;
  afterDays: number;
  now: Date;
};

/** One row per survey, kind and reminder. Changing its days restarts it from now. */
export async function saveAutomation(
  sql: Sql,
  { survey, kind, reminder, afterDays, now }: Enrollment,
) {
  return one(
    await sql<Automation[]>`
      -- all organizations
      insert into campaigns as c (org_id, survey_id, kind, reminder, after_days, name, status, created_at, started_at)
      values (${survey.org_id}, ${survey.survey_id}, ${kind}, ${reminder}, ${afterDays}, ${survey.name}, 'running',
              ${now}, ${now})
      on conflict (survey_id, kind, reminder) where kind <> 'campaign' do update
        set after_days = excluded.after_days,
            created_at = case when c.after_days = excluded.after_days then c.created_at else excluded.created_at end
      returning id, turn, month::text, waiting, created_at, seen_until`,
  );
}

export type Due = Enrollment & { campaign: Automation };

export const enrollBatchSize = 2000;

export async function listDueToAsk(
  sql: Sql,
  { survey: { org_id, survey_id }, campaign, afterDays, now }: Due,
) {
  return await sql<AskableContact[]>`
    -- all organizations
    select c.id, c.email, c.email_key as key
    from contacts c
    where c.org_id = ${org_id} and c.survey_id::text = ${survey_id} and c.status = 'pending' and c.round = 1
      and c.created_at > coalesce(${campaign.seen_until}::timestamptz - ${commitMargin}::interval, '-infinity')
      and c.created_at <= ${now}::timestamptz - make_interval(days => ${afterDays})
      and not exists (select from campaign_contacts w
                      where w.contact_id = c.id and w.campaign_id = ${campaign.id})
    order by c.created_at, c.id
    limit ${enrollBatchSize}`;
}

/** Skips contacts who were due before the reminder was set. */
export async function listDueToRemind(
  sql: Sql,
  { survey: { org_id, survey_id }, campaign, afterDays, now }: Due,
) {
  return await sql<AskableContact[]>`
    -- all organizations
    select c.id, c.email, c.email_key as key
    from mails m
    join contacts c on c.org_id = m.org_id and c.survey_id = m.survey_id and c.id = m.contact_id
    where m.org_id = ${org_id} and m.survey_id::text = ${survey_id} and m.reminder = 0 and m.status = 'sent'
      and m.claimed_at > coalesce(${campaign.seen_until}::timestamptz - ${commitMargin}::interval, '-infinity')
      and m.finished_at <= ${now}::timestamptz - make_interval(days => ${afterDays})
      and m.finished_at >= ${campaign.created_at}::timestamptz - make_interval(days => ${afterDays})
      and c.responded_at is null and not c.superseded
      and not exists (select from suppressions x where x.org_id = c.org_id and x.email = c.email_key)
      and not exists (select from campaign_contacts w
                      where w.contact_id = c.id and w.campaign_id = ${campaign.id})
    order by m.finished_at, m.id
    limit ${enrollBatchSize}`;
}

/** Returns the time up to which all claimed mails are finished: none is open or becomes due later. */
export async function findRemindedUntil(
  sql: Sql,
  { survey: { org_id, survey_id }, campaign, afterDays, now }: Due,
) {
  const { until } = one(
    await sql<{ until: Date }[]>`
      select least(${now}::timestamptz - make_interval(days => ${afterDays}), min(claimed_at)) as until
      from mails
      where org_id = ${org_id} and survey_id::text = ${survey_id} and reminder = 0
        and claimed_at > coalesce(${campaign.seen_until}::timestamptz - ${commitMargin}::interval, '-infinity')
        and claimed_at <= ${now}::timestamptz - make_interval(days => ${afterDays})
        and (status in ('claimed', 'sending')
             or (status = 'sent' and finished_at > ${now}::timestamptz - make_interval(days => ${afterDays})))`,
  );
  return until;
}

export async function countEnrolled(
  sql: Sql,
  { org_id, id }: { org_id: string; id: string },
  counts: { total: number; waiting: number; month: string; turn: number; now: Date },
) {
  const { total, waiting, month, turn, now } = counts;
  await sql`
    update campaigns
    set total = total + ${total}, duplicates = duplicates + ${total - waiting}, waiting = waiting + ${waiting},
        month = ${month}::date, turn = ${turn}, next_at = ${now}
    where org_id = ${org_id} and id = ${id}`;
}

export async function saveSeenUntil(sql: Sql, { survey, campaign }: Due, until: Date) {
  await sql`
    update campaigns set seen_until = ${until} where org_id = ${survey.org_id} and id = ${campaign.id}`;
}

export function contactRow({ id: contact_id, judgement }: JudgedContact) {
  if ('send' in judgement) return { contact_id, reason_code: null, reason: null };
  const { reason_code, reason } = judgement;
  return { contact_id, reason_code, reason };
}

const judgeBatchSize = 5000;

export type JudgedContact = AskableContact & {
  judgement: Judgement;
  reminds_of?: string | undefined;
};

export const judgementsOf = (judged: readonly JudgedContact[]) =>
  judged.map(({ judgement }) => judgement);

/** `filter` selects people instead of the pending contacts. */
export type Askable = { frequencyDays: number | null; filter: PeopleFilter | null };

/** Yields judged contacts in batches to bound memory. */
export async function* judgeAskable(
  sql: Sql,
  survey: OrgSurvey,
  { frequencyDays, filter }: Askable,
) {
  for (let after = ''; ; ) {
    const contacts: AskableContact[] = await sql<AskableContact[]>`
      select * from (${askable(sql, survey, filter)}) p
      where p.key > ${after}
      order by p.key
      limit ${judgeBatchSize}`;
    if (contacts.length === 0) return;
    yield await judgeSome(sql, survey, contacts, { frequencyDays });
    if (contacts.length < judgeBatchSize) return;
    after = contacts.at(-1)!.key;
  }
}

/** The id is the contact's id, or the person's id for people who are not contacts yet. */
const askable = (sql: Sql, { orgId, surveyId }: OrgSurvey, filter: PeopleFilter | null): Part =>
  filter
    ? sql`
        select coalesce(c.id, p.id) as id, coalesce(c.email, p.email) as email, p.name, p.email_key as key,
               coalesce(c.status not in ('pending', 'failed'), false) as asked
        from (select p.* from ${peopleMatching(sql, orgId, filter)}) p
        left join contacts c
          on c.org_id = ${orgId} and c.survey_id = ${surveyId} and c.email_key = p.email_key and not c.superseded`
    : sql`
        select id, email, name, email_key as key
        from contacts
        where org_id = ${orgId} and survey_id = ${surveyId} and not superseded and status in ('pending', 'failed')`;

const maxMatches = 6;

/** Finds contacts or people to ask by a part of their address or name. */
export async function searchAskable(
  sql: Sql,
  survey: OrgSurvey,
  { text, frequencyDays, filter }: Askable & { text: string },
): Promise<JudgedContact[]> {
  const contacts = await sql<AskableContact[]>`
    select * from (${askable(sql, survey, filter)}) p
    where p.email || ' ' || coalesce(p.name, '') ilike ${likePattern(text)}
    order by p.key = lower(${text}) desc, p.key
    limit ${maxMatches}`;
  return await judgeSome(sql, survey, contacts, { frequencyDays });
}

export async function judgeSome(
  sql: Sql,
  survey: OrgSurvey,
  contacts: readonly AskableContact[],
  rules: { frequencyDays: number | null; at?: Date },
): Promise<JudgedContact[]> {
  const submitted = contacts.map(({ email }) => readContact({ email }));
  const judgements = await judgeContacts(sql, survey, submitted, rules);
  return contacts.map((contact, place) => {
    return { ...contact, judgement: judgeAsked(contact, judgements[place]!) };
  });
}

/** A campaign never asks a contact twice. Rounds do. */
function judgeAsked({ asked, key }: AskableContact, judgement: Judgement): Judgement {
  if (!asked || !('send' in judgement)) return judgement;
  const reason = 'this survey was already sent to this address';
  return { status: 'duplicate', reason_code: 'already_sent', reason, key };
}

export type AskableContact = {
  id: string;
  email: string;
  key: string;
  name?: string | null;
  /** True if an audience selected the contact and its status is neither pending nor failed. */
  asked?: boolean;
};
