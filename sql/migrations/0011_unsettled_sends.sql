-- The mails that have no outcome yet: few, however many were sent.
create index sends_unsettled on sends (claimed_at) where status in ('claimed', 'sending');
