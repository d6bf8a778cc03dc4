import { categoryParts } from '../home/score.tsx';
import type { SurveyType } from '../survey-types.ts';
import { anyPerson, fillIn } from '../surveys/texts.ts';
import { Bar, Funnel, PartsBar } from '../web/app/drawings.tsx';
import { count, counted } from '../web/app/lists.tsx';
import type { QuestionResult } from './results.ts';

type ResultsProps = {
  results: readonly QuestionResult[];
  type: SurveyType;
  survey: string;
  responses: string;
};

/** Answers to the follow-up questions of a survey: who answered, a bar for each option, and a link to the texts. */
export function QuestionResults({ results, type, survey, responses }: ResultsProps) {
  const shown = results
    .filter(({ archived, answered }) => !archived || answered > 0)
    .map((result) => ({ ...result, text: fillIn(result.text, anyPerson) }));
  if (shown.length === 0) return null;
  return (
    <section class="stack" aria-labelledby="questions">
      <h2 id="questions">Follow-up questions</h2>
      <div class="grid half">
        {shown.map((result) => (
          <div class="card" id={result.id}>
            <h3>
              <bdi>{result.text}</bdi>
            </h3>
            <p class="sub">
              {counted(result.answered, 'answer')} of {counted(result.asked, 'response')}
              {result.mean === null ? null : `, mean ${result.mean}`}
              {result.archived ? '. Archived: no longer asked.' : null}
            </p>
            {result.answered > 0 ? <PartsBar parts={partsOf(type, result.by_category)} /> : null}
            {result.options.length > 0 ? <Options result={result} responses={responses} /> : null}
            {readable(result).map(([written, noun]) => (
              <p>
                <a href={`${survey}/questions/${result.id}`}>
                  Read {counted(written, noun)}
                  <span class="hidden"> to {result.text}</span>
                </a>
              </p>
            ))}
          </div>
        ))}
      </div>
    </section>
  );
}

/** The counts of answers in people's own words. */
const readable = ({ kind, answered, other_count }: QuestionResult) =>
  (
    [
      [kind === 'text' ? answered : 0, 'text answer'],
      [other_count, 'other answer'],
    ] as const
  ).filter(([written]) => written > 0);

const partsOf = (
  type: SurveyType,
  { promoter, passive, detractor }: QuestionResult['by_category'],
) =>
  categoryParts(type, { promoters: promoter, passives: passive, detractors: detractor }).map(
    (part) => ({ ...part, figure: count(part.share) }),
  );

const Options = ({ result, responses }: { result: QuestionResult; responses: string }) => (
  <Funnel
    steps={result.options.map(({ id, label, count, pct }) => ({
      name:
        count > 0 ? (
          <a href={`${responses}&answer.${result.id}=${id}`}>
            <bdi>{label}</bdi>
          </a>
        ) : (
          <bdi>{label}</bdi>
        ),
      count,
      share: `${pct}%`,
      bar: <Bar part={pct} whole={100} />,
    }))}
  />
);
