import type { Db } from '../../src/lib/db/db.ts';
import type { Arrived } from './relay-sink.ts';

type Books = {
  db: Db;
  surveyId: string;
  postfix: { log: () => string[] };
  arrived: readonly Arrived[];
};

type Row = { id: string; email: string; status: string; attempts: number; contact: string };

/** Holds what is recorded of each mail against what Postfix says it took, and what came out of it. */
export async function balanceOf({ db, surveyId, postfix, arrived }: Books) {
  const rows = await db<Row[]>`
    select s.id, s.email, s.status, s.attempts, c.status as contact
    from mails s
    join contacts c on c.id = s.contact_id
    where s.survey_id = ${surveyId}`;
  const log = postfix.log();
  const taken = takenBy(log);
  const outOf = countEach(arrived.map(({ to }) => to));
  const queueIdsOf = new Map<string, Set<string>>();
  for (const { to, raw } of arrived) {
    const ids = queueIdsOf.get(to) ?? new Set();
    queueIdsOf.set(to, ids.add(/\bid (\w+);/.exec(raw)?.[1] ?? 'none'));
  }
  const count = (of: (row: Row) => boolean) => rows.filter(of).length;
  const takenFor = (email: string) =>
    rows.reduce((sum, row) => sum + (row.email === email ? (taken.get(row.id) ?? 0) : 0), 0);
  const emails = [...new Set(rows.map(({ email }) => email))];
  return {
    people: emails.length,
    sent: count(({ status }) => status === 'sent'),
    unknown: count(({ status }) => status === 'unknown'),
    failed: count(({ status }) => status === 'failed'),
    without_outcome: count(({ status }) => status === 'claimed' || status === 'sending'),
    /** Recorded as sent, and Postfix never took it or lost it. */
    lost: count(
      ({ id, email, status }) =>
        status === 'sent' && (!taken.get(id) || (isOurs(email) && !outOf.get(email))),
    ),
    /** Taken more than once by Postfix; or taken although it is recorded as failed. */
    doubled: emails.filter((email) => takenFor(email) > 1).length,
    taken_but_failed: count(({ id, status }) => status === 'failed' && taken.has(id)),
    /** Delivered again by Postfix itself: stopped before it had written down the next server's 250. */
    repeated_by_the_relay: [...outOf].filter(([email, times]) => isOurs(email) && times > 1).length,
    arrived_as_two: emails.filter((email) => (queueIdsOf.get(email)?.size ?? 0) > 1).length,
    put_off: countPutOff(log),
    sent_after_a_retry: count(({ status, attempts }) => status === 'sent' && attempts > 1),
    refused_here: emails.filter((email) => isRefusedHere(email)).length,
    /** The service was killed before it could write down that Postfix had refused. */
    refused_silently: count(({ email, status }) => isRefusedHere(email) && status === 'unknown'),
    refused_there: emails.filter((email) => !isOurs(email) && takenFor(email) > 0).length,
    bounced: new Set(rows.filter((row) => row.contact === 'bounced').map(({ email }) => email))
      .size,
  };
}

type Ledger = Awaited<ReturnType<typeof balanceOf>> & {
  reports: number;
  reports_understood: number;
};

/** What must hold, each as a sentence when it does not. */
export function wrongIn(ledger: Ledger): string[] {
  const none = [
    'without_outcome',
    'lost',
    'doubled',
    'taken_but_failed',
    'arrived_as_two',
  ] as const;
  const wrong: string[] = none.flatMap((name) => (ledger[name] > 0 ? [name] : []));
  const { refused_here, refused_silently, refused_there, bounced } = ledger;
  const { reports, reports_understood } = ledger;
  if (ledger.put_off === 0 || ledger.sent_after_a_retry === 0) wrong.push('nothing was put off');
  if (reports !== refused_there) wrong.push(`${refused_there} reports should have come back`);
  if (reports_understood !== reports) wrong.push('not every report was understood');
  if (bounced !== refused_here - refused_silently + reports)
    wrong.push('not all that were refused are bounced');
  return wrong;
}

const isRefusedHere = (email: string) => email.startsWith('unknown');
const isOurs = (email: string) => email.endsWith('@people.test');

export const countPutOff = (log: readonly string[]) =>
  log.filter((line) => line.includes(' reject: RCPT ') && line.includes(': 451 4.3.0 ')).length;

/** How often Postfix has put each mail into its queue: what broke off before the final dot is not there. */
function takenBy(log: readonly string[]): Map<string, number> {
  const mailOf = new Map<string, string>();
  const queued = new Set<string>();
  for (const line of log) {
    const [, queueId = '', id] = /: (\w+): message-id=<([0-9a-f-]{36})@/.exec(line) ?? [];
    if (id) mailOf.set(queueId, id);
    const [, active] = /qmgr\[\d+\]: (\w+): from=</.exec(line) ?? [];
    if (active) queued.add(active);
  }
  return countEach([...queued].flatMap((queueId) => mailOf.get(queueId) ?? []));
}

function countEach(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
