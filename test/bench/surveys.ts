import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import type { Db, Sql } from '../../src/lib/db/db.ts';
import { makeWebhook } from '../support/make/rows.ts';

export type SurveyOf = { orgId: string; id: string };

/** The key of a measured service, which opens the secrets that are sealed here. */
export const secretKey = Buffer.alloc(32, 7);
const secrets = createSecrets([secretKey]);

/** Adds surveys in an organization each. With `webhooks`, each has a webhook for all events. */
export async function addSurveys(
  db: Db,
  { surveys, webhooks }: { surveys: number; webhooks: boolean },
) {
  const made = await db<SurveyOf[]>`
    with orgs as (
      insert into organizations (name, slug, monthly_send_limit)
      select 'Organization ' || n, gen_random_uuid()::text, 100000000 from generate_series(1, ${surveys}::int) n
      returning id
    )
    insert into surveys (org_id, name, question_text, from_name, from_email, reply_to, share_id)
    select id, 'Survey', 'How likely are you to recommend us?', 'Ann', 'ann@acme.test', 'ann@acme.test',
           replace(id::text, '-', '')
    from orgs
    returning org_id as "orgId", id`;
  if (webhooks) await Promise.all(made.map(({ orgId }) => addWebhook(db, orgId)));
  return made;
}

async function addWebhook(sql: Sql, orgId: string) {
  const id = await makeWebhook(sql, orgId, { url: 'https://hooks.test/' });
  const sealed = secrets.seal({ owner: orgId, id }, `whsec_${secretKey.toString('base64')}`);
  await sql`update webhooks set secret = ${sealed} where id = ${id}`;
}

/** Adds contacts that were mailed. Returns their tokens, alternating between the surveys. */
export async function addContacts(sql: Sql, surveys: readonly SurveyOf[], each: number) {
  const made = await sql<{ token: string }[]>`
    insert into contacts (org_id, survey_id, email, name, status, token, sent_at)
    select s.org_id, s.id, 'person' || n || '@people.example', 'Person ' || n, 'sent',
           replace(gen_random_uuid()::text, '-', ''), now()
    from generate_series(1, ${each}::int) n,
         surveys s
    where s.id = any (${surveys.map(({ id }) => id)}::uuid[])
    order by n
    returning token`;
  return made.map(({ token }) => token);
}
