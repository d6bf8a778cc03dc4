import * as v from 'valibot';
import { Page } from '../lib/paging/page.ts';
import { Count, described, Id, Moment } from '../lib/paging/schemas.ts';
import { isInCalendar } from '../lib/validation/calendar.ts';
import { BooleanParameter } from '../lib/validation/parse.ts';
import { isPlainLine } from '../lib/validation/plain-line.ts';
import { oneOf } from '../responses/scope.schemas.ts';
import { resultStatuses } from './results.queries.ts';

const longestName = 200;
const longestSearch = 320;
const mostPerHour = 1_000_000;
const longestWaitMs = 366 * 24 * 60 * 60 * 1000;

const CampaignName = v.pipe(
  v.string('must be text'),
  v.trim(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(longestName, `must be at most ${longestName} characters`),
  v.check(isPlainLine, 'must be one line without control characters'),
);

const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)$/;

const SendAt = v.pipe(
  v.string('must be text'),
  v.regex(timeForm, 'must be an ISO 8601 time with its zone, such as 2027-01-31T12:00:00Z'),
  v.check(isInCalendar, 'must be a time that exists'),
  v.check((text) => Date.parse(text) < Date.now() + longestWaitMs, 'must be within a year'),
  v.metadata({ format: 'date-time' }),
  v.transform((text) => new Date(text)),
);

export const PerHour = v.pipe(
  v.number('must be a number'),
  v.integer('must be a whole number'),
  v.minValue(1, 'must be at least 1'),
  v.maxValue(mostPerHour, `must be at most ${mostPerHour}`),
);

/** What a list of results takes. */
export const ResultsQuery = v.object({
  ...Page.entries,
  search: described(
    v.optional(
      v.pipe(
        v.string(),
        v.trim(),
        v.maxLength(longestSearch, `must be at most ${longestSearch} characters`),
        v.check((text) => !text.includes('\u0000'), 'must not contain NUL'),
      ),
    ),
    'limit to contacts with this text in their address or name, in any case',
  ),
  status: described(v.optional(oneOf(resultStatuses)), 'limit to contacts with this status'),
});

export const CampaignInput = v.object({
  name: described(v.nullish(CampaignName), 'what it is called in lists; without one as the survey'),
  send_at: described(
    v.nullish(SendAt),
    'when it starts; without one, and for a time in the past, at once',
  ),
  per_hour: described(
    v.nullish(PerHour),
    'at most so many mails an hour, spread evenly; without one as fast as the mail server takes them',
  ),
});

export const CampaignQuery = v.object({
  dry_run: v.pipe(
    v.optional(BooleanParameter),
    v.description('`true` judges the same way, and writes and sends nothing'),
  ),
});

const counts = {
  total: described(Count, 'contacts that were judged: those that were pending or failed'),
  sent: Count,
  duplicates: described(
    Count,
    'contacts that a rule kept from being mailed, with the reason in the results',
  ),
  invalid: described(Count, 'contacts whose address cannot be mailed'),
  failed: Count,
  remaining: described(Count, 'mails that are still to go out'),
};

export const Campaign = v.object({
  id: Id,
  survey_id: Id,
  name: v.string(),
  status: v.picklist(['scheduled', 'running', 'paused', 'finished', 'stopped', 'refused']),
  send_at: v.nullable(Moment),
  per_hour: v.nullable(Count),
  ...counts,
  reason: described(v.nullable(v.string()), 'why it was refused, or stopped by itself'),
  created_at: Moment,
  started_at: v.nullable(Moment),
  finished_at: v.nullable(Moment),
});

/** What a dry run answers: a campaign that was never made. */
export const TriedCampaign = v.object({
  ...Campaign.entries,
  id: v.null(),
  created_at: v.null(),
  reasons: described(
    v.record(v.string(), Count),
    'how many contacts would not be mailed, by `reason_code`',
  ),
});

export const CampaignResultItem = v.object({
  contact_id: Id,
  email: v.string(),
  status: v.picklist(['waiting', 'sent', 'duplicate', 'invalid', 'failed']),
  reason: v.nullable(v.string()),
  reason_code: v.nullable(v.string()),
  at: described(v.nullable(Moment), 'when it was decided; null while the mail waits'),
});
