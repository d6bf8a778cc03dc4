import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from './support/probe/database.ts';

const { db } = await testDatabase();

test('an id says when it was made, to the microsecond, and sorts by it', async () => {
  const wrong = await db`
    with edge (at) as (
      values ('1970-01-01T00:00:00Z'::timestamptz), ('1970-01-01T00:00:00.001Z'), ('1999-12-31T23:59:59.999999Z'),
             ('2000-01-01T00:00:00Z'), ('2026-03-29T00:59:59.999999Z'), ('2026-10-25T01:00:00Z'),
             ('2038-01-19T03:14:07.999999Z'), ('2106-02-07T06:28:15.999999Z'), ('2199-12-31T23:59:59.999Z')
    ), near as (
      select at + interval '1 microsecond' * n as at
      from edge, generate_series(0, 2100) n
      union all
      select '1970-01-01T00:00:00Z'::timestamptz + interval '1 microsecond' * (n * 725900000123::bigint + n % 1000)
      from generate_series(0, 9999) n
    ), made as (
      select at, id_at(at) as id, least_id_at(at) as least, least_id_at(at + interval '1 microsecond') as next
      from near
    )
    select at, time_of(id) as of_id, time_of(least) as of_least
    from made
    where (time_of(id) = at and time_of(least) = at and id >= least and id < next) is not true
    limit 5`;
  assert.deepEqual([...wrong], []);
});

test('the time of an id does not depend on the time zone of the session', async () => {
  const rows = await db.begin(async (tx) => {
    await tx`set local time zone 'Pacific/Chatham'`;
    return await tx`
      select time_of(id_at('2026-03-29T01:30:00.123457Z')) = '2026-03-29T01:30:00.123457Z'::timestamptz as same`;
  });
  assert.deepEqual({ ...rows[0] }, { same: true });
});
