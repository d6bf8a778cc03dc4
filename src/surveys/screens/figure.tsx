import { percentage } from '../../scores.ts';
import { count, counted, EmptyState } from '../../web/app/lists.tsx';
import { distribution, figureOfScores, totalsOf } from '../figures.rules.ts';
import type { ManagedSurvey } from '../manage.queries.ts';
import type { ScoreCount } from '../screen.queries.ts';

type FigureProps = { survey: ManagedSurvey; scores: readonly ScoreCount[]; period: string | null };

/** The one number of a survey, how sure it is, and what it is made of. */
export function Figure({ survey, scores, period }: FigureProps) {
  const { title, value, margin } = figureOfScores(survey.type, scores);
  const { promoters, passives, detractors } = totalsOf(survey.type, scores);
  const total = promoters + passives + detractors;
  if (value === null) {
    return (
      <EmptyState title={period ? 'No answers in this period' : 'No answers yet'}>
        <p>Share its link, or send it to contacts.</p>
      </EmptyState>
    );
  }
  return (
    <section aria-labelledby="figure">
      <h2 id="figure">{title}</h2>
      <p class="small soft">{counted(total, 'answer')}</p>
      <p class="now">
        <strong>{value}</strong>
        {margin ? <span>{margin}</span> : null}
      </p>
      {survey.type === 'nps' ? (
        <dl class="sums">
          {(['promoter', 'passive', 'detractor'] as const).map((category) => {
            const answers = { promoter: promoters, passive: passives, detractor: detractors }[
              category
            ];
            return (
              <div>
                <dt
                  class={`is-${category}`}
                >{`${category[0]!.toUpperCase()}${category.slice(1)}s`}</dt>
                <dd>
                  {percentage(answers, total)}% <small>{count(answers)}</small>
                </dd>
              </div>
            );
          })}
        </dl>
      ) : null}
    </section>
  );
}

/** How often each score was given: a meter for each, with its number in words next to it. */
export function Distribution({ survey, scores }: Omit<FigureProps, 'period'>) {
  const rows = distribution(survey.type, scores);
  return (
    <section aria-labelledby="distribution">
      <h2 id="distribution">Answers by score</h2>
      <dl class="funnel">
        {rows.map(({ score, count: times, share }) => (
          <div>
            <dt>{nameOfScore(survey, score)}</dt>
            <dd>
              {count(times)} <span class="small soft">{share}%</span>
            </dd>
            <dd class="drawn">
              <svg class="meter" aria-hidden="true" viewBox="0 0 100 4" preserveAspectRatio="none">
                <rect width={share} height="4" />
              </svg>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function nameOfScore({ type }: ManagedSurvey, score: number): string {
  if (type === 'thumbs') return score === 1 ? 'Thumbs up' : 'Thumbs down';
  if (type === 'star5') return score === 1 ? '1 star' : `${score} stars`;
  return String(score);
}
