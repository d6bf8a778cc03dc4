import { CopyButton } from '../web/app/acts.tsx';
import { State, type StateKind } from '../web/app/marks.tsx';
import { Part } from '../web/app/settings-screen.tsx';
import type { DnsRecord, Finding } from './finding.ts';

const states = { ok: 'In order', warn: 'To improve', fail: 'To mend' } as const;

const recordsTexts = {
  add: 'Add this record to DNS',
  change: 'Change this record in DNS',
} as const;

const kinds: Readonly<Record<Finding['status'], StateKind>> = {
  ok: 'fine',
  warn: 'warning',
  fail: 'failed',
};

/** What is wrong comes first. */
const order = ['fail', 'warn', 'ok'];

type MailFindingsProps = {
  /** Null before they were looked for, undefined when DNS took too long. */
  findings: readonly Finding[] | null | undefined;
  here: string;
};

export function MailFindings({ findings, here }: MailFindingsProps) {
  return (
    <Part id="mail" title="Mail">
      <p class="small soft">
        Whether the mails of your surveys arrive, as far as the mail server, DNS and the public
        address decide it. It is looked up when this page is opened.
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
          <p>DNS is asked now.</p>
          <p>
            <a class="button" href={`${here}?look=now`}>
              Look now
            </a>
          </p>
        </div>
      ) : (
        <Found findings={findings} here={here} />
      )}
    </Part>
  );
}

/** Where mails are while no mail server is configured, and how an operator configures one. */
export const NoMailServer = () => (
  <Part id="mail" title="Mail">
    <p>
      <State kind="warning">No mail server is configured</State>
    </p>
    <p>
      Mails of your surveys and mails to members reach no address. They stay in the{' '}
      <a href="/mailbox">built-in mailbox</a>, which opens on the machine that askback runs on.
    </p>
    <p>
      To send them, an operator sets <code>ASKBACK_SMTP_URL</code> and starts askback again.{' '}
      <code>askback files DIR</code> writes configuration.md, which says what to set under “The mail
      server”, and mail.md, which says what makes mails arrive.
    </p>
  </Part>
);

function Found({ findings, here }: { findings: readonly Finding[] | undefined; here: string }) {
  const sorted = (findings ?? []).toSorted(
    (one, other) => order.indexOf(one.status) - order.indexOf(other.status),
  );
  return (
    <div id="findings" aria-live="polite">
      {findings ? null : <p>DNS gave no answer in time. Look again in a moment.</p>}
      <ul class="rows findings">
        {sorted.map((finding, at) => (
          <One finding={finding} at={at} />
        ))}
      </ul>
      <p>
        <a class="button" href={`${here}?look=now`}>
          Look again
        </a>
      </p>
    </div>
  );
}

function One({ finding, at }: { finding: Finding; at: number }) {
  const { name, status, message, records = [] } = finding;
  return (
    <li>
      <State kind={kinds[status]}>{states[status]}</State>
      <div>
        <p>
          <b>{name}</b>
        </p>
        <p class="wrapped">{message}</p>
        {records.map((record, place) => (
          <Entry record={record} id={`record-${at}-${place}`} />
        ))}
      </div>
    </li>
  );
}

function Entry({ record: { action, name, type, value }, id }: { record: DnsRecord; id: string }) {
  return (
    <div class="dns">
      <p class="small soft">{recordsTexts[action]}:</p>
      <Value id={`${id}-name`} label={`${type} record, name`} value={name} />
      <Value id={`${id}-value`} label="Value" value={value} />
    </div>
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
