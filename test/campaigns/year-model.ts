/** The cycle in the test: a quarter, on weekdays. Written without the code of the service. */
export const everyDays = 90;
export const frequencyDays = 30;
export const openDays = [1, 2, 3, 4, 5];
const [saturday, sunday] = [6, 7];

type Outcome = 'sent' | 'bounced' | 'unknown';
type Ask = { day: number; outcome: Outcome };
export type AskOf = { email: string; round: number; outcome: Outcome };

type Person = {
  email: string;
  place: bigint;
  asks: Ask[];
  /** Days of emails that may have arrived, of any survey. */
  mailed: number[];
  supported: boolean;
  blocked: { unsubscribed: boolean; bounced: boolean };
  /** Not asked when added, because of the frequency rule. */
  skipped: boolean;
  reasons: { day: number; code: string; due: string }[];
};

type Wish = { idOf: (email: string) => string; bounces: (email: string) => boolean };

/** The emails of each person, as documented. */
export function companyModel({ firstDay, zone }: { firstDay: Temporal.PlainDate; zone: string }) {
  const people = new Map<string, Person>();
  const dateOf = (day: number) => firstDay.add({ days: day });
  const hoursOf = (day: number) =>
    dateOf(day).toZonedDateTime({ timeZone: zone, plainTime: '10:00' }).epochMilliseconds /
    3_600_000;
  const wasMailedLately = ({ mailed }: Person, day: number) =>
    mailed.some((each) => hoursOf(each) > hoursOf(day) - frequencyDays * 24);
  const blockOf = (person: Person, day: number) => {
    if (person.blocked.unsubscribed) return 'unsubscribed';
    if (person.blocked.bounced) return 'bounced';
    return wasMailedLately(person, day) ? 'frequency' : null;
  };

  function ask(person: Person, day: number, bounces: boolean) {
    person.asks.push({ day, outcome: bounces ? 'bounced' : 'sent' });
    if (bounces) person.blocked.bounced = true;
    else person.mailed.push(day);
  }

  /** The day of the next round, or null for a person that was never asked. */
  function dueOf({ asks, place }: Person): Temporal.PlainDate | null {
    const last = asks.at(-1);
    if (!last) return null;
    const earliest = dateOf(last.day).add({ days: everyDays });
    return asks.length > 1 ? movedDay(earliest) : placedDay(earliest, place);
  }

  function askNewPeople(day: number, bounces: Wish['bounces']) {
    for (const person of people.values()) {
      const { asks, blocked, skipped } = person;
      if (asks.length > 0 || skipped || blocked.unsubscribed || blocked.bounced) continue;
      if (!wasMailedLately(person, day)) ask(person, day, bounces(person.email));
      else {
        person.skipped = true;
        person.reasons.push({ day, code: 'frequency', due: dateOf(day).toString() });
      }
    }
  }

  function askAgain(day: number, { idOf, bounces }: Wish) {
    const inRounds = [...people.values()].filter(
      ({ asks, blocked }) => asks.length > 0 || blocked.unsubscribed || blocked.bounced,
    );
    const mostPerDay = 2 * Math.ceil(inRounds.length / ((everyDays * openDays.length) / 7));
    const today = dateOf(day).toString();
    const due = inRounds
      .map((person) => ({ person, due: dueOf(person)?.toString() ?? '9999-12-31' }))
      .filter(({ due }) => due <= today)
      .sort(
        (one, other) =>
          compare(one.due, other.due) || compare(idOf(one.person.email), idOf(other.person.email)),
      );
    let left = mostPerDay;
    for (const { person, due: since } of due) {
      const code = blockOf(person, day);
      if (code === null) {
        if (left-- > 0) ask(person, day, bounces(person.email));
      } else if (!person.reasons.some((reason) => dateOf(reason.day).toString() >= since)) {
        person.reasons.push({ day, code, due: since });
      }
    }
  }

  const sorted = () => [...people.values()].sort((one, other) => compare(one.email, other.email));
  return {
    add: (email: string, { place }: { place: string }) =>
      people.set(email, {
        email,
        place: BigInt(place),
        asks: [],
        mailed: [],
        supported: false,
        blocked: { unsubscribed: false, bounced: false },
        skipped: false,
        reasons: [],
      }),
    emails: () => [...people.keys()],
    isThere: (email: string) => people.has(email),
    erase: (email: string) => people.delete(email),
    unsubscribe(email: string) {
      const person = people.get(email);
      if (person) person.blocked.unsubscribed = true;
    },
    /** Another survey is sent to a person. */
    support(email: string, { day, bounces }: { day: number; bounces: boolean }) {
      const person = people.get(email);
      if (!person || person.supported || blockOf(person, day) !== null) return;
      if (bounces) person.blocked.bounced = true;
      else {
        person.supported = true;
        person.mailed.push(day);
      }
    },
    /** Asks due people first, so that nobody who is added today is asked twice. */
    sweep(day: number, wish: Wish) {
      askAgain(day, wish);
      askNewPeople(day, wish.bounces);
    },
    /** The process died while it sent an email of this day. */
    interrupt(email: string, day: number) {
      const person = people.get(email)!;
      const last = person.asks.at(-1)!;
      if (last.outcome === 'bounced') person.blocked.bounced = false;
      else person.mailed.pop();
      last.outcome = 'unknown';
      person.mailed.push(day);
    },
    asksOn: (day: number): AskOf[] =>
      sorted().flatMap(({ email, asks }) =>
        asks.flatMap((each, place) =>
          each.day === day ? [{ email, round: place + 1, outcome: each.outcome }] : [],
        ),
      ),
    reasons: () =>
      sorted().flatMap(({ email, reasons }) =>
        reasons.map(({ day, code }) => ({ email, reason_code: code, on: dateOf(day).toString() })),
      ),
    rounds: () =>
      sorted().map(({ email, asks }) => {
        const round = Math.max(asks.length, 1);
        return { email, round, rows: round, current: 1 };
      }),
    count: (outcome: Outcome) =>
      sorted().reduce(
        (sum, { asks }) => sum + asks.filter((each) => each.outcome === outcome).length,
        0,
      ),
  };
}

/** A person's own day among the weekdays of one cycle. */
function placedDay(from: Temporal.PlainDate, place: bigint): Temporal.PlainDate {
  const cycle = Array.from({ length: everyDays }, (_, days) => from.add({ days }));
  const open = cycle.filter(({ dayOfWeek }) => openDays.includes(dayOfWeek));
  return open[Number(place % BigInt(open.length))]!;
}

/** A cycle of 90 days moves Monday to Sunday and leaves Friday free. Nothing moves to Saturday. */
function movedDay(day: Temporal.PlainDate): Temporal.PlainDate {
  if (day.dayOfWeek === sunday) return day.add({ days: 5 });
  return day.dayOfWeek === saturday ? day.add({ days: 2 }) : day;
}

const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
