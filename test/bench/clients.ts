import { issueKey } from '../../src/keys/manage.ts';
import type { Sql } from '../../src/lib/db/db.ts';
import { surveysOfOthers } from './seed.ts';

export type Client = {
  orgId: string;
  large: boolean;
  surveyId: string;
  responseId: string;
  key: string;
};

/** Creates a key for each organization, and as many again for the large one. */
export async function issueKeys(sql: Sql): Promise<Client[]> {
  const found = await sql<Omit<Client, 'key'>[]>`
    select s.org_id as "orgId", count(*) over (partition by s.org_id) > ${surveysOfOthers}::int as large,
           s.id as "surveyId", r.id as "responseId"
    from surveys s
    cross join lateral (select id from responses where org_id = s.org_id and survey_id = s.id and held_reason is null order by created_at desc limit 1) r`;
  const clients: Client[] = [];
  for (const each of found) {
    const { key } = await issueKey(sql, each.orgId, { name: 'bench' });
    clients.push({ ...each, key });
  }
  return clients;
}
