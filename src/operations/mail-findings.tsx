import { CopyButton } from '../web/app/acts.tsx';
import { State, type StateKind } from '../web/app/marks.tsx';
import { Part } from '../web/app/settings-screen.tsx';
import type { DnsRecord, Finding } from './finding.ts';
import { mailTexts as texts } from './screen-texts.ts';

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
    <Part id="mail" title={texts.title}>
      <p class="small soft">{texts.about}</p>
      {findings === null ? (
        <div
          id="findings"
          aria-live="polite"
          hx-get={`${here}?look=now`}
          hx-trigger="load"
          hx-select="#findings"
          hx-swap="outerHTML"
        >
          <p>{texts.looking}</p>
          <p>
            <a class="button" href={`${here}?look=now`}>
              {texts.look}
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
  <Part id="mail" title={texts.title}>
    <p>
      <State kind="warning">{texts.noServer.state}</State>
    </p>
    <p>
      {texts.noServer.meaning} <a href="/mailbox">{texts.noServer.mailbox}</a>
      {texts.noServer.where}
    </p>
    <p>
      {texts.noServer.operator} <code>ASKBACK_SMTP_URL</code> {texts.noServer.restart}{' '}
      <code>askback files DIR</code> {texts.noServer.documentation}
    </p>
  </Part>
);

function Found({ findings, here }: { findings: readonly Finding[] | undefined; here: string }) {
  const sorted = (findings ?? []).toSorted(
    (one, other) => order.indexOf(one.status) - order.indexOf(other.status),
  );
  return (
    <div id="findings" aria-live="polite">
      {findings ? null : <p>{texts.tooLong}</p>}
      <ul class="rows findings">
        {sorted.map((finding, at) => (
          <One finding={finding} at={at} />
        ))}
      </ul>
      <p>
        <a class="button" href={`${here}?look=now`}>
          {texts.again}
        </a>
      </p>
    </div>
  );
}

function One({ finding, at }: { finding: Finding; at: number }) {
  const { name, status, message, records = [] } = finding;
  return (
    <li>
      <State kind={kinds[status]}>{texts.states[status]}</State>
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
      <p class="small soft">{texts.records[action]}:</p>
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
