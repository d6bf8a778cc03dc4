-- Labels that an organization gives.

create table tags (
  id         uuid primary key default gen_random_uuid(),
  org_id     uuid not null,
  name       text not null check (char_length(name) between 1 and 200),
  color      text not null check (color ~ '^#[0-9A-Fa-f]{6}$'),
  created_at timestamptz not null default now(),

  constraint tags_belong_to_organization foreign key (org_id) references organizations (id) on delete cascade,
  unique (org_id, id)
);

comment on table tags is
  'A label of an organization';
comment on column tags.name is 'as it is shown; one tag a name';
comment on column tags.color is 'as #rrggbb';

create unique index tags_one_per_name on tags (org_id, name);
