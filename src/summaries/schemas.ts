import * as v from 'valibot';
import { Count, Id, Moment } from '../lib/paging/schemas.ts';

const Nps = v.nullable(v.pipe(v.number(), v.integer()));

export const Summary = v.object({
  id: Id,
  report_type: v.string(),
  period_start: Moment,
  period_end: v.pipe(Moment, v.description('The first moment after the period.')),
  nps: Nps,
  previous_nps: v.pipe(
    Nps,
    v.description('Of the calendar months before, or of as long a time just before.'),
  ),
  responses: Count,
  top_themes: v.array(v.string()),
  text: v.string(),
  created_at: Moment,
});
