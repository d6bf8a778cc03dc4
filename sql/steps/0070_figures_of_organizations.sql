-- batches of days
-- Half hours of all surveys and figures of facets, of days that were over before these were kept. Until it has ended the
-- hourly count of days leaves them to it; readers count the responses of days without figures.

-- next batch
select last_key, rows from tally_organization_days_after($1::text::jsonb, $2::integer);

-- estimate
select (
         select count(*) from organization_day_tallies
         where by_half_hour is null and slot = 0 and has_hours
           and day < (now() at time zone 'UTC')::date
       ) + (
         select count(distinct (org_id, day)) from facet_changes where day < (now() at time zone 'UTC')::date
       ) as rows;
