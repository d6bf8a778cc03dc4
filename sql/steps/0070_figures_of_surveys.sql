-- batches of days
-- Half hours of each survey, of days that were over before these were kept. Until it has ended the hourly count of days
-- leaves them to it; readers count the responses of days without half hours.

-- next batch
select last_key, rows from tally_survey_days_after($1::text::jsonb, $2::integer);

-- estimate
select count(*) as rows
from day_tallies
where by_half_hour is null and slot = 0 and has_hours
  and day < (now() at time zone 'UTC')::date;
