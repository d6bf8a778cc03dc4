import type { Context } from 'hono';
import type { Db } from '../../lib/db/db.ts';
import { idParam } from '../../lib/validation/parse.ts';
import type { ScreenEnv } from '../../sessions/session.ts';
import {
  categoryOf,
  formatInterval,
  formatValue,
  measure,
  percentage,
  type SurveyType,
  scoreName,
  scoreText,
  typeFacts,
} from '../../survey-types.ts';
import { Histogram } from '../../web/app/drawings.tsx';
import { count, counted, EmptyState } from '../../web/app/lists.tsx';
import { getOrgSurvey, type ManagedSurvey, type ScoreCount } from '../queries.ts';

export const surveysPath = ({ slug }: { slug: string }) => `/o/${slug}/surveys`;

export const canEdit = (c: Context<ScreenEnv>) => c.var.organization.role !== 'viewer';

type FigureProps = { survey: ManagedSurvey; scores: readonly ScoreCount[]; period: string | null };

export function Figure({ survey: { type }, scores, period }: FigureProps) {
  const { total, value, interval, promoters, passives, detractors } = measureScores(type, scores);
  if (value === null) {
    return (
      <EmptyState title={period ? 'No responses in this period' : 'No responses yet'}>
        <p>Share its link or send it to contacts.</p>
      </EmptyState>
    );
  }
  const shares = [
    ['promoter', 'Promoters', promoters],
    ['passive', 'Passives', passives],
    ['detractor', 'Detractors', detractors],
  ] as const;
  return (
    <section class="card" aria-labelledby="figure">
      <h2 id="figure">{typeFacts(type).number}</h2>
      <p class="sub">{counted(total, 'answer')}</p>
      <p class="figure">
        <strong>{formatValue(type, value)}</strong>
      </p>
      {interval === null ? null : (
        <p class="sub">Margin of error (95%): {formatInterval(type, interval)}</p>
      )}
      {type === 'nps' ? (
        <dl class="counts">
          {shares.map(([category, name, answers]) => (
            <div>
              <dt class={`key is-${category}`}>{name}</dt>
              <dd>
                {percentage(answers, total)}% <small>{count(answers)}</small>
              </dd>
            </div>
          ))}
        </dl>
      ) : null}
    </section>
  );
}

export function Distribution({ survey: { type }, scores }: Omit<FigureProps, 'period'>) {
  const columns = distribution(type, scores).toReversed();
  return (
    <section class="card" aria-labelledby="distribution">
      <h2 id="distribution">Responses by score</h2>
      <Histogram
        columns={columns.map(({ score, count: times, share }) => ({
          tone: `is-${categoryOf(type, score)}`,
          label: scoreText(type, score),
          count: times,
          text: count(times),
          about: `${scoreName(type, score)}: ${counted(times, 'response')}, ${share}%`,
        }))}
      />
    </section>
  );
}

export function measureScores(type: SurveyType, scores: readonly ScoreCount[]) {
  const counted = { promoters: 0, passives: 0, detractors: 0, score_sum: 0 };
  for (const { score, count } of scores) {
    counted[`${categoryOf(type, score)}s`] += count;
    counted.score_sum += score * count;
  }
  const total = counted.promoters + counted.passives + counted.detractors;
  const mean = counted.score_sum / total;
  const squares = scores.reduce((sum, { score, count }) => sum + count * (score - mean) ** 2, 0);
  return { ...counted, ...measure(type, counted, total < 2 ? null : squares / (total - 1)) };
}

export function distribution(type: SurveyType, scores: readonly ScoreCount[]) {
  const { lowest, highest } = typeFacts(type);
  const counts = new Map(scores.map(({ score, count }) => [score, count]));
  const total = scores.reduce((sum, { count }) => sum + count, 0);
  return Array.from({ length: highest - lowest + 1 }, (_, step) => {
    const score = highest - step;
    const count = counts.get(score) ?? 0;
    return { score, count, share: percentage(count, total) };
  });
}

export const surveyOf = async (c: Context<ScreenEnv>, db: Db) =>
  await getOrgSurvey(db, c.var.organization.id, idParam(c, 'survey'));
