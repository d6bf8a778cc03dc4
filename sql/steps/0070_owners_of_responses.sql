-- validate constraint
-- Reads all responses, without a lock that an answer waits for.
alter table responses validate constraint responses_have_members_as_owners;
