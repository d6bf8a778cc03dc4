import { percentage, type SurveyType } from '../scores.ts';
import { count, DataTable } from '../web/app/lists.tsx';
import type { FormState } from '../web/app/read-form.ts';
import type { HomeScope } from './choice.rules.ts';
import { scopeQuery } from './choice.rules.ts';
import { withQuery } from './period-choice.tsx';
import { propertyParameter } from './property.rules.ts';
import { PropertyChoice } from './property-choice.tsx';
import { formatMargin, formatValue, numberOf } from './score-part.tsx';
import { sampledResponses } from './segments.queries.ts';
import type { Comparison, MeasuredSegment } from './segments.ts';

const means = 'The score of each value of a property of contacts: by plan, by country.';

type SegmentsProps = {
  path: string;
  scope: HomeScope;
  /** The period that is chosen, which stays. */
  period: Readonly<Record<string, string>>;
  comparison: Comparison | null;
  form: FormState;
};

/** The same number for each value of a property: by plan, by country. */
export function SegmentsPart({ path, scope, period, comparison, form }: SegmentsProps) {
  const asked = { ...scopeQuery(scope), ...period };
  const here = withQuery(path, asked);
  const linkTo = (name: string) => `${here}&compare=${encodeURIComponent(name)}#compare`;
  return (
    <section class="part" id="compare" aria-labelledby="compare-heading">
      <div class="title">
        <h2 id="compare-heading">By property</h2>
        <PropertyChoice path={path} stays={asked} form={form} />
      </div>
      {comparison === null ? (
        <p class="soft">
          {means} <a href={linkTo('')}>Choose a property</a>
        </p>
      ) : (
        <Compared {...{ path, asked, linkTo, scope, comparison }} />
      )}
    </section>
  );
}

type Asked = Readonly<Record<string, string | undefined>>;

type ComparedProps = {
  path: string;
  asked: Asked;
  linkTo: (name: string) => string;
  scope: HomeScope;
  comparison: Comparison;
};

function Compared({ path, asked, linkTo, scope, comparison }: ComparedProps) {
  const { names, by, segments } = comparison;
  const offered = names.filter((name) => !(propertyParameter(name) in scope.properties));
  return (
    <>
      {offered.length === 0 ? null : (
        <nav aria-label="Choose a property">
          <ul class="actions">
            {offered.map((name) => (
              <li>
                {name === by ? (
                  <strong>
                    by <bdi>{name}</bdi>
                  </strong>
                ) : (
                  <a href={linkTo(name)}>
                    by <bdi>{name}</bdi>
                  </a>
                )}
              </li>
            ))}
          </ul>
        </nav>
      )}
      {by === null ? (
        <p class="soft">
          {offered.length === 0 ? 'No contact of these responses has a property.' : means}
        </p>
      ) : (
        <Segments {...{ path, asked, by, segments }} type={scope.type} />
      )}
    </>
  );
}

type TableProps = {
  path: string;
  asked: Asked;
  type: SurveyType;
  by: string;
  segments: readonly MeasuredSegment[];
};

function Segments({ path, asked, type, by, segments }: TableProps) {
  if (segments.length === 0)
    return <p class="soft">No response of this period has this property.</p>;
  return (
    <>
      <DataTable
        caption={`${numberOf(type)} by ${by}`}
        nowrap
        columns={[
          { head: by },
          { head: 'Score', number: true },
          { head: 'Margin', number: true },
          { head: 'Promoters', number: true },
          { head: 'Detractors', number: true },
          { head: 'Responses', number: true },
        ]}
        rows={segments.map((segment) => ({ cells: cellsOf(segment, { path, asked, type, by }) }))}
      />
      <p class="small soft">
        The most frequent values among the newest {count(sampledResponses)} responses.
      </p>
    </>
  );
}

function cellsOf(
  { value, measured, counted }: MeasuredSegment,
  { path, asked, type, by }: Omit<TableProps, 'segments'>,
) {
  const share = (part: number) =>
    measured.total === 0 ? '–' : `${percentage(part, measured.total)}%`;
  return [
    <a href={withQuery(path, { ...asked, [propertyParameter(by)]: value })}>
      <bdi>{value}</bdi>
    </a>,
    measured.value === null ? '–' : formatValue(type, measured.value),
    measured.margin === null ? '–' : formatMargin(type, measured.margin),
    share(counted.promoters),
    share(counted.detractors),
    count(measured.total),
  ];
}
