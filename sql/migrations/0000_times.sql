-- Times as the API shows them: UTC, to the millisecond.
create function iso(moment timestamptz) returns text
language sql stable
return to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- Where a list goes on: after the row with this time, to the microsecond, and this id, as base64url.
create function page_cursor(created_at timestamptz, id uuid) returns text
language sql stable
return translate(
  encode(convert_to(to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || ' ' || id, 'UTF8'), 'base64'),
  E'+/=\n', '-_');
