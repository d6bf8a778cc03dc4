import { Hono } from 'hono';
import type { Db } from '../../lib/db/db.ts';
import type { ScreenEnv } from '../../sessions/session.ts';
import { Notice, Time } from '../../web/app/badges.tsx';
import { count, counted } from '../../web/app/lists.tsx';
import { Part, renderSettings } from '../../web/app/settings-screen.tsx';
import { findLastRetention, type RetentionRun, readTotals, type UsageTotals } from '../queries.ts';

/** Settings, Usage. */
export const usageScreens = ({ db }: { db: Db }) =>
  new Hono<ScreenEnv>().get('/', async (c) => {
    const totals = await readTotals(db, c.var.organization.id);
    const run = await findLastRetention(db, c.var.organization.id);
    const body = (
      <>
        <Usage totals={totals} />
        {run ? <LastRetention run={run} /> : null}
      </>
    );
    return renderSettings(c, { setting: 'usage', body });
  });

const LastRetention = ({ run }: { run: RetentionRun }) => (
  <Part id="retention" title="Last automatic deletion">
    <p>
      <Time at={run.at} />:{' '}
      {retentionNouns
        .filter(([kind]) => run[kind] > 0)
        .map(([kind, one, many]) => counted(run[kind], one, many))
        .join(', ')}
    </p>
  </Part>
);

const retentionNouns = [
  ['comments', 'comment', 'comments'],
  ['replies', 'reply', 'replies'],
  ['contacts', 'contact', 'contacts'],
  ['openings', 'link visit', 'link visits'],
  ['mails', 'email', 'emails'],
] as const;

const nearShare = 0.8;

const monthFormat = new Intl.DateTimeFormat('en-GB', { month: 'long', timeZone: 'UTC' });

function Usage({ totals }: { totals: UsageTotals }) {
  const { mails, monthly_send_limit: limit, month } = totals;
  const left = Math.max(limit - mails, 0);
  const share = limit === 0 ? 1 : Math.min(mails / limit, 1);
  const first = new Date(month);
  const monthName = monthFormat.format(first);
  const nextMonth = monthFormat.format(first.setUTCMonth(first.getUTCMonth() + 1));
  return (
    <Part id="usage" title="Usage">
      <p class="label">Emails this month</p>
      <p class="figure">
        {count(mails)} <small>of {count(limit)}</small>
      </p>
      <Meter share={share} label={`Emails this month: ${count(mails)} of ${count(limit)}`} />
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
      {left > 0 && share > nearShare ? (
        <Notice kind="warning" text="You have used more than 80% of this month’s emails." />
      ) : null}
      <dl class="counts">
        {(['Responses', 'Contacts', 'Surveys'] as const).map((name) => (
          <div>
            <dt>{name}</dt>
            <dd>{count(totals[name.toLowerCase() as 'responses'])}</dd>
          </div>
        ))}
      </dl>
    </Part>
  );
}

function Meter({ share, label }: { share: number; label: string }) {
  return (
    <svg
      class="bar thin"
      viewBox="0 0 100 1"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <rect width={(share * 100).toFixed(2)} height="1" />
    </svg>
  );
}
