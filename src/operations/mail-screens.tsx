import { Hono } from 'hono';
import { cachedFor } from '../lib/async/cached-for.ts';
import { memoize } from '../lib/async/memoize.ts';
import type { Db } from '../lib/db/db.ts';
import { requireRole, type ScreenEnv } from '../sessions/session.ts';
import type { Config } from '../settings/config.ts';
import { renderSettings, settingPath } from '../web/app/settings-screen.tsx';
import { examineMail } from './examine-mail.ts';
import type { Finding } from './finding.ts';
import { createResolver, type Resolver } from './mail-dns/resolver.ts';
import { MailFindings, NoMailServer } from './mail-findings.tsx';
import { listSendersOf } from './queries.ts';

/** DNS of others is asked at most so often for an organization, and a page waits no longer than this for it. */
const times = { everyMs: 15_000, patienceMs: 20_000 };
const mostOrganizations = 1000;

export type MailScreenTools = {
  db: Db;
  publicUrl: string;
  settings: { bounceDomain: string | null } & Partial<Pick<Config, 'smtpUrl' | 'dkim'>>;
  /** For tests; else the name servers of this machine. */
  dns?: Resolver | undefined;
};

/**
 * Settings, Mail: what the doctor finds about the senders of the organization. Below `/o/:slug/settings/mail`, for
 * owners. The page comes at once; DNS is asked by a second request. Without a mail server there is nothing to look at.
 */
export function mailScreens({ db, publicUrl, settings, dns }: MailScreenTools) {
  const { bounceDomain, smtpUrl = null, dkim = null } = settings;

  async function examine(orgId: string): Promise<Finding[]> {
    const senders = await listSendersOf(db, orgId);
    return await examineMail(
      { dns: dns ?? createResolver(), settings: { bounceDomain, smtpUrl, dkim } },
      { senders, sendsFrom: [], publicUrl },
    );
  }
  const examiner = memoize(mostOrganizations, ({ orgId }: { orgId: string }) =>
    cachedFor(() => examine(orgId), times),
  );

  return new Hono<ScreenEnv>().get('/', async (c) => {
    const { orgId } = requireRole(c, 'owner');
    if (!smtpUrl) return renderSettings(c, { setting: 'mail', body: <NoMailServer /> });
    const looks = c.req.query('look') === 'now';
    const findings = looks ? await examiner({ orgId })() : null;
    const here = settingPath(c.var.organization, 'mail');
    return renderSettings(c, {
      setting: 'mail',
      body: <MailFindings findings={findings} here={here} />,
    });
  });
}
