import { Hono } from 'hono';
import type { Db } from '../lib/db/db.ts';
import type { ScreenEnv } from '../sessions/session.ts';
import { count } from '../web/app/lists.tsx';
import { Notice } from '../web/app/marks.tsx';
import { Part, renderSettings } from '../web/app/settings-screen.tsx';
import { usageTexts as texts } from './screen-texts.ts';
import { readTotals, type UsageTotals } from './usage.queries.ts';

/** Settings, Usage: below `/o/:slug/settings/usage`. */
export const usageScreens = ({ db }: { db: Db }) =>
  new Hono<ScreenEnv>().get('/', async (c) => {
    const totals = await readTotals(db, c.var.organization.id);
    return renderSettings(c, { setting: 'usage', body: <Usage totals={totals} /> });
  });

const nearShare = 0.8;

function Usage({ totals }: { totals: UsageTotals }) {
  const { mails, monthly_send_limit: limit, month } = totals;
  const left = Math.max(limit - mails, 0);
  const share = limit === 0 ? 1 : Math.min(mails / limit, 1);
  const monthName = new Intl.DateTimeFormat('en-GB', {
    ...({ month: 'long', year: 'numeric', timeZone: 'UTC' } as const),
  }).format(new Date(month));
  return (
    <Part id="usage" title={texts.title}>
      <dl class="sums">
        <div>
          <dt>{texts.mails}</dt>
          <dd>
            {count(mails)} <small>{texts.of(count(limit))}</small>
          </dd>
        </div>
        <div>
          <dt>{texts.responses}</dt>
          <dd>{count(totals.responses)}</dd>
        </div>
        <div>
          <dt>{texts.contacts}</dt>
          <dd>{count(totals.contacts)}</dd>
        </div>
        <div>
          <dt>{texts.surveys}</dt>
          <dd>{count(totals.surveys)}</dd>
        </div>
      </dl>
      <Meter share={share} label={`${texts.mails}: ${count(mails)} ${texts.of(count(limit))}`} />
      {left === 0 ? (
        <Notice kind="failed" text={texts.spent} />
      ) : (
        <p class="small soft">{texts.left(count(left), monthName)}</p>
      )}
      {left > 0 && share >= nearShare ? <Notice kind="warning" text={texts.near} /> : null}
    </Part>
  );
}

function Meter({ share, label }: { share: number; label: string }) {
  return (
    <svg class="meter" viewBox="0 0 100 1" preserveAspectRatio="none" role="img" aria-label={label}>
      <rect width={(share * 100).toFixed(2)} height="1" />
    </svg>
  );
}
