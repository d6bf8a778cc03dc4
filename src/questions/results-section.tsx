import { counted } from '../web/app/lists.tsx';
import type { QuestionResult } from './results.ts';

type ResultsProps = { results: readonly QuestionResult[]; survey: string; responses: string };

/** How the follow-up questions of a survey were answered: a meter for each option, and a link to the texts. */
export function QuestionResults({ results, survey, responses }: ResultsProps) {
  const shown = results.filter(({ archived, answered }) => !archived || answered > 0);
  if (shown.length === 0) return null;
  return (
    <section aria-labelledby="questions">
      <h2 id="questions">Follow-up questions</h2>
      {shown.map((result) => (
        <div class="part" id={result.id}>
          <h3>
            <bdi>{result.text}</bdi>
          </h3>
          <p class="small soft">
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
    </section>
  );
}

const Options = ({ result, responses }: { result: QuestionResult; responses: string }) => (
  <dl class="funnel">
    {result.options.map(({ id, label, count, pct }) => (
      <div>
        <dt>
          {count > 0 ? (
            <a href={`${responses}&answer.${result.id}=${id}`}>
              <bdi>{label}</bdi>
            </a>
          ) : (
            <bdi>{label}</bdi>
          )}
        </dt>
        <dd>
          {count} <span class="small soft">{pct}%</span>
        </dd>
        <dd class="drawn">
          <svg class="meter" aria-hidden="true" viewBox="0 0 100 4" preserveAspectRatio="none">
            <rect width={pct} height="4" />
          </svg>
        </dd>
      </div>
    ))}
  </dl>
);
