import { type Actor, changesOf, recordAct } from '../audit/acts.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';

export const notificationKinds = [
  'detractor',
  'held',
  'webhook_off',
  'limit_near',
  'limit_reached',
  'campaign_finished',
  'campaign_paused',
  'assigned',
] as const;
export type NotificationKind = (typeof notificationKinds)[number];

export const slackKinds = notificationKinds.filter((kind) => kind !== 'assigned');

export const digests = ['none', 'day', 'week'] as const;
export type Digest = (typeof digests)[number];

export type NotificationChoices = {
  events: NotificationKind[];
  digest: Digest;
  time_zone: string;
};

type MemberOf = { orgId: string; memberId: string };

/** Defaults to no notifications, in the time zone of the organization. */
export async function findChoices(sql: Sql, { orgId, memberId }: MemberOf) {
  const [row] = await sql<NotificationChoices[]>`
    select coalesce(n.events, '{}') as events, coalesce(n.digest, 'none') as digest,
           coalesce(n.time_zone, o.time_zone) as time_zone
    from organizations o
    left join notification_choices n on n.org_id = o.id and n.member_id = ${memberId}
    where o.id = ${orgId}`;
  return row;
}

export async function chooseNotifications(
  db: Db,
  member: MemberOf & { actor: Actor },
  { events, digest, time_zone }: NotificationChoices,
) {
  await inTransaction(db, async (tx) => {
    const before = (await findChoices(tx, member)) ?? {};
    await tx`
      insert into notification_choices (org_id, member_id, events, digest, time_zone)
      values (${member.orgId}, ${member.memberId}, ${events}, ${digest}, ${time_zone})
      on conflict (org_id, member_id) do update
        set events = excluded.events, digest = excluded.digest, time_zone = excluded.time_zone,
            changed_at = now()`;
    await recordChanges(tx, member, changesOf(before, { events, digest, time_zone }));
  });
}

/** Subscribes a new owner to paused campaigns, and the first owner to detractors too. Existing choices stay. */
export async function subscribeOwner(sql: Sql, { orgId, memberId }: MemberOf) {
  await sql`
    insert into notification_choices (org_id, member_id, events, digest, time_zone)
    select id, ${memberId},
           case when exists (
             select from memberships where org_id = ${orgId} and role = 'owner' and member_id <> ${memberId}
           ) then '{campaign_paused}'::text[] else '{detractor,campaign_paused}' end,
           'none', time_zone
    from organizations
    where id = ${orgId}
    on conflict do nothing`;
}

type Changer = { orgId: string; actor: Actor; memberId?: string };

/** Audits changes of a member's choices or, without `memberId`, of the organization's choices. */
export async function recordChanges(
  tx: Sql,
  { orgId, actor, memberId }: Changer,
  changes: ReturnType<typeof changesOf>,
) {
  if (Object.keys(changes).length === 0) return;
  const target = memberId ? { kind: 'member', id: memberId } : { kind: 'organization', id: orgId };
  await recordAct(tx, { orgId, actor, act: 'notifications.changed', target, details: { changes } });
}

/** Details of a response that emails and posts may show. */
export type NotificationContents = {
  people: boolean;
  unedited: boolean;
};

export async function findContents(sql: Sql, orgId: string): Promise<NotificationContents> {
  const [row] = await sql<NotificationContents[]>`
    select people, unedited from notification_contents where org_id = ${orgId}`;
  return row ?? { people: false, unedited: false };
}

export async function setContents(
  db: Db,
  { orgId, actor }: Changer,
  { people, unedited }: NotificationContents,
) {
  await inTransaction(db, async (tx) => {
    const before = await findContents(tx, orgId);
    await tx`
      insert into notification_contents (org_id, people, unedited)
      values (${orgId}, ${people}, ${unedited})
      on conflict (org_id) do update set people = excluded.people, unedited = excluded.unedited`;
    await recordChanges(tx, { orgId, actor }, changesOf(before, { people, unedited }));
  });
}
