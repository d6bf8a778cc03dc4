import type { Context } from 'hono';
import { notFound } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { isUuid } from '../../lib/validation/parse.ts';
import {
  averageScore,
  categoryOf,
  marginOfError,
  netPromoterScore,
  percentage,
  type SurveyType,
  scaleOf,
  signedNps,
  type Tally,
} from '../../scores.ts';
import type { ScreenEnv } from '../../sessions/session.ts';
import { State } from '../../web/app/badges.tsx';
import { count, counted, EmptyState } from '../../web/app/lists.tsx';
import {
  getOrgSurvey,
  type ManagedSurvey,
  type ScoreCount,
  type SurveyStatus,
} from '../queries.ts';

const statusTexts = { draft: 'Draft', active: 'Open', completed: 'Closed' } as Record<
  SurveyStatus,
  string
>;

export const surveysPath = ({ slug }: { slug: string }) => `/o/${slug}/surveys`;

export const mayEdit = (c: Context<ScreenEnv>) => c.var.organization.role !== 'viewer';

const kinds = { draft: 'waiting', active: 'fine', completed: 'skipped' } as const;

/** How a survey stands: shape, colour and word. */
export const StatusMark = ({ status }: { status: SurveyStatus }) => (
  <State kind={kinds[status]} code={status}>
    {statusTexts[status]}
  </State>
);

type TabsProps = { organization: { slug: string }; id: string; current: 'numbers' | 'share' };

/** The pages of a survey. */
export function SurveyTabs({ organization, id, current }: TabsProps) {
  const here = `${surveysPath(organization)}/${id}`;
  const tabs = [
    ['numbers', 'Numbers', here],
    ['contacts', 'Contacts', `${here}/contacts`],
    ['send', 'Send', `${here}/send`],
    ['share', 'Share', `${here}/share`],
  ] as const;
  return (
    <nav aria-label="Survey">
      <ul class="segments">
        {tabs.map(([tab, text, href]) => (
          <li>
            <a href={href} aria-current={tab === current ? 'page' : undefined}>
              {text}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

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

/** The one number of a survey, in the way of its scale. */
type SurveyFigure = {
  /** What the number is, as a heading. */
  title: string;
  /** Null without answers. */
  value: string | null;
  /** How sure it is, when that is known: `± 7.2`. */
  margin: string | null;
};

const titles = {
  nps: 'Net Promoter Score',
  csat: 'Satisfied, 4 or 5',
  ces: 'Mean effort score, of 7',
  star5: 'Mean of 5 stars',
  thumbs: 'Thumbs up',
} as const satisfies Record<SurveyType, string>;

export const titleOfFigure = (type: SurveyType) => titles[type];

type Totals = Tally & { score_sum: number };

/** The number alone, from kept totals. */
export function figureOf(type: SurveyType, totals: Totals): string | null {
  const total = totals.promoters + totals.passives + totals.detractors;
  if (total === 0) return null;
  if (type === 'nps') return signedNps(netPromoterScore(totals)!);
  if (type === 'csat' || type === 'thumbs') return `${percentage(totals.promoters, total)}%`;
  return averageScore(totals.score_sum, total)!.toFixed(2);
}

/** The number with its margin, from how often each score was given. */
export function figureOfScores(type: SurveyType, scores: readonly ScoreCount[]): SurveyFigure {
  const totals = totalsOf(type, scores);
  return {
    title: titleOfFigure(type),
    value: figureOf(type, totals),
    margin: marginOf(type, scores),
  };
}

export function totalsOf(type: SurveyType, scores: readonly ScoreCount[]): Totals {
  const totals = { promoters: 0, passives: 0, detractors: 0, score_sum: 0 };
  for (const { score, count } of scores) {
    totals[`${categoryOf(type, score)}s`] += count;
    totals.score_sum += score * count;
  }
  return totals;
}

/** Half of the 95 % interval, as Home has it. A share is a score without detractors; a mean has the spread of its scores. */
function marginOf(type: SurveyType, scores: readonly ScoreCount[]): string | null {
  const totals = totalsOf(type, scores);
  if (type === 'ces' || type === 'star5') return marginOfMean(scores, totals);
  const rest = totals.passives + totals.detractors;
  const counted = type === 'nps' ? totals : { ...totals, passives: rest, detractors: 0 };
  const margin = marginOfError(counted);
  if (margin === null) return null;
  return type === 'nps' ? `± ${margin}` : `± ${margin}%`;
}

function marginOfMean(scores: readonly ScoreCount[], { score_sum }: Totals): string | null {
  const total = scores.reduce((sum, { count }) => sum + count, 0);
  if (total < 2) return null;
  const mean = score_sum / total;
  const squares = scores.reduce((sum, { score, count }) => sum + count * (score - mean) ** 2, 0);
  return `± ${(1.96 * Math.sqrt(squares / (total - 1) / total)).toFixed(2)}`;
}

/** Every score of the scale, the highest first, with how often it was given. */
export function distribution(type: SurveyType, scores: readonly ScoreCount[]) {
  const { lowest, highest } = scaleOf(type);
  const counts = new Map(scores.map(({ score, count }) => [score, count]));
  const total = scores.reduce((sum, { count }) => sum + count, 0);
  return Array.from({ length: highest - lowest + 1 }, (_, step) => {
    const score = highest - step;
    const count = counts.get(score) ?? 0;
    const share = percentage(count, total);
    return { score, count, share, category: categoryOf(type, score) };
  });
}

/** The survey that the path names, if the organization has it. */
export const surveyOf = async (c: Context<ScreenEnv>, db: Db) =>
  await getOrgSurvey(db, c.var.organization.id, surveyIdOf(c));

/** An id that is not a UUID is not found, like one of another organization. */
export function surveyIdOf(c: Context<ScreenEnv>): string {
  const id = c.req.param('id') ?? '';
  if (!isUuid(id)) throw notFound('survey');
  return id;
}
