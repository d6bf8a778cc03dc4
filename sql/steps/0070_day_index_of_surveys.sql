-- index concurrently
-- Finds the days of surveys without half hours. Each answer writes this table: it must not wait for an index.
create index concurrently day_tallies_without_half_hours on day_tallies (survey_id, day)
  where by_half_hour is null and slot = 0 and has_hours;
