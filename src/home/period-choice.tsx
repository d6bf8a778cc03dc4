import { Field } from '../web/app/fields.tsx';
import type { FormState } from '../web/app/read-form.ts';
import type { ScopeQuery } from './choice.rules.ts';
import { type HomePeriod, periodDays } from './period.rules.ts';

type PeriodChoiceProps = {
  path: string;
  scope: ScopeQuery;
  period: HomePeriod;
  form: FormState;
};

/** The usual periods as links, and days of one's own as a form. */
export function PeriodChoice({ path, scope, period, form }: PeriodChoiceProps) {
  const hasMistake = 'date_from' in form.errors || 'date_to' in form.errors;
  const isCustom = period.name === 'custom' || hasMistake;
  return (
    <>
      <nav aria-label="Period">
        <ul class="segments">
          {Object.entries(periodDays).map(([name, days]) => (
            <li>
              <a
                href={withQuery(path, { ...scope, period: name })}
                aria-current={!isCustom && name === period.name ? 'true' : undefined}
              >
                {days} d<span class="rest">ays</span>
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <details class="unfold" open={hasMistake}>
        <summary class={isCustom ? 'button chosen' : 'button'}>Custom</summary>
        <form method="get" action={path} class="inline">
          {Object.entries(scope).map(([name, value]) => (
            <input type="hidden" name={name} value={value} />
          ))}
          <Field
            name="date_from"
            label="From"
            type="date"
            form={form}
            value={period.from}
            required
          />
          <Field name="date_to" label="To" type="date" form={form} value={period.to} required />
          <button type="submit">Apply</button>
        </form>
      </details>
    </>
  );
}

/** A path with a query, without what is empty. */
export function withQuery(path: string, query: Readonly<Record<string, string | undefined>>) {
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}
