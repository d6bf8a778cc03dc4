import { one, type Sql } from '../lib/db/db.ts';
import { audienceText, type CountedKind, countKinds, type TwoPeriods } from '../responses/kinds.ts';
import { localDay } from '../responses/period.ts';
import {
  type Change,
  compare,
  formatInterval,
  formatValue,
  measure,
  typeFacts,
} from '../survey-types.ts';
import { counted } from '../web/app/lists.tsx';
import type { StoredNotification } from './mail.ts';

type DigestSubject = Pick<StoredNotification, 'org_id' | 'organization' | 'subject' | 'time_zone'>;

/** Summarizes a day or a week with one number per scale, like Home. */
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
    date_from: localDay(first, timeZone),
    date_to: localDay(last, timeZone),
  });
  return {
    subject: `${organization}: ${[counted(responses, 'response'), ...numbers.slice(0, 1).map(({ short }) => short)].join(', ')}`,
    sentences: [
      from === to ? `${from}.` : `${from} to ${to}.`,
      `${counted(responses, 'response')}.`,
      ...numbers.map(({ long }) => long),
      `${counted(open, 'open detractor')}.`,
    ],
    action: 'Open Home',
    path: `?${query}`,
  };
}

/** Formats the number of one kind: `NPS +42`, and `NPS, employees: +42, 30 more than before`. */
function describe(kind: CountedKind, kinds: readonly CountedKind[]) {
  const { type, now, earlier } = kind;
  const { shortNumber } = typeFacts(type);
  const is = measure(type, now, now.variance);
  const change = compare(type, is, measure(type, earlier, earlier.variance));
  const value = formatValue(type, is.value ?? 0);
  const number = `${shortNumber}${audienceText(kind, kinds)}: ${value}${describeChange(change)}`;
  const margin = is.interval ? `, margin of error ${formatInterval(type, is.interval)}` : '';
  return {
    short: `${shortNumber} ${value}`,
    long: `${number} (${counted(now.responses, 'response')}${margin}).`,
  };
}

function describeChange(change: Change | null) {
  if (change === null) return '';
  if (change.by === 0) return ', unchanged';
  const by = Math.abs(change.by);
  return {
    none: '',
    unknown: '',
    chance: ', no clear change',
    better: `, up ${by}`,
    worse: `, down ${by}`,
  }[change.meaning];
}

const shownDay = (timeZone: string, moment: Date) =>
  new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'long' }).format(moment);

/** Bounds of the day or week that ended on `day` in the member's time zone, and the start of the previous one. */
export async function readDigestPeriods(
  sql: Sql,
  { unit, day, timeZone }: { unit: string; day: string; timeZone: string },
) {
  const period = sql`('1 ' || ${unit}::text)::interval`;
  return one(
    await sql<TwoPeriods[]>`
      select (${day}::timestamp - 2 * ${period}) at time zone ${timeZone} as before,
             (${day}::timestamp - ${period}) at time zone ${timeZone} as start,
             ${day}::timestamp at time zone ${timeZone} as end`,
  );
}

async function countOpenDetractors(sql: Sql, orgId: string): Promise<number> {
  const [row] = await sql<{ open: number }[]>`
    select count(*)::int as open
    from responses
    where org_id = ${orgId} and held_reason is null and state = 'open' and category = 'detractor'`;
  return row?.open ?? 0;
}
