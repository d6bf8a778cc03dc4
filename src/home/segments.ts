import type { Db } from '../lib/db/db.ts';
import { trendOf } from '../responses/nps.ts';
import { type LookedAt, npsScopeOf } from './figures.ts';
import { type Counted, type Measured, measure, measureKinds } from './measure.rules.ts';
import { addDays } from './period.rules.ts';
import { findPropertyValues, findSegments, type PropertyValue } from './segments.queries.ts';

export type MeasuredSegment = { value: string; measured: Measured; counted: Counted };

export type Comparison = {
  /** The properties that segments can be made of. */
  names: string[];
  /** The property that they are made of, if one was asked for. */
  by: string | null;
  segments: MeasuredSegment[];
};

/** The segments by a property, each counted as the API counts it; without a property only the properties there are. */
export async function readComparison(
  db: Db,
  orgId: string,
  { by, ...looked }: LookedAt & { by: string | null },
): Promise<Comparison> {
  const { scope, period, timeZone } = looked;
  const days = { from: period.from, to: period.to, timeZone };
  const values = await findPropertyValues(db, orgId, { scope: npsScopeOf(scope), days });
  const names = [...new Set(values.map(({ name }) => name))];
  const compared = by === null ? [] : values.filter(({ name }) => name === by);
  return { names, by, segments: await measureSegments(db, orgId, { ...looked, values: compared }) };
}

type Compared = LookedAt & { values: readonly PropertyValue[] };

async function measureSegments(
  db: Db,
  orgId: string,
  { scope, period, timeZone, values }: Compared,
): Promise<MeasuredSegment[]> {
  const { from, to } = period;
  const all = npsScopeOf(scope);
  const rows = { timeZone, starts: [from], edges: [from, addDays(to, 1)], from: null, to: null };
  const found = await findSegments(db, orgId, {
    scopes: values.map((each) => ({
      ...all,
      facets: [...all.facets, { kind: 'property', ...each } as const],
    })),
    days: { from, to, timeZone },
    rows,
    isMean: measureKinds[scope.type] === 'mean',
  });
  return found.map(({ trend, variance }, at) => {
    const [tally] = trendOf(trend, rows);
    const counted = { ...tally!, scoreSum: trend[0]!.score_sum };
    const measured = measure(scope.type, counted, variance ?? null);
    return { value: values[at]!.value, measured, counted };
  });
}
