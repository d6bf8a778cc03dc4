-- Retries that are due are taken before anything else, also from behind a long backlog.
create index deliveries_retries_due on deliveries (webhook_id, next_attempt_at)
  where status = 'pending' and attempts > 0;
