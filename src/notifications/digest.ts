import { one, type Part, type Sql } from '../lib/db/db.ts';
import { formatValue, measure, type SurveyType, type Tally, typeFacts } from '../survey-types.ts';
import type { StoredNotification } from './mail.ts';

type DigestSubject = Pick<StoredNotification, 'org_id' | 'organization' | 'subject' | 'time_zone'>;

/** Reports a day or a week, with one number for each scale, as Home does, which its button opens. */
export async function digestLetter(db: Sql, about: DigestSubject) {
  const { org_id: orgId, organization, subject, time_zone: timeZone } = about;
  const [unit = 'day', day = ''] = subject.split(' ');
  const periods = await readDigestPeriods(db, { unit, day, timeZone });
  const kinds = await countKinds(db, orgId, periods);
  const [first, last] = [periods.start, new Date(periods.end.getTime() - 1)];
  const responses = kinds.reduce((sum, { now }) => sum + now.responses, 0);
  const numbers = kinds.filter(({ now }) => now.responses > 0).map((kind) => describe(kind, kinds));
  const open = await countOpenDetractors(db, orgId);
  const [from, to] = [shownDay(timeZone, first), shownDay(timeZone, last)];
  const query = new URLSearchParams({
    date_from: queryDay(timeZone, first),
    date_to: queryDay(timeZone, last),
  });
  return {
    subject: `${organization}: ${[counted(responses, 'response'), ...numbers.slice(0, 1).map(({ short }) => short)].join(', ')}`,
    sentences: [
      from === to ? `${from}.` : `${from} to ${to}.`,
      `${counted(responses, 'response')}.`,
      ...numbers.map(({ long, responses }) =>
        numbers.length === 1 ? `${long}.` : `${long} (${counted(responses, 'response')}).`,
      ),
      `${counted(open, 'detractor')} open.`,
    ],
    action: 'Open Home',
    path: `?${query}`,
  };
}

/** The number of one scale: `NPS 42`, and `NPS, employees: 42, 3 more than before`. */
function describe({ type, audience, now, earlier }: DigestKind, kinds: readonly DigestKind[]) {
  const { shortNumber, measure: measured } = typeFacts(type);
  const is = measure(type, now, null).value;
  const was = measure(type, earlier, null).value;
  const value = formatValue(type, is ?? 0);
  const asked = audience === 'employee' ? 'employees' : 'customers';
  const hasBoth = kinds.filter((kind) => kind.type === type).length > 1;
  const name = hasBoth ? `${shortNumber}, ${asked}` : shortNumber;
  return {
    short: `${shortNumber} ${value}`,
    long: `${name}: ${value}${describeChange(is, was, decimalsOf[measured])}`,
    responses: now.responses,
  };
}

function describeChange(is: number | null, was: number | null, decimals: number) {
  if (is === null || was === null) return '';
  const by = Number((is - was).toFixed(decimals));
  if (by === 0) return ', as before';
  const shown = Math.abs(by).toFixed(by % 1 === 0 ? 0 : decimals);
  return `, ${shown} ${by > 0 ? 'more' : 'less'} than before`;
}

const decimalsOf = { nps: 0, share: 1, mean: 2 } as const;

const shownDay = (timeZone: string, moment: Date) =>
  new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'long' }).format(moment);

/** As in an address: 2026-03-01. */
const queryDay = (timeZone: string, moment: Date) =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(moment);

export const counted = (number: number, thing: string) =>
  `${number.toLocaleString('en')} ${thing}${number === 1 ? '' : 's'}`;

type DigestPeriods = { before: Date; start: Date; end: Date };

/** The day or week that ended on that day, by the member's clock, and when the one before it began. */
export async function readDigestPeriods(
  sql: Sql,
  { unit, day, timeZone }: { unit: string; day: string; timeZone: string },
) {
  const each = sql`('1 ' || ${unit}::text)::interval`;
  return one(
    await sql<DigestPeriods[]>`
      select (${day}::timestamp - 2 * ${each}) at time zone ${timeZone} as before,
             (${day}::timestamp - ${each}) at time zone ${timeZone} as start,
             ${day}::timestamp at time zone ${timeZone} as end`,
  );
}

type DigestCounts = Tally & { responses: number; score_sum: number };

type DigestKind = {
  type: SurveyType;
  audience: 'employee' | 'customer';
  now: DigestCounts;
  earlier: DigestCounts;
};

/** Scores of different scales, and of employees and customers, are never added up. The kind with the most responses ever comes first, as on Home. */
async function countKinds(
  sql: Sql,
  orgId: string,
  { before, start, end }: DigestPeriods,
): Promise<DigestKind[]> {
  return await sql<DigestKind[]>`
    with kinds as (
      select s.type, coalesce(s.audience, 'customer') as audience,
             ${countsOfPeriod(sql, sql`r.created_at >= ${start}`)} as now,
             ${countsOfPeriod(sql, sql`r.created_at < ${start}`)} as earlier
      from responses r
      join surveys s on s.org_id = r.org_id and s.id = r.survey_id
      where r.org_id = ${orgId} and r.held_reason is null
        and r.created_at >= ${before} and r.created_at < ${end}
      group by 1, 2
    )
    select k.type, k.audience, k.now, k.earlier
    from kinds k
    order by (
      select sum(t.promoters + t.passives + t.detractors)
      from survey_tallies t
      join surveys s on s.org_id = t.org_id and s.id = t.survey_id
      where t.org_id = ${orgId} and s.type = k.type and coalesce(s.audience, 'customer') = k.audience
    ) desc nulls last, k.type, k.audience`;
}

const countsOfPeriod = (sql: Sql, when: Part) => sql`
  json_build_object(
    'responses', count(*) filter (where ${when}),
    'score_sum', coalesce(sum(r.score) filter (where ${when}), 0),
    'promoters', count(*) filter (where ${when} and r.category = 'promoter'),
    'passives', count(*) filter (where ${when} and r.category = 'passive'),
    'detractors', count(*) filter (where ${when} and r.category = 'detractor'))`;

async function countOpenDetractors(sql: Sql, orgId: string): Promise<number> {
  const [found] = await sql<{ open: number }[]>`
    select count(*)::int as open
    from responses
    where org_id = ${orgId} and held_reason is null and state = 'open' and category = 'detractor'`;
  return found?.open ?? 0;
}
