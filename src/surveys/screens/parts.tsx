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
  typeFacts,
} from '../../survey-types.ts';
import { State } from '../../web/app/badges.tsx';
import { count, counted, EmptyState } from '../../web/app/lists.tsx';
import {
  getOrgSurvey,
  type ManagedSurvey,
  type ScoreCount,
  type SurveyStatus,
} from '../queries.ts';

export const surveysPath = ({ slug }: { slug: string }) => `/o/${slug}/surveys`;

export const canEdit = (c: Context<ScreenEnv>) => c.var.organization.role !== 'viewer';

const statusLabels = {
  draft: { kind: 'waiting', text: 'Draft' },
  active: { kind: 'fine', text: 'Open' },
  completed: { kind: 'skipped', text: 'Closed' },
} as const;

export const StatusBadge = ({ status }: { status: SurveyStatus }) => (
  <State kind={statusLabels[status].kind} code={status}>
    {statusLabels[status].text}
  </State>
);

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
    <section aria-labelledby="figure">
      <h2 id="figure">{typeFacts(type).number}</h2>
      <p class="small soft">{counted(total, 'answer')}</p>
      <p class="now">
        <strong>{formatValue(type, value)}</strong>
      </p>
      {interval === null ? null : (
        <p class="small soft">Margin of error (95%): {formatInterval(type, interval)}</p>
      )}
      {type === 'nps' ? (
        <dl class="sums">
          {shares.map(([category, name, answers]) => (
            <div>
              <dt class={`is-${category}`}>{name}</dt>
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

export function Distribution({ survey, scores }: Omit<FigureProps, 'period'>) {
  const rows = distribution(survey.type, scores);
  return (
    <section aria-labelledby="distribution">
      <h2 id="distribution">Responses by score</h2>
      <dl class="funnel">
        {rows.map(({ score, count: times, share }) => (
          <div>
            <dt>{scoreName(survey.type, score)}</dt>
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
