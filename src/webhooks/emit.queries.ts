import type { Sql } from '../lib/db/db.ts';
import { emission, type Told } from './emission.cte.ts';

export async function insertDeliveries(sql: Sql, told: Told) {
  await sql`
    with ${emission(sql, told)}
    select from emitted`;
}
