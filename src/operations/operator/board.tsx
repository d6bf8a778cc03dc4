import type { Child } from 'hono/jsx';
import manifest from '../../../package.json' with { type: 'json' };
import { State, type StateKind, Time } from '../../web/app/badges.tsx';
import { LinkButton } from '../../web/app/forms.tsx';
import { count, counted, DataTable, Facts, type TableColumn } from '../../web/app/lists.tsx';
import { Part } from '../../web/app/settings-screen.tsx';
import { FindingRows } from '../mail-screens.tsx';
import { listOrganizationNames } from './queries.ts';
import {
  type createSlowChecks,
  examineStatus,
  formatSeconds,
  type StatusFinding,
  type StatusTools,
} from './status.ts';

const maxBusiest = 5;

export type Board = Awaited<ReturnType<typeof readBoard>>;

export async function readBoard(
  tools: StatusTools,
  slow: ReturnType<typeof createSlowChecks>,
  { runs }: { runs: boolean },
) {
  const { db, requests } = tools;
  const loads = requests?.busiest(maxBusiest) ?? [];
  const [status, names, result] = await Promise.all([
    examineStatus(tools),
    listOrganizationNames(
      db,
      loads.map(({ orgId }) => orgId),
    ),
    runs ? slow.run() : slow.latest(),
  ]);
  const nameOf = new Map(names.map(({ id, name }) => [id, name]));
  return {
    ...status,
    findings: [...status.findings, ...(result?.findings ?? [])],
    slow: result,
    isLate: runs && !result,
    busiest: loads.map((load) => ({ ...load, name: nameOf.get(load.orgId) ?? load.orgId })),
    errors: requests?.errors() ?? [],
  };
}

/** Findings are sorted in this order. */
const states: Readonly<Record<StatusFinding['status'], { text: string; kind: StateKind }>> = {
  fail: { text: 'Failed', kind: 'failed' },
  warn: { text: 'Warning', kind: 'warning' },
  unknown: { text: 'Not known', kind: 'skipped' },
  ok: { text: 'OK', kind: 'fine' },
};

/** Problems come first, for operators who are woken by an alert. */
export function StatusParts({ board }: { board: Board }) {
  const { findings, waiting, busiest, errors, slow, isLate } = board;
  const passed = findings.filter(({ status }) => status === 'ok');
  const others = findings.filter(({ status }) => status !== 'ok');
  const run = (
    <LinkButton
      href="/operator?check=now"
      text={slow ? 'Check mail and DNS again' : 'Check mail and DNS'}
    />
  );
  return (
    <>
      <Part id="status" title="Status" act={run}>
        <Headline findings={findings} />
        <p class="sub">
          askback {manifest.version}.{' '}
          {slow ? (
            <>
              Mail server and DNS were checked at <Time at={slow.at} show="second" />.
            </>
          ) : isLate ? (
            'The checks of mail server and DNS timed out. Run them again.'
          ) : (
            'Mail server and DNS have not been checked since this process started.'
          )}
        </p>
        {others.length > 0 ? <FindingRows findings={others} states={states} /> : null}
        <h3>{counted(passed.length, 'check')} passed</h3>
        <Facts facts={passed.map(({ name, message }) => [name, message])} />
      </Part>
      <Part id="outcomes" title="Emails and deliveries of the last hour">
        <Table
          caption="Emails and deliveries of the last hour"
          columns={['Outcome', { head: 'Number', number: true }]}
          rows={[
            ...board.mails.map(({ status, mails }) => [
              <span title={status}>{mailTexts[status] ?? status}</span>,
              count(mails),
            ]),
            ...board.deliveries.map(({ status, deliveries }) => [
              <span title={status}>{deliveryTexts[status] ?? status}</span>,
              count(deliveries),
            ]),
          ]}
          empty="No survey emails and no deliveries."
        />
      </Part>
      <Part id="queues" title="Queues">
        <Table
          caption="Queues"
          columns={['Task', { head: 'Waiting', number: true }, { head: 'Oldest', number: true }]}
          rows={waiting.map((row) => [
            <code>{row.task}</code>,
            count(row.waiting),
            formatSeconds(row.oldest_seconds),
          ])}
          empty="No jobs waiting."
        />
      </Part>
      <Part id="errors" title="Latest errors">
        <p class="sub">
          The latest 20 requests that failed in this process with a 5xx status. The log has the
          cause under the request ID.
        </p>
        <Table
          caption="Latest errors"
          columns={['Request', 'Status', 'Time', 'Request ID']}
          rows={errors.map(({ method, route, status, at, requestId }) => [
            <code>
              {method} {route}
            </code>,
            status,
            <Time at={at} show="second" />,
            <code>{requestId}</code>,
          ])}
          empty="None since this process started."
        />
      </Part>
      <Part id="busiest" title="Busiest organizations">
        <p class="sub">By total time of requests to this process in the last hour.</p>
        <Table
          caption="Busiest organizations"
          columns={[
            'Name',
            { head: 'Requests', number: true },
            { head: 'Time', number: true },
            { head: 'Slowest', number: true },
          ]}
          rows={busiest.map(({ orgId, name, requests, ms, slowestMs }) => [
            <a href={`/operator/organizations/${orgId}`}>
              <bdi>{name}</bdi>
            </a>,
            count(requests),
            formatMs(ms),
            formatMs(slowestMs),
          ])}
          empty="No requests in the last hour."
        />
      </Part>
    </>
  );
}

function Headline({ findings }: { findings: readonly StatusFinding[] }) {
  const failed = findings.filter(({ status }) => status === 'fail').length;
  const warned = findings.filter(({ status }) => status === 'warn').length;
  if (failed > 0) {
    return (
      <p>
        <State kind="failed">Something is wrong: {counted(failed, 'check')} failed</State>
      </p>
    );
  }
  return (
    <p>
      {warned > 0 ? (
        <State kind="warning">Running, with {counted(warned, 'warning')}</State>
      ) : (
        <State kind="fine">All checks passed</State>
      )}
    </p>
  );
}

const mailTexts: Readonly<Record<string, string>> = {
  claimed: 'emails waiting',
  sending: 'emails being sent',
  sent: 'emails sent',
  failed: 'emails failed',
  unknown: 'emails with an unknown outcome',
};

const deliveryTexts: Readonly<Record<string, string>> = {
  delivered: 'deliveries accepted',
  failed: 'deliveries failed after the last attempt',
  pending: 'deliveries waiting for an attempt',
  skipped: 'deliveries not sent, because the webhook is off',
};

const formatMs = (ms: number) => (ms < 1000 ? `${Math.ceil(ms)} ms` : formatSeconds(ms / 1000));

type TableProps = {
  caption: string;
  columns: readonly TableColumn[];
  rows: readonly (readonly Child[])[];
  /** Shown without rows. */
  empty?: string;
};

export function Table({ caption, columns, rows, empty }: TableProps) {
  if (rows.length === 0) return empty ? <p class="soft">{empty}</p> : null;
  return <DataTable caption={caption} columns={columns} rows={rows.map((cells) => ({ cells }))} />;
}
