import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Sql } from '../../src/lib/db/db.ts';
import { setsOfDays } from '../../src/responses/facet-sets.cte.ts';
import { columnFacet } from '../../src/responses/set-conditions.cte.ts';
import { foldTallies } from '../../src/surveys/queries.ts';
import {
  fullDays,
  halvesOf,
  keptFrom,
  makeTwins,
  respondToday,
  type Twin,
  type TwinRow,
  twinSurveys,
} from '../support/make/twins.ts';
import { testDatabase } from '../support/probe/database.ts';

/** What is kept of days that are over, of two organizations whose responses have the same ids: as the rows say by hand. */
const { db } = await testDatabase();
let twins: [Twin, Twin];

before(async () => {
  twins = await makeTwins(db);
  for (const twin of twins) await respondToday(db, twin);
  await foldTallies(db);
});

const setFrom = 8;

type Known = { kind: string; name: string; value: string };

/** What sets know of a response: by its own columns and its survey, and by what it has in addition. */
function knownOf(
  { surveys, tag, owner }: Twin,
  row: TwinRow,
): { columns: Known[]; facets: Known[] } {
  const { type, audience } = twinSurveys[row.survey]!;
  const column = (kind: string, value: string | null) =>
    value === null ? [] : [{ kind, name: '', value }];
  const yes = (kind: string, is: boolean) => column(kind, is ? '' : null);
  return {
    columns: [
      ...column('category', row.category),
      ...column('survey', surveys[row.survey]!),
      ...column('type', type),
      ...yes('employees', audience === 'employee'),
      ...yes('comment', row.comment !== null),
      ...column('language', row.language),
      ...column('state', row.state),
      ...yes('owned', row.owned),
      ...column('owner', row.owned ? owner : null),
    ],
    facets: [
      { kind: 'property', name: 'plan', value: row.plan },
      ...column('tag', row.tagged ? tag : null),
      ...column('sentiment', row.sentiment),
    ],
  };
}

type KeptSet = Known & { day: string; bits: string };

function setsOf(twin: Twin): KeptSet[] {
  return [...fullDays(twin.rows)].flatMap(([day, rows]) => {
    const sets = new Map<string, { known: Known; bits: string[]; isColumn: boolean }>();
    for (const [at, row] of rows.entries()) {
      const { columns, facets } = knownOf(twin, row);
      for (const known of [...columns, ...facets]) {
        const key = JSON.stringify(known);
        const none = () => ({
          known,
          bits: Array<string>(rows.length).fill('0'),
          isColumn: columns.includes(known),
        });
        const set = sets.get(key) ?? none();
        set.bits[at] = '1';
        sets.set(key, set);
      }
    }
    return [...sets.values()]
      .filter(
        ({ bits, isColumn }) => isColumn || bits.filter((bit) => bit === '1').length >= setFrom,
      )
      .map(({ known, bits }) => ({ ...known, day, bits: bits.join('') }));
  });
}

test('the order of the responses of a kept day is that of the list', async () => {
  for (const { org, rows } of twins) {
    const kept = await db<{ day: string; ids: string }[]>`
      select day::text, encode(ids, 'hex') as ids from facet_days where org_id = ${org} order by day desc`;
    const wanted = [...fullDays(rows)].map(([day, of]) => ({
      day,
      ids: of.map(({ id }) => id.replaceAll('-', '')).join(''),
    }));
    assert.deepEqual([...kept], wanted);
  }
});

test('each set of a kept day has the responses that have its facet, from eight on, and of columns all', async () => {
  for (const twin of twins) {
    const sets = setsOf(twin);
    assert.ok(sets.length > 60);
    const different = await db`
      with wanted as (
        select facet_of(kind, name, value) as facet, kind, value, day, bits::varbit
        from json_to_recordset(${JSON.stringify(sets)}::text::json) as w (
          kind text, name text, value text, day date, bits text)
      )
      select kind, value, day::text, w.bits::text as wanted, k.bits::text as kept
      from wanted w
      full join (select facet, day, bits from facet_day_bits where org_id = ${twin.org}) k using (facet, day)
      where w.bits is distinct from k.bits`;
    assert.deepEqual([...different], []);
  }
});

