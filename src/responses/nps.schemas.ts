import * as v from 'valibot';
import { Count, described } from '../lib/paging/schemas.ts';
import { NetPromoterScore } from '../surveys/schemas.ts';
import {
  dateBound,
  facetScope,
  kindScope,
  oneOf,
  responseScope,
  surveyScope,
  TimeZone,
} from './scope.schemas.ts';
import { trendIntervals } from './trend-days.ts';

export const NpsQuery = v.object({ ...responseScope, ...kindScope, ...facetScope });

export type NpsQuery = v.InferOutput<typeof NpsQuery>;

export const TrendQuery = v.object({
  interval: described(v.optional(oneOf(trendIntervals), 'day'), 'what a row covers'),
  tz: described(
    v.optional(TimeZone, 'UTC'),
    'the time zone of days, weeks and months, by its IANA name',
  ),
  ...surveyScope,
  date_from: described(
    v.optional(dateBound),
    'on or after this ISO 8601 time; a bare date is a day in `tz`. Without it the trend has the 90 days up to its end',
  ),
  date_to: described(
    v.optional(dateBound),
    'on or before this ISO 8601 time; a bare date is a day in `tz`. Without it the trend ends today',
  ),
  ...kindScope,
  ...facetScope,
});

export type TrendQuery = v.InferOutput<typeof TrendQuery>;

const Percentage = v.pipe(v.number(), v.minValue(0), v.maxValue(100));

const rollup = {
  nps: NetPromoterScore,
  margin_of_error: described(
    v.nullable(v.pipe(v.number(), v.minValue(0))),
    'half of the 95 % interval of `nps`, in its points, to one decimal; null under 2 answers',
  ),
  total: Count,
  promoters: Count,
  passives: Count,
  detractors: Count,
  promoter_pct: described(Percentage, 'to one decimal; 0 when there are no answers'),
  passive_pct: Percentage,
  detractor_pct: Percentage,
  held: described(Count, 'answers in addition that are held, and count nowhere until released'),
};

export const Nps = v.object(rollup);

export const NpsTrendRow = v.object({
  start: described(
    v.pipe(v.string(), v.isoDate(), v.metadata({ format: 'date' })),
    'the day, the Monday or the first of the month that the row begins with, in `tz`',
  ),
  ...rollup,
});

const ignored = described(
  v.optional(v.array(v.string())),
  'parameters of the request that are not known here, if there were any',
);

/** Only there to name what was ignored. */
export const NpsAnswer = v.object({
  data: Nps,
  meta: v.optional(v.object({ ignored })),
});

export const NpsTrend = v.object({
  data: v.array(NpsTrendRow),
  meta: v.object({ interval: v.picklist(trendIntervals), tz: v.string(), total: Count, ignored }),
});
