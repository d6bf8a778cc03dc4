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

const byCategory = <const S extends v.GenericSchema>(text: S) =>
  v.object({
    promoter: v.optional(text),
    passive: v.optional(text),
    detractor: v.optional(text),
  });

const FollowUp = v.union([v.string(), byCategory(v.string())]);
const Thanks = v.union([
  v.string(),
  byCategory(
    v.object({
      text: v.string(),
      link_url: v.optional(v.string()),
      link_text: v.optional(v.string()),
    }),
  ),
]);

const SurveyTexts = v.object({
  question_text: v.string(),
  subject: v.optional(v.string()),
  intro: v.optional(v.string()),
  follow_up: v.optional(FollowUp),
  thanks: v.optional(Thanks),
});

export const Survey = v.object({
  ...item,
  reply_to: described(v.string(), 'reply address'),
  language: described(v.string(), 'of its own texts, as a BCP 47 tag'),
  subject: described(v.nullable(v.string()), 'of its mail; null: the question'),
  intro: described(v.nullable(v.string()), 'what its mail says before the question'),
  follow_up: described(v.nullable(FollowUp), 'the question above the comment'),
  thanks: described(v.nullable(Thanks), 'what its page says after an answer'),
  texts: described(v.record(v.string(), SurveyTexts), 'its texts in other languages, by tag'),
  reminders: v.array(v.object({ after_days: Count, subject: v.optional(v.string()) })),
  ask_after_days: v.nullable(Count),
  send_window: v.nullable(
    v.object({
      days: v.array(v.string()),
      from: v.string(),
      to: v.string(),
      time_zone: v.string(),
    }),
  ),
  embed: v.object({
    origins: v.array(v.string()),
    position: v.picklist(['inline', 'corner']),
    delay_seconds: Count,
    every_days: Count,
  }),
  share_url: described(v.string(), 'where anyone can answer'),
  stats: SurveyStats,
});

export const DeleteQuery = v.object({
  answers: described(
    v.optional(v.picklist(['delete'], 'must be delete')),
    'deletes the answers too; without it a survey that has answers stays',
  ),
});
