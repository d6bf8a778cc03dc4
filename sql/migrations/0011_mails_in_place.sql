-- A mail's row changes twice on its way and its contact's once. With room in their pages, and with no
-- index that depends on the status, a change stays in its page and touches no index at all.
alter table sends
  add column holds_place boolean not null default true;

update sends set holds_place = false where status = 'failed';

alter table sends
  add constraint sends_holds_place_check check (holds_place = (status <> 'failed')),
  set (fillfactor = 50);

drop index sends_once;
create unique index sends_once on sends (survey_id, lower(email)) where holds_place;

alter table contacts set (fillfactor = 75);