test('half hours are kept of days with enough responses, of a survey and of all', async () => {
  for (const { org, surveys, rows } of twins) {
    const kept = await db<{ survey: string | null; day: string; halves: number[] }[]>`
      select null as survey, day::text, by_half_hour as halves
      from organization_day_tallies where org_id = ${org} and by_half_hour is not null
      union all
      select survey_id::text, day::text, by_half_hour
      from day_tallies where org_id = ${org} and by_half_hour is not null`;
    const wanted = [null, ...surveys].flatMap((survey) => {
      const own = rows.filter((row) => survey === null || surveys[row.survey] === survey);
      return [...fullDays(own)].map(([day, of]) => ({ survey, day, halves: halvesOf(of) }));
    });
    assert.ok(wanted.some(({ survey }) => survey !== null));
    const inOrder = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
    assert.deepEqual([...kept].toSorted(inOrder), wanted.toSorted(inOrder));
  }
});

type Figure = { facet: string; survey: string | null; type: string; employees: boolean };
type Figures = Figure & { day: string; counts: number[]; halves: number[] };

/** Of the surveys of each kind, and of a survey with enough of its own: of facets that enough responses of the day have. */
function figuresOf(twin: Twin): Figures[] {
  const counts = (rows: readonly TwinRow[]) => [
    ...['promoter', 'passive', 'detractor'].map(
      (name) => rows.filter((row) => row.category === name).length,
    ),
    rows.reduce((sum, { score }) => sum + score, 0),
  ];
  return [...fullDays(twin.rows)].flatMap(([day, rows]) => {
    const having = Map.groupBy(
      rows.flatMap((row) =>
        knownOf(twin, row).facets.map((known) => ({ facet: JSON.stringify(known), row })),
      ),
      ({ facet }) => facet,
    );
    return [...having]
      .filter(([, of]) => of.length >= keptFrom)
      .flatMap(([facet, of]) =>
        [0, 1, 2].flatMap((survey) => {
          const own = of.map(({ row }) => row).filter((row) => row.survey === survey);
          const { type, audience } = twinSurveys[survey]!;
          const figures = {
            facet,
            type,
            employees: audience === 'employee',
            day,
            counts: counts(own),
            halves: halvesOf(own),
          };
          if (own.length === 0) return [];
          const ofKind = { ...figures, survey: null };
          return own.length >= keptFrom
            ? [ofKind, { ...figures, survey: twin.surveys[survey]! }]
            : [ofKind];
        }),
      );
  });
}

test('figures of facets are kept where enough responses of the day have them', async () => {
  for (const twin of twins) {
    const wanted = figuresOf(twin);
    assert.ok(wanted.length > 0);
    const kept = await db<(Omit<Figures, 'facet'> & { facet: string })[]>`
      with known as (
        select distinct f as facet, facet_of(f::json ->> 'kind', f::json ->> 'name', f::json ->> 'value') as hash
        from unnest(${[...new Set(wanted.map(({ facet }) => facet))]}::text[]) f
      )
      select coalesce(k.facet, 'unknown') as facet, survey_id::text as survey, type, employees, day::text,
             array[promoters, passives, detractors, score_sum] as counts, by_half_hour as halves
      from facet_day_tallies t
      left join known k on k.hash = t.facet
      where org_id = ${twin.org}`;
    const keyOf = (row: object) => JSON.stringify(Object.entries(row).toSorted());
    assert.deepEqual([...kept].map(keyOf).toSorted(), wanted.map(keyOf).toSorted());
  }
});

test('a second count finds everything kept and writes nothing', async () => {
  const written = () => db`
    select tableoid::regclass::text as name, ctid::text, xmin::text from facet_days
    union all select tableoid::regclass::text, ctid::text, xmin::text from facet_day_bits
    union all select tableoid::regclass::text, ctid::text, xmin::text from facet_day_tallies
    order by 1, 2`;
  const once = await written();
  await foldTallies(db);
  assert.deepEqual([...(await written())], [...once]);
});

const writtenTables = ['facet_days', 'facet_day_bits', 'facet_day_tallies'] as const;

