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

const outcomesTexts = {
  delivered: 'delivered',
  failed: 'failed after the last attempt',
  pending: 'waiting for an attempt',
  skipped: 'kept, because the webhook is switched off',
} as Readonly<Record<string, string>>;

export const operatorsAbout =
  'Operators see this page. They see no answers and no addresses of organizations that they are not members of.';

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
      cells: [name, <State kind="failed">failing</State>, why],
    })),
    ...Object.entries(warned).map(([name, why]) => ({
      cells: [name, <State kind="warning">warning</State>, why],
    })),
  ];
  const isReady = Object.keys(failing).length === 0;
  return (
    <Part id="health" title="Health">
      <p>
        <State kind={isReady ? 'fine' : 'failed'}>{isReady ? 'Ready' : 'Not ready'}</State>
      </p>
      <p class="soft">
        {isReady
          ? 'Everything that this process needs is in order.'
          : 'Load balancers send this process no requests until it is.'}
      </p>
      {rows.length > 0 ? (
        <DataTable
          caption="Health"
          columns={[{ head: 'Check' }, { head: 'State' }, { head: 'Finding' }]}
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
    { head: 'Task' },
    { head: 'Waiting', number: true },
    { head: 'Oldest waits', number: true },
  ];
  return (
    <Part id="queues" title="Queues">
      {rows.length > 0 ? (
        <DataTable caption="Queues" columns={columns} rows={rows} />
      ) : (
        <p class="soft">Nothing waits.</p>
      )}
    </Part>
  );
}

function Deliveries({ outcomes }: OverviewProps) {
  const rows = outcomes.map(({ status, deliveries }) => ({
    cells: [<span title={status}>{outcomesTexts[status] ?? status}</span>, count(deliveries)],
  }));
  const columns = [{ head: 'Outcome' }, { head: 'Deliveries', number: true }];
  return (
    <Part id="deliveries" title="Deliveries of the last hour">
      {rows.length > 0 ? (
        <DataTable caption="Deliveries of the last hour" columns={columns} rows={rows} />
      ) : (
        <p class="soft">No webhook had anything to deliver.</p>
      )}
    </Part>
  );
}

const organizationColumns = [
  { head: 'Name' },
  { head: 'Members', number: true },
  { head: 'Surveys', number: true },
  { head: 'Mails this month', number: true },
  { head: 'Made' },
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
      New organization
    </a>
  );
  return (
    <Part id="organizations" title="Organizations" act={act}>
      <PagedList
        meta={{ page, limit, total }}
        at={(other) => `/operator?page=${other}`}
        empty={<EmptyState title="No organization yet. Make the first one." />}
      >
        <DataTable caption="Organizations" columns={organizationColumns} rows={rows} />
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
        Remove
        <span class="hidden"> {name}</span>
      </a>,
    ],
  }));
  const columns = [
    { head: 'Name' },
    { head: 'Email' },
    { head: 'Second step' },
    { head: 'Remove', hidden: true },
  ];
  const act = (
    <a class="button" href="/operator/operators/new">
      Make operator
    </a>
  );
  return (
    <Part id="operators" title="Operators" act={act}>
      <p class="soft">{operatorsAbout}</p>
      <DataTable caption="Operators" columns={columns} rows={rows} />
      <p class="small soft">{counted(operators.length, 'operator')}</p>
    </Part>
  );
}

function Processes({ processes }: OverviewProps) {
  const rows = processes.map(({ program, started_at }) => ({
    cells: [program, <Time at={started_at} />],
  }));
  const columns = [{ head: 'Program' }, { head: 'Runs since' }];
  return (
    <Part id="processes" title="Processes">
      <DataTable caption="Processes" columns={columns} rows={rows} />
    </Part>
  );
}

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
