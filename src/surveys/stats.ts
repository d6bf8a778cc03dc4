import { averageScore, netPromoterScore } from '../scores.ts';
import { embeddingOf } from './asking.schemas.ts';
import { shareUrl } from './create.ts';
import type { SurveyRow } from './queries.ts';

/** A survey as the API shows it: with its shareable link and the score that its counts come to. */
export function shownSurvey({ share_id, embed, ...row }: SurveyRow, publicUrl: string) {
  const share_url = shareUrl(publicUrl, { share_id });
  return { ...surveyStats(row), embed: embeddingOf(embed), share_url };
}

type Counted = Pick<
  SurveyRow,
  'promoters' | 'passives' | 'detractors' | 'score_sum' | 'response_count'
>;

/** A survey with the score that its counts come to. */
export function surveyStats<S extends Counted>(row: S) {
  const { promoters, passives, detractors, score_sum, ...survey } = row;
  const tally = { promoters, passives, detractors };
  const stats = {
    total_responses: survey.response_count,
    avg_score: averageScore(score_sum, survey.response_count),
    ...tally,
    nps: netPromoterScore(tally),
  };
  return { ...survey, stats };
}
