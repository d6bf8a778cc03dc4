import type { Child } from 'hono/jsx';
import type { MeasuredTheme } from '../summaries/theme-figures.ts';
import { boundsOf, compare, percentage, type SurveyType, typeFacts } from '../survey-types.ts';
import { Part } from '../web/app/badges.tsx';
import { Range } from '../web/app/drawings.tsx';
import { Icon } from '../web/app/icon.tsx';
import { count, DataTable, withQuery } from '../web/app/lists.tsx';
import { type Comparison, type MeasuredValue, sampledResponses } from './comparison.ts';
import { type HomeScope, propertyParameter, scopeQuery } from './rules.ts';
import { numberColumns, partNames, type Score, scoreTexts } from './score.tsx';

export type Reasons = { themes: readonly MeasuredTheme[]; comparison: Comparison };

type ReasonsProps = {
  path: string;
  scope: HomeScope;
  period: Readonly<Record<string, string>>;
  /** Null if they are loaded after the page, because finding them takes longer than everything else. */
  reasons: Reasons | null;
};

export const reasonsId = 'reasons';

/** Themes and compared values: where the score comes from. */
export function ReasonsPart(props: ReasonsProps) {
  const { path, scope, period, reasons } = props;
  const here = withQuery(path, { ...scopeQuery(scope), ...period });
  const linkTo = (name: string) => `${here}&compare=${encodeURIComponent(name)}`;
  const loading = reasons === null && {
    'hx-get': linkTo(''),
    'hx-trigger': 'load',
    'hx-select': `#${reasonsId}`,
    'hx-target': 'this',
    'hx-swap': 'outerHTML',
  };
  return (
    <div class="grid main-side level" id={reasonsId} {...loading}>
      <ThemesCard {...props} />
      <section class="card" id="compare" aria-labelledby="compare-heading">
        <div class="title">
          <h2 id="compare-heading">By property</h2>
          {reasons ? <NameMenu {...reasons.comparison} linkTo={linkTo} /> : null}
        </div>
        {reasons ? (
          <ComparedValues {...props} comparison={reasons.comparison} />
        ) : (
          <Coming>
            <a href={`${linkTo('')}#compare`}>Compare by property</a>
          </Coming>
        )}
      </section>
    </div>
  );
}

/** Skeleton while the section loads. Without JavaScript, a link to the page with the section. */
const Coming = ({ children }: { children: Child }) => (
  <>
    <div class="stack bones" aria-hidden="true">
      <span class="bone" />
      <span class="bone" />
      <span class="bone" />
    </div>
    <noscript>{children}</noscript>
  </>
);

const maxThemes = 6;

function ThemesCard({ path, scope, period, reasons }: ReasonsProps) {
  const { type } = scope;
  const linkTo = (theme?: string) =>
    withQuery(`${path}/themes`, { ...scopeQuery(scope), ...period, theme });
  const { shortNumber } = typeFacts(type);
  return (
    <Part id="top-themes" title="Top themes" act={<a href={linkTo()}>All themes</a>}>
      {reasons === null ? (
        <Coming>
          <p class="soft">To see the themes of these comments, open All themes.</p>
        </Coming>
      ) : reasons.themes.length === 0 ? (
        <p class="soft">No themes yet. All themes shows which comments are analyzed.</p>
      ) : (
        <DataTable
          caption={`Top themes by ${shortNumber}`}
          columns={[
            'Theme',
            ...numberColumns('Comments'),
            { head: 'Range', phone: 'line' },
            { head: shortNumber, number: true, phone: 'beside' },
          ]}
          rows={reasons.themes.slice(0, maxThemes).map(({ theme, now }) => ({
            cells: [
              <a href={`${linkTo(theme)}#theme`}>
                <bdi>{theme}</bdi>
              </a>,
              count(now.total),
              <ScoreRange type={type} measured={now} />,
              <b>{scoreTexts(type, now)[0]}</b>,
            ],
          }))}
        />
      )}
    </Part>
  );
}

