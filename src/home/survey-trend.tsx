import type { Child } from 'hono/jsx';
import type { Db } from '../lib/db/db.ts';
import type { SurveyType } from '../scores.ts';
import { readTrendFigures } from './figures.ts';
import { AskedPart } from './parts.tsx';
import { addDays, choosePeriod, mostDays } from './period.rules.ts';
import { Trend } from './score-part.tsx';
import { findAnsweredDays } from './survey-trend.queries.ts';

type TrendOfSurvey = {
  orgId: string;
  survey: { id: string; name: string; type: SurveyType; audience: 'employee' | null };
  /** Null for all time, of which the last three years are shown. */
  period: string | null;
};

/** The trend of one survey with its margin as a band, and how many were asked and answered: as Home shows them. */
export async function surveyTrend(
  db: Db,
  { orgId, survey, period: name }: TrendOfSurvey,
): Promise<Child> {
  const days = await findAnsweredDays(db, orgId, survey.id);
  if (!days?.first_day) return null;
  const { today, time_zone: timeZone, first_day } = days;
  const earliest = addDays(today, 1 - mostDays);
  const date_from = first_day > earliest ? first_day : earliest;
  const asked = name ? { period: name } : { date_from, date_to: today };
  const period = choosePeriod(asked, today);
  if ('errors' in period) return null;
  const { type, audience } = survey;
  const scope = { survey: { ...survey, responses: 0 }, type, audience, properties: {} };
  const { steps, asked: counts } = await readTrendFigures(db, orgId, { scope, period, timeZone });
  return (
    <div class="columns score part">
      {counts === null ? null : <AskedPart asked={counts} />}
      <section aria-labelledby="trend-heading">
        <div class="title">
          <h2 id="trend-heading">Over time</h2>
        </div>
        <Trend {...{ type, period, timeZone, steps }} />
      </section>
    </div>
  );
}
