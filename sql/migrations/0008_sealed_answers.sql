-- An answer that is kept for a repeat may show what is shown once, such as a webhook's secret: it is kept
-- sealed. Answers kept before cannot be sealed here and are forgotten.
delete from idempotency_keys where status is not null;

alter table idempotency_keys drop column response_body;
alter table idempotency_keys add column answer bytea;  -- sealed
