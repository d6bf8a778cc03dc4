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

type StoppedKind = MemberOf & { kind: NotificationKind | 'digest' };

type StopFacts = Pick<NotificationChoices, 'events' | 'digest'> & {
  name: string;
  email: string;
  organization: string;
};

/** Of a member that still belongs to the organization and has chosen once. */
export async function findStop(sql: Sql, { orgId, memberId }: MemberOf) {
  const [found] = await sql<StopFacts[]>`
    select n.events, n.digest, m.name, m.email, o.name as organization
    from notification_choices n
    join members m on m.id = n.member_id
    join organizations o on o.id = n.org_id
    where n.org_id = ${orgId} and n.member_id = ${memberId}`;
  return found;
}

/** Nothing comes back when it was not chosen. */
export async function removeChoice(sql: Sql, { orgId, memberId, kind }: StoppedKind) {
  const [changed] = await sql<Pick<NotificationChoices, 'events' | 'digest'>[]>`
    update notification_choices
    set events = array_remove(events, ${kind}),
        digest = case when ${kind} = 'digest' then 'none' else digest end
    where org_id = ${orgId} and member_id = ${memberId}
      and (${kind} = any(events) or (${kind} = 'digest' and digest <> 'none'))
    returning events, digest`;
  return changed;
}
