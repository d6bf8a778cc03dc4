-- A list that was uploaded waits here until its columns are mapped and it is taken over.

create table contact_uploads (
  id          uuid primary key default gen_random_uuid(),
  org_id      uuid not null,
  survey_id   uuid not null,
  name        text not null,
  delimiter   text not null,
  first_line  integer not null,
  has_header  boolean not null,
  rows        integer not null,
  added       integer,
  known       integer,
  repeated    integer,
  created_at  timestamptz not null default now(),
  imported_at timestamptz,

  foreign key (org_id, survey_id) references surveys (org_id, id) on delete cascade,
  unique (org_id, id)
);

comment on table contact_uploads is
  'A list of contacts that was uploaded or pasted. Deleted after a week';
comment on column contact_uploads.name is 'name of the file';
comment on column contact_uploads.first_line is 'line of the file on which its text begins';
comment on column contact_uploads.has_header is 'whether the first row seems to name the columns';
comment on column contact_uploads.rows is 'rows of the file, without the header';
comment on column contact_uploads.added is 'contacts that were new';
comment on column contact_uploads.known is 'contacts that the survey had';
comment on column contact_uploads.repeated is 'rows with an address of a row before';
comment on column contact_uploads.imported_at is 'when its contacts were taken over';
comment on column contact_uploads.delimiter is 'what separates its columns';

create index contact_uploads_of_survey on contact_uploads (survey_id, imported_at desc) where imported_at is not null;
create index contact_uploads_by_age on contact_uploads (created_at);

create table contact_upload_chunks (
  org_id    uuid not null,
  upload_id uuid not null,
  place     integer not null,
  chunk     text not null,
  primary key (upload_id, place),
  foreign key (org_id, upload_id) references contact_uploads (org_id, id) on delete cascade
);

comment on table contact_upload_chunks is 'The text of an uploaded list in pieces, until its contacts are taken over';
comment on column contact_upload_chunks.chunk is 'a part of the text of the list';
comment on column contact_upload_chunks.place is 'its place in the list, from 0';

create table contact_upload_rejects (
  org_id    uuid not null,
  upload_id uuid not null,
  line      integer not null,
  value     text not null,
  reason    text not null,
  primary key (upload_id, line),
  foreign key (org_id, upload_id) references contact_uploads (org_id, id) on delete cascade
);

comment on table contact_upload_rejects is 'A row of an uploaded list that was left out';
comment on column contact_upload_rejects.line is 'line of the file';
comment on column contact_upload_rejects.value is 'what stood in the place of the address';
comment on column contact_upload_rejects.reason is 'why the line is left out';
