import { Hono } from 'hono';
import type { Child } from 'hono/jsx';
import { capital } from '../../errors.ts';
import { type Db, one, type Sql } from '../../lib/db/db.ts';
import type { ScreenEnv } from '../../sessions/session.ts';
import { State, Time } from '../../web/app/badges.tsx';
import { Icon, type IconName } from '../../web/app/icon.tsx';
import { count, counted } from '../../web/app/lists.tsx';
import {
  maySee,
  renderSettings,
  type SettingName,
  settingPath,
} from '../../web/app/settings-screen.tsx';
import { getOrganization, type OrganizationRow, readUsage } from '../queries.ts';
import { monthFormat, UsageBar } from './usage.tsx';

type OverviewTools = { db: Db; mailbox: boolean };

/** `/o/:slug/settings/overview`: the main settings with their current values. */
export const settingsOverview = ({ db, mailbox }: OverviewTools) =>
  new Hono<ScreenEnv>().get('/', async (c) => {
    const { organization, member } = c.var;
    const { id: orgId } = organization;
    const [settings, usage, counts] = await Promise.all([
      getOrganization(db, orgId),
      readUsage(db, orgId),
      countSettings(db, orgId, member.id),
    ]);
    const groups = Object.entries(tilesOf(settings, usage, counts, mailbox))
      .map(([group, all]) => {
        const tiles = all.filter(({ name }) => maySee(organization.role, name));
        return { group, tiles };
      })
      .filter(({ tiles }) => tiles.length > 0);
    const body = groups.map(({ group, tiles }) => (
      <section aria-labelledby={`group-${group}`}>
        <h2 id={`group-${group}`} class="group">
          {group}
        </h2>
        <ul class="tiles">
          {tiles.map(({ name, at, icon, text, value, extra }) => (
            <li>
              <a class="tile" href={`${settingPath(organization, name)}${at ? `#${at}` : ''}`}>
                <span class="badge is-even">
                  <Icon name={icon} />
                </span>
                <span>
                  <b>{text}</b>
                  <small>{value}</small>
                </span>
                {extra}
              </a>
            </li>
          ))}
        </ul>
      </section>
    ));
    return renderSettings(c, { setting: null, body });
  });

type Tile = {
  name: SettingName;
  /** The id of a part of the page. */
  at?: string;
  icon: IconName;
  text: string;
  value: Child;
  extra?: Child;
};

function tilesOf(
  settings: OrganizationRow,
  { used, monthly_send_limit: limit, month }: Awaited<ReturnType<typeof readUsage>>,
  counts: SettingCounts,
  mailbox: boolean,
): Record<string, Tile[]> {
  const { frequency_days: frequency, ai_enabled: isAnalyzed } = settings;
  return {
    Organization: [
      {
        name: 'general',
        icon: 'settings',
        text: 'General',
        value: <bdi>{`${settings.name}, ${settings.time_zone}`}</bdi>,
      },
      {
        name: 'texts',
        icon: 'file-text',
        text: 'Texts',
        value: 'Postal address and footer of all emails',
        extra: settings.postal_address ? null : <State kind="warning">No postal address</State>,
      },
    ],
    Sending: [
      {
        name: 'mail',
        icon: 'mail',
        text: 'Mail',
        value: mailbox ? 'Emails stay on this server' : 'Mail server, SPF, DKIM and DMARC',
        extra: mailbox ? <State kind="warning">No mail server</State> : null,
      },
      {
        name: 'general',
        at: 'sending',
        icon: 'repeat',
        text: 'Survey frequency',
        value: frequency ? `At most one survey every ${counted(frequency, 'day')}` : 'No limit',
      },
      {
        name: 'usage',
        icon: 'activity',
        text: 'Usage',
        value: `${count(used)} of ${count(limit)} emails in ${monthFormat.format(new Date(month))}`,
        extra: <UsageBar used={used} limit={limit} />,
      },
    ],
    Access: [
      {
        name: 'members',
        icon: 'users',
        text: 'Members',
        value: `${counted(counts.members, 'member')}${counts.invitations > 0 ? `, ${counted(counts.invitations, 'invitation')} pending` : ''}`,
      },
      {
        name: 'members',
        icon: 'shield-check',
        text: 'Secure sign-in',
        value: `${count(counts.protected)} of ${counted(counts.members, 'member')} with a passkey or two-step verification`,
      },
      {
        name: 'api-keys',
        icon: 'key',
        text: 'API Keys',
        value: (
          <>
            {count(counts.keys)} active
            {counts.key_used_at ? (
              <>
                , last used <Time at={counts.key_used_at} show="ago" />
              </>
            ) : null}
          </>
        ),
      },
    ],
    Data: [
      {
        name: 'general',
        at: 'comments',
        icon: 'sparkles',
        text: 'Analysis',
        value: isAnalyzed ? 'Finds themes and sentiment in comments' : 'Comments are not analyzed',
        extra: <State kind={isAnalyzed ? 'fine' : 'skipped'}>{isAnalyzed ? 'On' : 'Off'}</State>,
      },
      {
        name: 'general',
        at: 'retention',
        icon: 'database',
        text: 'Retention',
        value: describeRetention(settings),
      },
      {
        name: 'notifications',
        icon: 'bell',
        text: 'Notifications',
        value: describeEmails(counts),
        extra: counts.has_channel ? <State kind="fine">Channel connected</State> : null,
      },
    ],
  };
}

const digestTexts = { none: '', day: 'daily digest', week: 'weekly digest' } as const;

function describeEmails({ kinds, digest }: SettingCounts): string {
  const parts = [
    kinds > 0 && counted(kinds, 'kind of email', 'kinds of emails'),
    digestTexts[digest],
  ];
  return capital(parts.filter(Boolean).join(', ') || 'no emails to you');
}

function describeRetention(settings: OrganizationRow): string {
  const { keep_comments_days, keep_contacts_days, keep_mails_days } = settings;
  const rules = [
    ['comments', keep_comments_days],
    ['inactive contacts', keep_contacts_days],
    ['the email log', keep_mails_days],
  ] as const;
  const limited = rules.flatMap(([noun, days]) =>
    days ? [`${noun} ${counted(days, 'day')}`] : [],
  );
  return limited.length === 0 ? 'Everything is kept' : `Keeps ${limited.join(', ')}`;
}

type SettingCounts = {
  members: number;
  protected: number;
  invitations: number;
  keys: number;
  key_used_at: Date | null;
  kinds: number;
  digest: keyof typeof digestTexts;
  has_channel: boolean;
};

async function countSettings(sql: Sql, orgId: string, memberId: string): Promise<SettingCounts> {
  return one(
    await sql<SettingCounts[]>`
      select m.members, m.protected, k.keys, k.key_used_at,
             coalesce(cardinality(n.events), 0) as kinds, coalesce(n.digest, 'none') as digest,
             exists (select from slack_hooks where org_id = ${orgId}) as has_channel,
             (select count(*)::int from member_links
              where org_id = ${orgId} and kind = 'invitation' and used_at is null and expires_at > now()) as invitations
      from (
        select count(*)::int as members,
               (count(*) filter (where m.totp_since is not null
                  or exists (select from passkeys where member_id = m.id)))::int as protected
        from memberships s
        join members m on m.id = s.member_id
        where s.org_id = ${orgId}
      ) m
      cross join (
        select count(*)::int as keys, max(last_used_at) as key_used_at
        from api_keys
        where org_id = ${orgId} and revoked_at is null and (expires_at is null or expires_at > now())
      ) k
      left join notification_choices n on n.org_id = ${orgId} and n.member_id = ${memberId}`,
  );
}
