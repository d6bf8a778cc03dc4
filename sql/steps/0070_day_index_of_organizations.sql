-- index concurrently
-- Finds the days of organizations without half hours. Each answer writes this table: it must not wait for an index.
create index concurrently organization_day_tallies_without_half_hours on organization_day_tallies (org_id, day)
  where by_half_hour is null and slot = 0 and has_hours;
