import { ScoreRange } from '../../home/reasons.tsx';
import type { Sql } from '../../lib/db/db.ts';
import {
  formatInterval,
  formatValue,
  percentage,
  type SurveyType,
  typeFacts,
} from '../../survey-types.ts';
import { count, DataTable } from '../../web/app/lists.tsx';
import type { OrgSurvey, ScoreCount } from '../queries.ts';
import { measureScores } from './parts.tsx';

type RoundFigures = {
  round: number;
  asked: number;
  responded: number;
  scores: ScoreCount[];
};

/** Figures of each round, the newest first. Empty for a survey in its first round. */
export async function readRounds(sql: Sql, { orgId, surveyId }: OrgSurvey) {
  return await sql<RoundFigures[]>`
    with later as materialized (
      select from contacts where org_id = ${orgId} and survey_id = ${surveyId} and superseded limit 1
    ), scored as (
      select round, score, count(*)::int as count
      from responses
      where org_id = ${orgId} and survey_id = ${surveyId} and held_reason is null and round is not null
      group by round, score
    )
    select c.round, count(c.sent_at)::int as asked, count(c.responded_at)::int as responded,
           (select coalesce(json_agg(json_build_object('score', s.score, 'count', s.count)), '[]')
            from scored s where s.round = c.round) as scores
    from contacts c
    where c.org_id = ${orgId} and c.survey_id = ${surveyId} and exists (select from later)
    group by c.round
    order by c.round desc`;
}

type RoundsProps = { rounds: readonly RoundFigures[]; type: SurveyType };

export function Rounds({ rounds, type }: RoundsProps) {
  if (rounds.length === 0) return null;
  return (
    <section class="card" aria-labelledby="rounds">
      <h2 id="rounds">Rounds</h2>
      <DataTable
        caption="Rounds of this survey, newest first"
        nowrap
        columns={[
          'Round',
          { head: 'Asked', number: true },
          { head: 'Responded', number: true },
          { head: 'Range', phone: 'absent' },
          { head: typeFacts(type).number, number: true, phone: 'beside' },
        ]}
        rows={rounds.map(({ round, asked, responded, scores }) => {
          const { value, interval } = measureScores(type, scores);
          const rate = asked === 0 ? '' : ` (${percentage(responded, asked)}%)`;
          return {
            cells: [
              `Round ${round}`,
              count(asked),
              `${count(responded)}${rate}`,
              <ScoreRange type={type} measured={{ value, interval }} />,
              <>
                {value === null ? 'No responses' : <b>{formatValue(type, value)}</b>}
                {interval === null ? null : (
                  <small class="soft block">{formatInterval(type, interval)}</small>
                )}
              </>,
            ],
          };
        })}
      />
    </section>
  );
}
