import type { Sql } from '../lib/db/db.ts';
import type { Digest, NotificationKind } from './rules.ts';

export type NotificationChoices = {
  events: NotificationKind[];
  digest: Digest;
  time_zone: string;
};

type MemberOf = { orgId: string; memberId: string };

/** What the member has chosen; before that nothing, in the time zone of the organization. */
export async function findChoices(sql: Sql, { orgId, memberId }: MemberOf) {
  const [row] = await sql<NotificationChoices[]>`
    select coalesce(n.events, '{}') as events, coalesce(n.digest, 'none') as digest,
           coalesce(n.time_zone, o.time_zone) as time_zone
    from organizations o
    left join notification_choices n on n.org_id = o.id and n.member_id = ${memberId}
    where o.id = ${orgId}`;
  return row;
}

export async function saveChoices(
  sql: Sql,
  { orgId, memberId }: MemberOf,
  { events, digest, time_zone }: NotificationChoices,
) {
  await sql`
    insert into notification_choices (org_id, member_id, events, digest, time_zone)
    values (${orgId}, ${memberId}, ${[...events]}, ${digest}, ${time_zone})
    on conflict (org_id, member_id) do update
      set events = excluded.events, digest = excluded.digest, time_zone = excluded.time_zone,
          changed_at = now()`;
}