/** The interval of a score on its scale. Green above the middle, red below, grey if it includes the middle. */
export function ScoreRange({ type, measured }: { type: SurveyType; measured: Score }) {
  const { value, interval } = measured;
  if (value === null) return null;
  return (
    <>
      <Range
        value={value}
        interval={interval}
        bounds={boundsOf(type)}
        tone={toneOf(type, measured)}
      />
      <span class="hidden">{scoreTexts(type, measured)[1]}</span>
    </>
  );
}

export function toneOf(type: SurveyType, { interval }: Score) {
  const { lowest, highest } = boundsOf(type);
  const middle = (lowest + highest) / 2;
  if (interval && interval.low > middle) return 'is-good';
  return interval && interval.high < middle ? 'is-poor' : 'is-even';
}

type NameMenuProps = Comparison & { linkTo: (name: string) => string };

const NameMenu = ({ names, by, linkTo }: NameMenuProps) =>
  by === null ? null : (
    <details class="menu">
      <summary class="button quiet mini">
        <span>
          By <bdi>{by}</bdi>
        </span>
        <Icon name="chevron-down" />
      </summary>
      <ul class="list end">
        {names.map((name) => (
          <li>
            <a href={`${linkTo(name)}#compare`} aria-current={name === by ? 'true' : undefined}>
              <bdi>{name}</bdi>
            </a>
          </li>
        ))}
      </ul>
    </details>
  );

type ValuesProps = Omit<ReasonsProps, 'reasons'> & { comparison: Comparison };

function ComparedValues({ path, scope, period, comparison: { by, values } }: ValuesProps) {
  const { type } = scope;
  if (by === null) return <p class="soft">No responses with contact properties in this period.</p>;
  if (values.length === 0)
    return <p class="soft">No responses with this property in this period.</p>;
  const hrefOf = (value: string) =>
    withQuery(path, { ...scopeQuery(scope), ...period, [propertyParameter(by)]: value });
  return (
    <>
      <ul class="ranges">
        {values.map(({ value, measured }) => (
          <li>
            <a href={hrefOf(value)}>
              <bdi>{value}</bdi>
            </a>
            <Range
              value={measured.value ?? boundsOf(type).lowest}
              interval={measured.interval}
              bounds={boundsOf(type)}
            />
            <span class="n">{scoreTexts(type, measured)[0]}</span>
          </li>
        ))}
      </ul>
      <p class="sub">{describeValues(type, values)}</p>
      <details class="reveal">
        <summary>Show as table</summary>
        <DataTable
          caption={`${typeFacts(type).number} by ${by}`}
          nowrap
          columns={[
            by,
            ...numberColumns('Score', '95% interval'),
            ...numberColumns(partNames(type)[0]!, partNames(type).at(-1)!, 'Responses'),
          ]}
          rows={values.map(({ value, measured, counted }) => {
            const { total } = measured;
            const share = (part: number) => (total === 0 ? '–' : `${percentage(part, total)}%`);
            return {
              cells: [
                <bdi>{value}</bdi>,
                ...scoreTexts(type, measured),
                share(counted.promoters),
                share(counted.detractors),
                count(total),
              ],
            };
          })}
        />
      </details>
    </>
  );
}

/** Compares the highest and lowest values, and reports only a significant difference. */
function describeValues(type: SurveyType, values: readonly MeasuredValue[]): string {
  const [first, last] = [values[0], values.at(-1)];
  const sampled = `Top values in the latest ${count(sampledResponses)} responses, with 95% intervals.`;
  if (!first || !last || first === last) return sampled;
  const isClear = compare(type, last.measured, first.measured)?.meaning === 'worse';
  return isClear
    ? `${last.value} is significantly lower than ${first.value}. ${sampled}`
    : `The differences may be due to chance. ${sampled}`;
}
