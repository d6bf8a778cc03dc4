import { Hono } from 'hono';
import type { Db } from '../../lib/db/db.ts';
import { nearLimitPercent } from '../../limits.ts';
import type { ScreenEnv } from '../../sessions/session.ts';
import { Notice, Part } from '../../web/app/badges.tsx';
import { count, counted } from '../../web/app/lists.tsx';
import { renderSettings } from '../../web/app/settings-screen.tsx';
import { readUsage } from '../queries.ts';

/** Settings, Usage. */
export const usageScreens = ({ db }: { db: Db }) =>
  new Hono<ScreenEnv>().get('/', async (c) => {
    const { used, monthly_send_limit: limit, month } = await readUsage(db, c.var.organization.id);
    const left = Math.max(limit - used, 0);
    const start = new Date(month);
    const monthName = monthFormat.format(start);
    const nextMonth = monthFormat.format(start.setUTCMonth(start.getUTCMonth() + 1));
    const body = (
      <Part id="usage" title="Usage">
        <p class="label">Emails this month</p>
        <p class="figure">
          {count(used)} <small>of {count(limit)}</small>
        </p>
        <UsageBar used={used} limit={limit} />
        {left === 0 ? (
          <Notice
            kind="failed"
            text="No emails left this month. The operator of this server can raise the limit."
          />
        ) : (
          <p class="sub">
            {counted(left, 'email')} left in {monthName}. Resets on 1 {nextMonth} (UTC).
          </p>
        )}
        {left > 0 && isNear(used / limit) ? (
          <Notice
            kind="warning"
            text={`You have used more than ${nearLimitPercent}% of this month’s emails.`}
          />
        ) : null}
      </Part>
    );
    return renderSettings(c, { setting: 'usage', body });
  });

const isNear = (share: number) => 100 * share > nearLimitPercent;

export const monthFormat = new Intl.DateTimeFormat('en-GB', { month: 'long', timeZone: 'UTC' });

export function UsageBar({ used, limit }: { used: number; limit: number }) {
  const share = limit === 0 ? 1 : Math.min(used / limit, 1);
  return (
    <svg class={`bar thin${isNear(share) ? ' is-warn' : ''}`} aria-hidden="true">
      <rect width={`${(share * 100).toFixed(1)}%`} height="100%" />
    </svg>
  );
}
