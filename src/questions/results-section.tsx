import { anyPerson, fillIn } from '../surveys/texts.ts';
import { Bar, Funnel } from '../web/app/drawings.tsx';
import { counted } from '../web/app/lists.tsx';
import type { QuestionResult } from './results.ts';

type ResultsProps = { results: readonly QuestionResult[]; survey: string; responses: string };

/** How the follow-up questions of a survey were answered: a meter for each option, and a link to the texts. */
export function QuestionResults({ results, survey, responses }: ResultsProps) {
  const shown = results
    .filter(({ archived, answered }) => !archived || answered > 0)
    .map((result) => ({ ...result, text: fillIn(result.text, anyPerson) }));
  if (shown.length === 0) return null;
  return (
    <section class="stack" aria-labelledby="questions">
      <h2 id="questions">Follow-up questions</h2>
      <div class="grid half level">
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
            {result.options.length > 0 ? <Options {...{ result, responses }} /> : null}
            {result.kind === 'text' && result.answered > 0 ? (
              <p>
                <a href={`${survey}/questions/${result.id}`}>
                  Read {counted(result.answered, 'text answer')}
                  <span class="hidden"> to {result.text}</span>
                </a>
              </p>
            ) : null}
            {result.other_count > 0 ? (
              <p>
                <a href={`${survey}/questions/${result.id}`}>
                  Read {counted(result.other_count, 'other answer')}
                  <span class="hidden"> to {result.text}</span>
                </a>
              </p>
            ) : null}
          </div>
        ))}
      </div>
    </section>
  );
}

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
