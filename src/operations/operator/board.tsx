import type { Child } from 'hono/jsx';
import { capital } from '../../errors.ts';
import { Message, Part, State, type StateKind, Time, toneOf } from '../../web/app/badges.tsx';
import { LinkButton } from '../../web/app/forms.tsx';
import { Icon, type IconName } from '../../web/app/icon.tsx';
import { count, counted, DataTable, Facts, type TableColumn } from '../../web/app/lists.tsx';
import { FindingRows } from '../mail-screens.tsx';
import { listOrganizationNames, type Outcome } from './queries.ts';
import {
  countOf,
  type createSlowChecks,
  examineStatus,
  formatBytes,
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
  const orgIds = loads.map(({ orgId }) => orgId);
  const [status, names, result] = await Promise.all([
    examineStatus(tools),
    listOrganizationNames(db, orgIds),
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

/** The worst comes first, for operators who are woken by an alert. */
const states: Readonly<Record<StatusFinding['status'], { text: string; kind: StateKind }>> = {
  fail: { text: 'Failed', kind: 'failed' },
  warn: { text: 'Warning', kind: 'warning' },
  unknown: { text: 'Unknown', kind: 'skipped' },
  ok: { text: 'OK', kind: 'fine' },
};

function worstOf(findings: readonly StatusFinding[]) {
  const has = (status: string) => findings.some((each) => each.status === status);
  return (Object.keys(states) as StatusFinding['status'][]).find(has) ?? 'unknown';
}

export function Headline({ findings }: Pick<Board, 'findings'>) {
  const failed = findings.filter(({ status }) => status === 'fail');
  const warned = findings.filter(({ status }) => status === 'warn');
  const [first] = [...failed, ...warned];
  const kind = failed.length > 0 ? 'failed' : warned.length > 0 ? 'warning' : 'fine';
  const text = {
    failed: `Something is wrong: ${counted(failed.length, 'check')} failed`,
    warning: `Running, with ${counted(warned.length, 'warning')}`,
    fine: 'All checks passed',
  };
  return (
    <section class={`card grid banner ${toneOf[kind]}`} aria-labelledby="status">
      <span class={`badge ${toneOf[kind]}`}>
        <Icon name={kind === 'fine' ? 'circle-check' : 'triangle-alert'} />
      </span>
      <div>
        <h2 id="status">{text[kind]}</h2>
        <p class="sub">
          {first ? (
            <>
              <b>{capital(first.name)}</b>: <Message text={first.message} />
            </>
          ) : (
            'Nothing needs your attention.'
          )}
        </p>
      </div>
      {first ? <LinkButton href="#findings" text="Show checks" /> : null}
    </section>
  );
}

export function Cards({ board }: { board: Board }) {
  const { findings, mails, deliveries, waiting, failedJobs, database, disk, backupAgeSeconds } =
    board;
  const of = (...names: string[]) => findings.filter(({ name }) => names.includes(name));
  const waitingJobs = waiting.reduce((sum, row) => sum + row.waiting, 0);
  const oldest = Math.max(0, ...waiting.map((row) => row.oldest_seconds));
  const hasBackup = backupAgeSeconds !== null;
  return (
    <ul class="grid checks">
      <OutcomeCard
        icon="mail"
        title="Emails"
        findings={of('emails', 'mail server')}
        outcomes={mails}
        good="sent"
        poor={['failed', 'unknown']}
        rest={`${count(countOf(mails, 'claimed', 'sending'))} waiting`}
      />
      <OutcomeCard
        icon="webhook"
        title="Webhooks"
        findings={of('webhooks', 'secret key')}
        outcomes={deliveries}
        good="delivered"
        poor={['failed']}
        rest={`${count(countOf(deliveries, 'pending'))} waiting, ${count(countOf(deliveries, 'skipped'))} skipped`}
      />
      <Card
        icon="activity"
        title="Queue"
        findings={of('queue', 'job runner', 'jobs')}
        figure={formatSeconds(oldest)}
        unit="oldest job"
        sub={`${count(waitingJobs)} waiting, ${count(failedJobs)} failed permanently`}
      />
      <Card
        icon="layers"
        title="Database"
        findings={of('database', 'version', 'extensions', 'schema', 'clock', 'pooler', 'replica')}
        figure={`${database.ms.toFixed(1)} ms`}
        unit="response time"
        sub={`PostgreSQL ${database.version}, ${formatBytes(database.bytes)}, ${database.connections} of ${database.maxConnections} connections`}
      />
      <Card
        icon="database"
        title="Disk"
        findings={of('disk')}
        figure={formatBytes(disk ? disk.freeBytes : database.bytes)}
        unit={disk ? 'free' : 'used by the database'}
        sub={
          disk
            ? `of ${formatBytes(disk.totalBytes)}`
            : 'Free space on the database server is unknown'
        }
      />
      <Card
        icon="copy"
        title="Backup"
        findings={of('backup')}
        figure={hasBackup ? formatSeconds(backupAgeSeconds) : 'None'}
        unit={hasBackup ? 'ago' : 'recorded'}
        sub={
          hasBackup
            ? 'Newest backup by askback backup'
            : 'Other backups, such as pg_dump, are not visible here'
        }
      />
    </ul>
  );
}

type OutcomeCardProps = Pick<CardProps, 'icon' | 'title' | 'findings'> & {
  outcomes: readonly Outcome[];
  good: string;
  poor: readonly string[];
  rest: string;
};

/** Shows the failures first if something is wrong. */
function OutcomeCard({ outcomes, good, poor, rest, ...card }: OutcomeCardProps) {
  const [succeeded, failed] = [countOf(outcomes, good), countOf(outcomes, ...poor)];
  const isFailing = card.findings.some(({ status }) => status !== 'ok');
  return (
    <Card
      {...card}
      figure={count(isFailing ? failed : succeeded)}
      unit={`${isFailing ? 'failed' : good} in the last hour`}
      sub={`${isFailing ? `${count(succeeded)} ${good}` : `${count(failed)} failed`}, ${rest}`}
    >
      <Columns outcomes={outcomes} good={good} poor={poor} />
    </Card>
  );
}

type CardProps = {
  icon: IconName;
  title: string;
  findings: readonly StatusFinding[];
  figure: string;
  unit: string;
  sub: string;
  children?: Child;
};

function Card({ icon, title, findings, figure, unit, sub, children }: CardProps) {
  const { kind, text } = states[worstOf(findings)];
  return (
    <li class="card">
      <div class="spread">
        <span class="badge sm is-even">
          <Icon name={icon} />
        </span>
        <h3>{title}</h3>
        <State kind={kind}>{text}</State>
      </div>
      <p class="figure">
        {figure} <small>{unit}</small>
      </p>
      <p class="sub">{sub}</p>
      {children}
    </li>
  );
}

const columns = 12;

type ColumnsProps = Pick<OutcomeCardProps, 'outcomes' | 'good' | 'poor'>;

/** Steps of five minutes, oldest first. */
function Columns({ outcomes, good, poor }: ColumnsProps) {
  const stepsOf = (statuses: readonly string[]) =>
    Array.from({ length: columns }, (_, at) => {
      const age = columns - 1 - at;
      const counted = outcomes.filter(({ status }) => statuses.includes(status));
      return counted.reduce((sum, { byFiveMinutes }) => sum + (byFiveMinutes[age] ?? 0), 0);
    });
  const [goods, poors] = [stepsOf([good]), stepsOf(poor)];
  const highest = Math.max(1, ...goods.map((value, at) => value + poors[at]!));
  const bar = (at: number, value: number, below: number, tone?: string) => {
    const height = (value / highest) * 100;
    return value === 0 ? null : (
      <rect
        class={tone}
        x={`${((at * 100) / columns).toFixed(1)}%`}
        width="6.5%"
        y={`${(100 - (below / highest) * 100 - height).toFixed(1)}%`}
        height={`${Math.max(height, 3).toFixed(1)}%`}
        rx="1.5"
      />
    );
  };
  return (
    <svg class="columns" aria-hidden="true">
      {goods.map((_, at) => bar(at, 0.08 * highest, 0, 'unused'))}
      {goods.map((value, at) => bar(at, value, 0))}
      {poors.map((value, at) => bar(at, value, goods[at]!, 'is-poor'))}
    </svg>
  );
}

/** All checks. Those that need attention are expanded, the others collapsed. */
export function ChecksPart({ board }: { board: Board }) {
  const { slow, isLate } = board;
  const findings = board.findings.map((each) => ({ ...each, name: capital(each.name) }));
  const passed = findings.filter(({ status }) => status === 'ok');
  const others = findings.filter(({ status }) => status !== 'ok');
  return (
    <Part
      id="findings"
      title="Checks"
      act={
        <LinkButton
          href="/operator?check=now"
          text={slow ? 'Check mail and DNS again' : 'Check mail and DNS'}
        />
      }
    >
      {others.length > 0 ? <FindingRows findings={others} states={states} /> : null}
      <details class="reveal">
        <summary>{counted(passed.length, 'check')} passed</summary>
        <Facts facts={passed.map(({ name, message }) => [name, message])} />
      </details>
      <p class="sub">
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
    </Part>
  );
}

export function ErrorsPart({ board: { errors } }: { board: Board }) {
  return (
    <Part id="errors" title="Latest errors">
      <p class="sub">
        Requests to this process with a 5xx status. The log has the cause under the request ID.
      </p>
      {errors.length === 0 ? <p class="soft">None since this process started.</p> : null}
      <ul class="rows tight">
        {errors.map(({ method, route, status, at, requestId }) => (
          <li>
            <State kind="failed">{status}</State>
            <div>
              <p>
                <code>
                  {method} {route}
                </code>
              </p>
              <p class="meta">
                <Time at={at} show="second" /> · request <code>{requestId}</code>
              </p>
            </div>
          </li>
        ))}
      </ul>
    </Part>
  );
}

export const QueuesPart = ({ board: { waiting } }: { board: Board }) => (
  <TablePart
    id="queues"
    title="Queues"
    columns={['Task', { head: 'Waiting', number: true }, { head: 'Oldest', number: true }]}
    rows={waiting.map((row) => [
      <code>{row.task}</code>,
      count(row.waiting),
      formatSeconds(row.oldest_seconds),
    ])}
    empty="No jobs waiting."
  />
);

export const BusiestPart = ({ board: { busiest } }: { board: Board }) => (
  <TablePart
    id="busiest"
    title="Slowest organizations"
    about={<p class="sub">By total time of requests to this process in the last hour.</p>}
    columns={['Name', ...['Requests', 'Time', 'Slowest'].map((head) => ({ head, number: true }))]}
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
);

const formatMs = (ms: number) => (ms < 1000 ? `${Math.ceil(ms)} ms` : formatSeconds(ms / 1000));

type TablePartProps = {
  id: string;
  title: string;
  act?: Child;
  about?: Child;
  columns: readonly TableColumn[];
  rows: readonly (readonly Child[])[];
  empty?: string;
  children?: Child;
};

/** A section with a table. Without rows and `empty` it is not shown. */
export function TablePart(props: TablePartProps) {
  const { id, title, act, about, columns, rows, empty, children } = props;
  if (rows.length === 0 && !empty) return null;
  return (
    <Part id={id} title={title} act={act}>
      {about}
      {rows.length > 0 ? (
        <DataTable caption={title} columns={columns} rows={rows.map((cells) => ({ cells }))} />
      ) : (
        <p class="soft">{empty}</p>
      )}
      {children}
    </Part>
  );
}
