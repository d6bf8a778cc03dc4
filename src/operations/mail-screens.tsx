import { Hono } from 'hono';
import { cacheWithTtl } from '../lib/async/cache-with-ttl.ts';
import { memoize } from '../lib/async/memoize.ts';
import { requireRole, type ScreenEnv } from '../sessions/session.ts';
import { CopyButton, Message, Part, State, type StateKind } from '../web/app/badges.tsx';
import { LinkButton } from '../web/app/forms.tsx';
import { renderSettings, settingPath } from '../web/app/settings-screen.tsx';
import { examineSenders, type SenderTools } from './doctor-mail.ts';
import type { Finding } from './findings.ts';

/** Limits DNS lookups per organization, and the time that a page waits for them. */
const cacheOptions = { ttlMs: 15_000, timeoutMs: 20_000 };
const maxOrganizations = 1000;

/**
 * Settings, Mail: the doctor's findings about the organization's senders, below `/o/:slug/settings/mail`, for owners.
 * The page appears at once, and a second request looks up DNS.
 */
export function mailScreens(tools: SenderTools) {
  const examiner = memoize(maxOrganizations, (orgId: string) =>
    cacheWithTtl(() => examineSenders(tools, orgId), cacheOptions),
  );

  return new Hono<ScreenEnv>().get('/', async (c) => {
    const { orgId } = requireRole(c, 'owner');
    if (!tools.settings.smtpUrl)
      return renderSettings(c, { setting: 'mail', body: <NoMailServer /> });
    const isLookup = c.req.query('look') === 'now';
    const findings = isLookup ? await examiner(orgId)() : null;
    const here = settingPath(c.var.organization, 'mail');
    return renderSettings(c, {
      setting: 'mail',
      body: <MailFindings findings={findings} here={here} />,
    });
  });
}

const states: Readonly<Record<Finding['status'], { text: string; kind: StateKind }>> = {
  fail: { text: 'Required', kind: 'failed' },
  warn: { text: 'Recommended', kind: 'warning' },
  ok: { text: 'OK', kind: 'fine' },
};

type MailFindingsProps = {
  /** Null before the lookup, undefined if DNS took too long. */
  findings: readonly Finding[] | null | undefined;
  here: string;
};

function MailFindings({ findings, here }: MailFindingsProps) {
  return (
    <Part id="mail" title="Mail">
      <p class="sub">
        Checks the mail server, DNS and public URL, which decide whether your emails arrive.
      </p>
      {findings === null ? (
        <div
          id="findings"
          aria-live="polite"
          hx-get={`${here}?look=now`}
          hx-trigger="load"
          hx-select="#findings"
          hx-swap="outerHTML"
        >
          <p>Checking DNS…</p>
          <p>
            <LinkButton href={`${here}?look=now`} text="Check now" />
          </p>
        </div>
      ) : (
        <div id="findings" aria-live="polite">
          {findings ? null : <p>DNS did not answer in time. Check again in a moment.</p>}
          <FindingRows findings={findings ?? []} states={states} />
          <p>
            <LinkButton href={`${here}?look=now`} text="Check again" />
          </p>
        </div>
      )}
    </Part>
  );
}

const NoMailServer = () => (
  <Part id="mail" title="Mail">
    <p>
      <State kind="warning">No mail server is configured</State>
    </p>
    <p>
      Emails stay in the <a href="/mailbox">built-in mailbox</a>, which only opens on the machine
      that askback runs on.
    </p>
    <p>
      To send emails, the operator of this server sets <code>ASKBACK_SMTP_URL</code> to the URL of
      the mail server and restarts askback. This page then checks the mail server and DNS.
    </p>
  </Part>
);

type FindingRowsProps<Status extends string> = {
  findings: readonly (Omit<Finding, 'status'> & { status: Status })[];
  /** Findings are sorted in this order. */
  states: Readonly<Record<Status, { text: string; kind: StateKind }>>;
};

export function FindingRows<Status extends string>(props: FindingRowsProps<Status>) {
  const { findings, states } = props;
  const order = Object.keys(states);
  const sorted = findings.toSorted(
    (one, other) => order.indexOf(one.status) - order.indexOf(other.status),
  );
  return (
    <ul class="rows findings">
      {sorted.map(({ name, status, message, records = [] }, at) => (
        <li>
          <State kind={states[status].kind}>{states[status].text}</State>
          <div>
            <p>
              <b>{name}</b>
            </p>
            <p class="wrapped">
              <Message text={message} />
            </p>
            {records.map(({ action, name, type, value }, place) => (
              <div class="dns">
                <p class="sub">
                  {action === 'add' ? 'Add this record to DNS' : 'Change this record in DNS'}:
                </p>
                <Value
                  id={`record-${at}-${place}-name`}
                  label={`${type} record, name`}
                  value={name}
                />
                <Value id={`record-${at}-${place}-value`} label="Value" value={value} />
              </div>
            ))}
          </div>
        </li>
      ))}
    </ul>
  );
}

function Value({ id, label, value }: { id: string; label: string; value: string }) {
  return (
    <div class="field">
      <label for={id} class="small">
        {label}
      </label>
      <div class="secret">
        <input id={id} readonly value={value} />
        <CopyButton from={id} />
      </div>
    </div>
  );
}
