-- A suppression can be listed and lifted through the API, by an id as everything else.

alter table suppressions add column id uuid not null default gen_random_uuid();

create unique index suppressions_by_id on suppressions (org_id, id);
create index suppressions_newest_first on suppressions (org_id, created_at desc, id desc);