/** How many rows of kept days an organization has that are not locked: of each table by day. */
const countKept = async (sql: Sql, { org }: Twin) =>
  Object.fromEntries(
    await Promise.all(
      writtenTables.map(async (table) => {
        const rows = await sql<{ day: string }[]>`
          select day::text from ${sql(table)} where org_id = ${org} order by day for update skip locked`;
        return [table, rows.map(({ day }) => day)] as const;
      }),
    ),
  );

test('a change of a day takes its figures and sets away, and neither takes nor locks those of another organization', async () => {
  const [ours, theirs] = twins;
  const [before, others] = [await countKept(db, ours), await countKept(db, theirs)];
  const changed = before['facet_day_tallies']!.at(-1)!;
  await db.begin(async (tx) => {
    await tx`select change_facet_days(${ours.org}, array[${changed}::date])`;
    assert.deepEqual(await db.begin((other) => countKept(other, theirs)), others);
  });
  assert.deepEqual(await countKept(db, theirs), others);
  const left = Object.entries(before).map(([table, days]) => {
    assert.ok(days.includes(changed), table);
    return [table, days.filter((day) => day !== changed)];
  });
  assert.deepEqual(await countKept(db, ours), Object.fromEntries(left));
});

test('a day stays as it is, and its change open, while any of its figures is locked', async () => {
  const [{ org }] = twins;
  await foldTallies(db);
  const kept = await countKept(db, twins[0]);
  const day = kept['facet_day_tallies']![0]!;
  const countChanges = async () =>
    (await db`select from facet_changes where org_id = ${org} and day = ${day}`).length;
  await db`insert into facet_changes (org_id, day) values (${org}, ${day})`;
  const count = () =>
    db.begin(async (tx) => {
      await tx`set local lock_timeout = '10s'`;
      await tx`call tally_facets(${org}, array[${day}::date])`;
    });
  for (const table of writtenTables) {
    await db.begin(async (tx) => {
      await tx`select from ${tx(table)} where org_id = ${org} and day = ${day} limit 1 for update`;
      await count();
      assert.equal(await countChanges(), 1, table);
    });
    assert.deepEqual(await countKept(db, twins[0]), kept, table);
  }
  await count();
  assert.equal(await countChanges(), 0);
  assert.deepEqual(await countKept(db, twins[0]), kept);
});

test('a change of a day waits for no other transaction that takes its figures away', async () => {
  const [{ org }] = twins;
  for (const table of writtenTables) {
    await foldTallies(db);
    const day = (await countKept(db, twins[0]))[table]![0]!;
    await db.begin(async (tx) => {
      await tx`select from ${tx(table)} where org_id = ${org} and day = ${day} for update`;
      await db.begin(async (other) => {
        await other`set local lock_timeout = '5s'`;
        await other`select change_facet_days(${org}, array[${day}::date])`;
      });
    });
  }
  await foldTallies(db);
});

const dayOr = (sql: Sql, day: string | null) => (day === null ? null : sql`${day}::date`);

test('sets are read of the kept days in range whose figures are valid, whatever becomes of another organization', async () => {
  const [ours, theirs] = twins;
  const days = [...fullDays(ours.rows).keys()].toSorted();
  const [second, third, last] = days.slice(1);
  const read = async (first: string | null, end: string | null) => {
    const bounds = { first: dayOr(db, first), end: dayOr(db, end) };
    const conditions = [{ facet: columnFacet(db, 'comment', db`''`) }];
    const found = await db<{ day: string }[]>`
      select day::text from (${setsOfDays(db, ours.org, { conditions, ...bounds })}) s order by day`;
    return found.map(({ day }) => day);
  };
  await foldTallies(db);
  assert.deepEqual(await read(null, null), days);
  assert.deepEqual(await read(second!, last!), [second, third]);
  await db`insert into facet_changes (org_id, day) values (${theirs.org}, ${third!})`;
  await db`update organization_day_tallies set by_half_hour = null where org_id = ${theirs.org} and day = ${second!}`;
  assert.deepEqual(await read(null, null), days);
  await db`insert into facet_changes (org_id, day) values (${ours.org}, ${third!})`;
  await db`update organization_day_tallies set by_half_hour = null where org_id = ${ours.org} and day = ${second!}`;
  assert.deepEqual(await read(second!, null), [last]);
  await foldTallies(db);
  assert.deepEqual(await read(null, null), days);
});
