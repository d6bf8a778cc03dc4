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

-- The least id of a row of this time, to the microsecond. Ids of `id_at` sort by their time: a key that ends with one
-- lists newest first without a column of its own, and a range of ids is a range of time. The layout is that of UUIDv7.
create function least_id_at(moment timestamptz) returns uuid
language sql immutable parallel safe
return encode(
  int8send(
    (extract(epoch from moment) * 1000000)::bigint / 1000 << 16
    | (x'7000'::bigint + (extract(epoch from moment) * 1000000)::bigint % 1000 * 4)) || '\x8000000000000000',
  'hex')::uuid;

-- The time that an id of `id_at` begins with, to the microsecond: a row with such an id needs no column for it. Of a
-- UUIDv7 that was made elsewhere it is right to two milliseconds.
create function time_of(id uuid) returns timestamptz
language sql immutable parallel safe
return (timestamp '1970-01-01' + interval '1 microsecond' * (
  ('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint * 1000
    + ('x' || substring(id::text from 16 for 3))::bit(12)::bigint / 4)) at time zone 'UTC';

create function id_at(moment timestamptz) returns uuid
language sql volatile parallel safe
return encode(
  int8send(
    (extract(epoch from moment) * 1000000)::bigint / 1000 << 16
    | (x'7000'::bigint + (extract(epoch from moment) * 1000000)::bigint % 1000 * 4))
    || substring(uuid_send(gen_random_uuid()) from 9),
  'hex')::uuid;
