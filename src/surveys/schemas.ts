import * as v from 'valibot';
import { Count, described, Id, Moment } from '../lib/paging/schemas.ts';
import { surveyTypes } from '../scores.ts';

export const NetPromoterScore = described(
  v.nullable(v.pipe(v.number(), v.integer(), v.minValue(-100), v.maxValue(100))),
  'Net Promoter Score; null without responses',
);

const item = {
  id: Id,
  name: v.string(),
  question_text: v.string(),
  from_name: v.string(),
  from_email: described(v.string(), 'sender address'),
  status: described(
    v.picklist(['draft', 'active', 'completed']),
    'completed when every contact has responded, or when closed by hand',
  ),
  type: v.picklist(surveyTypes),
  audience: described(v.nullable(v.literal('employee')), 'null unless it asks employees'),
  sent_count: described(Count, 'contacts that were mailed'),
  response_count: Count,
  created_at: Moment,
  updated_at: Moment,
};

export const SurveyItem = v.object(item);

export const SurveyStats = v.object({
  total_responses: Count,
  avg_score: described(
    v.nullable(v.number()),
    'mean of the raw scores to 2 decimals; null without responses',
  ),
  promoters: Count,
  passives: Count,
  detractors: Count,
  nps: NetPromoterScore,
});

export const Survey = v.object({
  ...item,
  reply_to: described(v.string(), 'reply address'),
  stats: SurveyStats,
});
