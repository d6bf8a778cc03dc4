import { percentage, type SurveyType } from '../scores.ts';
import { count, DataTable } from '../web/app/lists.tsx';
import type { FormState } from '../web/app/read-form.ts';
import type { HomeScope } from './choice.rules.ts';
import { scopeQuery } from './choice.rules.ts';
import { withQuery } from './period-choice.tsx';
import { propertyParameter } from './property.rules.ts';
import { PropertyChoice } from './property-choice.tsx';
import { homeTexts, segmentTexts as texts } from './screen-texts.ts';
import { sampledResponses } from './segments.queries.ts';
import type { Comparison, MeasuredSegment } from './segments.ts';

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
        <h2 id="compare-heading">{texts.title}</h2>
        <PropertyChoice path={path} stays={asked} form={form} />
      </div>
      {comparison === null ? (
        <p class="soft">
          {texts.means} <a href={linkTo('')}>{texts.choose}</a>
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
        <nav aria-label={texts.choose}>
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
        <p class="soft">{offered.length === 0 ? texts.noProperties : texts.means}</p>
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
  if (segments.length === 0) return <p class="soft">{texts.none}</p>;
  return (
    <>
      <DataTable
        caption={texts.caption(homeTexts.numberOf(type), by)}
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
      <p class="small soft">{texts.sampled(sampledResponses)}</p>
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
    measured.value === null ? '–' : homeTexts.value(type, measured.value),
    measured.margin === null ? '–' : homeTexts.margin(type, measured.margin),
    share(counted.promoters),
    share(counted.detractors),
    count(measured.total),
  ];
}
