import { count, counted, DataTable, EmptyState } from '../../web/app/lists.tsx';
import { State, Time } from '../../web/app/marks.tsx';
import { PagedList } from '../../web/app/paged-list.tsx';
import { Part } from '../../web/app/settings-screen.tsx';
import type {
  DeliveryOutcome,
  OperatedOrganization,
  Operator,
  ServingProcess,
  WaitingTask,
} from './queries.ts';
import { operatorTexts as texts } from './texts.ts';

export type OverviewProps = {
  health: { failing: Record<string, string>; warned: Record<string, string> };
  waiting: readonly WaitingTask[];
  outcomes: readonly DeliveryOutcome[];
  processes: readonly ServingProcess[];
  organizations: readonly OperatedOrganization[];
  operators: readonly Operator[];
  page: number;
  limit: number;
  total: number;
};

/** What somebody who is woken at night looks for stands first. */
export function Overview(props: OverviewProps) {
  return (
    <>
      <Health {...props} />
      <Queues {...props} />
      <Deliveries {...props} />
      <Organizations {...props} />
      <Operators {...props} />
      <Processes {...props} />
    </>
  );
}

function Health({ health: { failing, warned } }: OverviewProps) {
  const rows = [
    ...Object.entries(failing).map(([name, why]) => ({
      cells: [name, <State kind="failed">{texts.failing}</State>, why],
    })),
    ...Object.entries(warned).map(([name, why]) => ({
      cells: [name, <State kind="warning">{texts.warning}</State>, why],
    })),
  ];
  const isReady = Object.keys(failing).length === 0;
  return (
    <Part id="health" title={texts.health}>
      <p>
        <State kind={isReady ? 'fine' : 'failed'}>{isReady ? texts.ready : texts.notReady}</State>
      </p>
      <p class="soft">{isReady ? texts.readyMeans : texts.notReadyMeans}</p>
      {rows.length > 0 ? (
        <DataTable
          caption={texts.health}
          columns={[{ head: texts.check }, { head: texts.state }, { head: texts.finding }]}
          rows={rows}
        />
      ) : null}
    </Part>
  );
}

function Queues({ waiting }: OverviewProps) {
  const rows = waiting.map((one) => ({
    cells: [<code>{one.task}</code>, count(one.waiting), duration(one.oldest_seconds)],
  }));
  const columns = [
    { head: texts.task },
    { head: texts.waiting, number: true },
    { head: texts.oldest, number: true },
  ];
  return (
    <Part id="queues" title={texts.queues}>
      {rows.length > 0 ? (
        <DataTable caption={texts.queues} columns={columns} rows={rows} />
      ) : (
        <p class="soft">{texts.queuesEmpty}</p>
      )}
    </Part>
  );
}

function Deliveries({ outcomes }: OverviewProps) {
  const rows = outcomes.map(({ status, deliveries }) => ({
    cells: [<span title={status}>{texts.outcomes[status] ?? status}</span>, count(deliveries)],
  }));
  const columns = [{ head: texts.outcome }, { head: texts.count, number: true }];
  return (
    <Part id="deliveries" title={texts.deliveries}>
      {rows.length > 0 ? (
        <DataTable caption={texts.deliveries} columns={columns} rows={rows} />
      ) : (
        <p class="soft">{texts.deliveriesEmpty}</p>
      )}
    </Part>
  );
}

const organizationColumns = [
  { head: texts.name },
  { head: texts.members, number: true },
  { head: texts.surveys, number: true },
  { head: texts.mails, number: true },
  { head: texts.made },
];

function Organizations({ organizations, page, limit, total }: OverviewProps) {
  const rows = organizations.map((one) => ({
    cells: [
      <a href={`/operator/organizations/${one.id}`}>
        <bdi>{one.name}</bdi>
      </a>,
      count(one.members),
      count(one.surveys),
      `${count(one.mails_this_month)} of ${count(one.monthly_send_limit)}`,
      <Time at={one.created_at} show="day" />,
    ],
  }));
  const act = (
    <a class="button primary" href="/operator/organizations/new">
      {texts.newOrganization}
    </a>
  );
  return (
    <Part id="organizations" title={texts.organizations} act={act}>
      <PagedList
        meta={{ page, limit, total }}
        at={(other) => `/operator?page=${other}`}
        empty={<EmptyState title={texts.organizationsEmpty} />}
      >
        <DataTable caption={texts.organizations} columns={organizationColumns} rows={rows} />
      </PagedList>
    </Part>
  );
}

function Operators({ operators }: OverviewProps) {
  const rows = operators.map(({ id, name, email, has_second_step }) => ({
    cells: [
      <bdi>{name}</bdi>,
      <bdi>{email}</bdi>,
      has_second_step ? <State kind="fine">on</State> : <span class="soft">off</span>,
      <a class="button" href={`/operator/operators/${id}/remove`}>
        {texts.remove}
        <span class="hidden"> {name}</span>
      </a>,
    ],
  }));
  const columns = [
    { head: texts.name },
    { head: texts.email },
    { head: texts.secondStep },
    { head: texts.remove, hidden: true },
  ];
  const act = (
    <a class="button" href="/operator/operators/new">
      {texts.makeOperator}
    </a>
  );
  return (
    <Part id="operators" title={texts.operators} act={act}>
      <p class="soft">{texts.operatorsAbout}</p>
      <DataTable caption={texts.operators} columns={columns} rows={rows} />
      <p class="small soft">{counted(operators.length, 'operator')}</p>
    </Part>
  );
}

function Processes({ processes }: OverviewProps) {
  const rows = processes.map(({ program, started_at }) => ({
    cells: [program, <Time at={started_at} />],
  }));
  const columns = [{ head: texts.program }, { head: texts.since }];
  return (
    <Part id="processes" title={texts.processes}>
      <DataTable caption={texts.processes} columns={columns} rows={rows} />
    </Part>
  );
}

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
