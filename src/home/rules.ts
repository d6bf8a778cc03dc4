import { isInCalendar } from '../lib/validation/parse.ts';
import type { Facet } from '../responses/filter.queries.ts';
import { addDays } from '../responses/period.ts';
import { dateHint, endBeforeStart } from '../responses/rules.ts';
import type { TrendInterval } from '../responses/trend.ts';
import type { Counted, SurveyType } from '../survey-types.ts';
import type { HomeSetting, MeasuredSurvey } from './queries.ts';

/** Home counts unassigned detractors and failed emails of so many days. */
export const attentionDays = { detractors: 30, mails: 7 } as const;

const minFailures = 5;
const maxFailedShare = 0.05;

/** True if so many of the emails failed or bounced that somebody should look. */
export const failOften = (failed: number, mails: number) =>
  failed >= minFailures && failed > maxFailedShare * mails;

export const sumOf = (counted: readonly Counted[]): Counted =>
  counted.reduce(
    (sum, each) => ({
      promoters: sum.promoters + each.promoters,
      passives: sum.passives + each.passives,
      detractors: sum.detractors + each.detractors,
      score_sum: sum.score_sum + each.score_sum,
    }),
    { promoters: 0, passives: 0, detractors: 0, score_sum: 0 },
  );

/** One survey or all of a kind, with filters by property. */
export type HomeScope = {
  survey: MeasuredSurvey | null;
  type: SurveyType;
  audience: 'employee' | 'customer' | null;
  properties: PropertyQuery;
};

export type ScopeQuery = {
  survey_id?: string;
  type?: SurveyType;
  audience?: string;
} & PropertyQuery;

export const scopeQuery = ({ survey, type, audience, properties }: HomeScope): ScopeQuery =>
  survey
    ? { survey_id: survey.id, ...properties }
    : { type, ...(audience && { audience }), ...properties };

/** Employees and customers are separate where a type has both. */
export function kindScopes({ kinds }: Pick<HomeSetting, 'kinds'>, properties: PropertyQuery = {}) {
  return kinds.map(({ type, audience }) => ({
    survey: null,
    type,
    audience: kinds.filter((kind) => kind.type === type).length > 1 ? audience : null,
    properties,
  }));
}

type KindQuery = { type?: string | undefined; audience?: string | undefined };

/** Defaults to the kind with the most responses. */
export function chooseKind(scopes: readonly HomeScope[], query: KindQuery): HomeScope | undefined {
  const ofType = scopes.filter(({ type }) => type === query.type);
  return (
    ofType.find(({ audience }) => audience === (query.audience ?? audience)) ??
    ofType[0] ??
    scopes[0]
  );
}

/** Filters by property, under their names in the API. If a property is repeated, the last value counts. */
type PropertyQuery = { [parameter: `property.${string}`]: string };

const prefix = 'property.';
const maxProperties = 10;

export const readProperties = (queries: Readonly<Record<string, string[]>>): PropertyQuery =>
  Object.fromEntries(
    Object.entries(queries)
      .flatMap(([parameter, values]) => {
        const value = values.at(-1);
        return isProperty(parameter) && value ? [[parameter, value] as const] : [];
      })
      .slice(0, maxProperties),
  );

const isProperty = (parameter: string): parameter is `property.${string}` =>
  parameter.startsWith(prefix) && parameter.length > prefix.length;

export const facetsOf = (properties: PropertyQuery): Facet[] =>
  Object.entries(properties).map(([parameter, value]) => ({
    kind: 'property',
    name: parameter.slice(prefix.length),
    value,
  }));

export const propertyParameter = (name: string): `property.${string}` => `${prefix}${name}`;

export const periodDays = { '7d': 7, '30d': 30, '90d': 90, '365d': 365 } as const;
export type PeriodName = keyof typeof periodDays;

export const periodIn = (name = ''): PeriodName | null =>
  Object.hasOwn(periodDays, name) ? (name as PeriodName) : null;

export type HomePeriod = {
  name: PeriodName | 'custom';
  from: string;
  to: string;
  days: number;
  before: { from: string; to: string };
  /** Shortest step of the trend. */
  interval: TrendInterval;
};

export type PeriodQuery = Partial<Record<'period' | 'date_from' | 'date_to', string | undefined>>;

/** Dates take precedence over a named period. */
export function choosePeriod(query: PeriodQuery, today: string): HomePeriod | PeriodMistakes {
  const { period, date_from, date_to } = query;
  if (date_from || date_to) return customPeriod(date_from ?? '', date_to || today);
  return lastDays(periodIn(period) ?? defaultPeriod, today);
}

/** From a day to today, at most the last three years. */
export function daysSince(first: string, today: string): HomePeriod {
  const earliest = addDays(today, 1 - maxDays);
  return periodOf('custom', first > earliest ? first : earliest, today);
}

export const lastDays = (name: PeriodName, today: string): HomePeriod =>
  periodOf(name, addDays(today, 1 - periodDays[name]), today);

export const defaultPeriod = '90d';
const maxDays = 1_095;

type PeriodMistakes = { errors: Record<string, string> };

function customPeriod(from: string, to: string): HomePeriod | PeriodMistakes {
  if (!isDay(from)) return { errors: { date_from: dateHint } };
  if (!isDay(to)) return { errors: { date_to: dateHint } };
  if (to < from) return { errors: { date_to: endBeforeStart } };
  const period = periodOf('custom', from, to);
  if (period.days <= maxDays) return period;
  return { errors: { date_from: 'Choose a period of at most three years.' } };
}

function periodOf(name: HomePeriod['name'], from: string, to: string): HomePeriod {
  const days = Temporal.PlainDate.from(from).until(to).days + 1;
  const before = { from: addDays(from, -days), to: addDays(from, -1) };
  const interval = days <= 31 ? 'day' : days <= 200 ? 'week' : 'month';
  return { name, from, to, days, before, interval };
}

export function isDay(text: string): boolean {
  const isIso = /^\d{4}-\d\d-\d\d$/.test(text);
  return isIso && text >= '1990' && text < '2999' && isInCalendar(text);
}
