-- How far a replica must be, so that an organization finds there what it has written itself.
create table organization_writes (
  org_id   uuid primary key references organizations (id) on delete cascade,
  position pg_lsn not null
);

comment on table organization_writes is
  'The last write of an organization, kept while reads go to a replica. Means nothing to another server';
comment on column organization_writes.org_id is 'whose API keys or members have written';
comment on column organization_writes.position is 'where the log of the primary was after their last write';
