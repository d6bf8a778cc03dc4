import type { Context } from 'hono';
import { Categories, ScoreGauge } from '../../home/score.tsx';
import type { Db } from '../../lib/db/db.ts';
import { idParam } from '../../lib/validation/parse.ts';
import type { ScreenEnv } from '../../sessions/session.ts';
import {
  categoryOf,
  measure,
  percentage,
  type SurveyType,
  scoreName,
  scoreText,
  typeFacts,
} from '../../survey-types.ts';
import { Histogram } from '../../web/app/drawings.tsx';
import { LinkButton } from '../../web/app/forms.tsx';
import { count, counted, EmptyState } from '../../web/app/lists.tsx';
import { getOrgSurvey, type ManagedSurvey, type ScoreCount } from '../queries.ts';

export const surveysPath = ({ slug }: { slug: string }) => `/o/${slug}/surveys`;

export const surveyPath = (c: Context<ScreenEnv>, { id }: { id: string }) =>
  `${surveysPath(c.var.organization)}/${id}`;

export const canEdit = (c: Context<ScreenEnv>) => c.var.organization.role !== 'viewer';

type FigureProps = {
  survey: ManagedSurvey;
  scores: readonly ScoreCount[];
  period: string | null;
  /** The path of the survey. */
  here: string;
  mayEdit: boolean;
};

/** The score with its interval, beside the number of responses for each score. */
export function Figure({ survey: { type }, scores, period, here, mayEdit }: FigureProps) {
  const measured = measureScores(type, scores);
  const { total } = measured;
  if (total === 0) {
    return (
      <div class="card">
        <EmptyState title={period ? 'No responses in this period' : 'No responses yet'}>
          <p>Share its link or send it to contacts.</p>
          <div class="acts">
            {mayEdit ? <LinkButton href={`${here}/send`} text="Send" /> : null}
            <LinkButton href={`${here}/share`} text="Share" />
          </div>
        </EmptyState>
      </div>
    );
  }
  return (
    <section class="card hero" aria-labelledby="figure">
      <div class="verdict">
        <div>
          <h2 id="figure">{typeFacts(type).number}</h2>
          <p class="sub">{counted(total, 'response')}</p>
        </div>
        <ScoreGauge type={type} measured={measured} />
        <Categories type={type} tally={measured} />
      </div>
      <div>
        <div class="title">
          <h2>Responses by score</h2>
        </div>
        <Histogram columns={columnsOf(type, scores)} />
      </div>
    </section>
  );
}

const columnsOf = (type: SurveyType, scores: readonly ScoreCount[]) =>
  distribution(type, scores)
    .toReversed()
    .map(({ score, count: times, share }) => ({
      tone: `is-${categoryOf(type, score)}`,
      label: scoreText(type, score),
      count: times,
      text: count(times),
      about: `${scoreName(type, score)}: ${counted(times, 'response')}, ${share}%`,
    }));

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
