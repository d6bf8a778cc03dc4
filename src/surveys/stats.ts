import { averageScore, netPromoterScore } from '../scores.ts';
import type { SurveyRow } from './queries.ts';

/** A survey with the score that its counts come to. */
export function surveyStats({ promoters, passives, detractors, score_sum, ...survey }: SurveyRow) {
  const tally = { promoters, passives, detractors };
  const stats = {
    total_responses: survey.response_count,
    avg_score: averageScore(score_sum, survey.response_count),
    ...tally,
    nps: netPromoterScore(tally),
  };
  return { ...survey, stats };
}
