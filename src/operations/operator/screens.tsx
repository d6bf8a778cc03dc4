import { type Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import { notFound, whenRefused } from '../../errors.ts';
import { Line, Whole } from '../../lib/cli/command.ts';
import type { Secrets } from '../../lib/crypto/secrets.ts';
import { type Db, inTransaction } from '../../lib/db/db.ts';
import { parsePage } from '../../lib/paging/page.ts';
import { type Checks, failedChecks } from '../../lib/process/lifecycle.ts';
import { idParam } from '../../lib/validation/parse.ts';
import { EmailField, invitationError, inviteMember } from '../../members/invite.ts';
import { makeOperator, removeOperator } from '../../members/roles.ts';
import { changeOrganization, createOrganization } from '../../organizations/manage.ts';
import {
  type MemberEnv,
  operatorWriter,
  requireOperator,
  requireRecentProof,
  signedIn,
} from '../../sessions/session.ts';
import { Confirm, Mistakes, Notice, Secret, State, Time } from '../../web/app/badges.tsx';
import { keepOnce, redirectWith, takeOnce } from '../../web/app/flash.ts';
import {
  emptyForm,
  Field,
  type FormState,
  optionalText,
  readForm,
  withMistake,
} from '../../web/app/forms.tsx';
import { count, counted, DataTable, EmptyState, Facts, PagedList } from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { Part } from '../../web/app/settings-screen.tsx';
import {
  countOrganizations,
  countOutcomes,
  type DeliveryOutcome,
  findOperated,
  listOperators,
  listProcesses,
  listWaitingTasks,
  type OperatedOrganization,
  type Operator,
  pageOfOrganizations,
  type ServingProcess,
  type WaitingTask,
} from './queries.ts';

export type OperatorTools = {
  db: Db;
  secrets: Secrets;
  publicUrl: string;
  mailbox: boolean;
  checks: Checks;
  warnings?: Checks;
};

const Limit = Whole(0, 999_999_999);
const NewForm = v.object({
  name: v.pipe(v.string(), v.trim(), v.nonEmpty('Enter a name.'), Line(200)),
  monthly_send_limit: Limit,
  email: optionalText(EmailField),
});
const LimitForm = v.object({ monthly_send_limit: Limit });
const EmailForm = v.object({ email: EmailField });

/** `/operator`: how the deployment does, and its organizations, without any of their answers. */
export const operatorScreens = (tools: OperatorTools) =>
  new Hono<MemberEnv>()
    .use(signedIn(tools), requireOperator)
    .get('/', (c) => showOverview(c, tools))

    .get('/organizations/new', (c) => showNewOrganization(c))
    .post('/organizations', async (c) => {
      requireRecentProof(c);
      const form = await readForm(c, NewForm);
      if (form.errors) return showNewOrganization(c, form);
      const { email, ...settings } = form.values;
      const { id } = await inTransaction(tools.db, (tx) =>
        createOrganization(tx, c.var.actor, settings),
      );
      if (email) await inviteOwner(c, tools, { orgId: id, email });
      return redirectWith(c, `/operator/organizations/${id}`, 'The organization was made.');
    })
    .get('/organizations/:id', async (c) =>
      showOrganization(c, tools, { organization: await getOne(c, tools) }),
    )
    .post('/organizations/:id', async (c) => {
      requireRecentProof(c);
      const organization = await getOne(c, tools);
      const form = await readForm(c, LimitForm);
      if (form.errors) return showOrganization(c, tools, { organization, form });
      await changeOrganization(tools.db, operatorWriter(c, organization.id), form.values);
      return redirectWith(
        c,
        `/operator/organizations/${organization.id}`,
        'The limit was saved. It holds from the next mail.',
      );
    })
    .post('/organizations/:id/invite', async (c) => {
      requireRecentProof(c);
      const organization = await getOne(c, tools);
      const form = await readForm(c, EmailForm);
      if (form.errors) return showOrganization(c, tools, { organization, form });
      const { email } = form.values;
      const mistake = await inviteOwner(c, tools, { orgId: organization.id, email });
      if (mistake) {
        const refused = await withMistake(c, { email: mistake });
        return showOrganization(c, tools, { organization, form: refused });
      }
      return redirectWith(c, `/operator/organizations/${organization.id}`, invitedBy(tools));
    })

    .get('/operators/new', (c) => showNewOperator(c, tools))
    .post('/operators', async (c) => {
      requireRecentProof(c);
      const form = await readForm(c, EmailForm);
      if (form.errors) return showNewOperator(c, tools, form);
      const inviting = { ...tools, mails: true };
      const invited = await makeOperator(inviting, c.var.actor, form.values.email);
      if (invited) keepOnce(c, tools.secrets, shownTo(c), { url: invited.url });
      return redirectWith(
        c,
        invited ? '/operator/operators/new' : '/operator',
        invited ? invitedBy(tools) : 'The member is an operator now.',
      );
    })
    .get('/operators/:id/remove', async (c) => {
      requireRecentProof(c);
      return showRemoveOperator(c, await getOperator(c, tools));
    })
    .post('/operators/:id/remove', async (c) => {
      requireRecentProof(c);
      const operator = await getOperator(c, tools);
      const done = await removeOperator(tools.db, c.var.actor, operator.id).then(
        () => true,
        whenRefused('last_operator'),
      );
      if (!done)
        return showRemoveOperator(
          c,
          operator,
          'This is the last operator. Make another member an operator first.',
        );
      return redirectWith(c, '/operator', 'The operator was removed.');
    });

async function showOverview(c: Context<MemberEnv>, { db, checks, warnings = {} }: OperatorTools) {
  const { page, limit } = parsePage(c.req.queries());
  const [failing, warned, waiting, outcomes, processes] = await Promise.all([
    failedChecks(checks),
    failedChecks(warnings),
    listWaitingTasks(db),
    countOutcomes(db),
    listProcesses(db),
  ]);
  const organizations = await pageOfOrganizations(db, { page, limit });
  const lists = { organizations, operators: await listOperators(db) };
  const body = (
    <Overview
      {...{ health: { failing, warned }, waiting, outcomes, processes, ...lists }}
      {...{ page, limit, total: await countOrganizations(db) }}
    />
  );
  return renderScreen(c, { title: 'Operator', section: 'operator', body });
}

const invitedBy = ({ mailbox }: OperatorTools) =>
  mailbox
    ? 'The invitation was made, and goes to no address, because no mail server is set. Hand its link over.'
    : 'The invitation is on its way.';

async function inviteOwner(
  c: Context<MemberEnv>,
  tools: OperatorTools,
  { orgId, email }: { orgId: string; email: string },
): Promise<string | undefined> {
  const made = await inviteMember({ ...tools, mails: true }, operatorWriter(c, orgId), {
    email,
    role: 'owner',
  }).catch(invitationError);
  if (typeof made === 'string') return made;
  keepOnce(c, tools.secrets, shownTo(c), { url: made.url });
  return undefined;
}

const shownTo = (c: Context<MemberEnv>) => ({
  orgId: 'deployment',
  memberId: c.var.member.id,
});

async function getOne(c: Context, { db }: OperatorTools) {
  const organization = await findOperated(db, idParam(c, 'organization'));
  if (!organization) throw notFound('organization');
  return organization;
}

async function getOperator(c: Context, { db }: OperatorTools) {
  const operators = await listOperators(db);
  const operator = operators.find(({ id }) => id === c.req.param('id'));
  if (!operator) throw notFound('operator');
  return operator;
}

type Page = { title: string; body: Child; form: FormState };

function show(c: Context<MemberEnv>, { title, body, form }: Page) {
  const trail = [{ text: 'Operator', href: '/operator' }];
  const status = Object.keys(form.errors).length > 0 ? 422 : 200;
  return renderScreen(c, { title, section: 'operator', body, trail, status });
}

function showNewOrganization(c: Context<MemberEnv>, form: FormState = emptyForm()) {
  requireRecentProof(c);
  const body = (
    <form method="post" action="/operator/organizations" class="fields measure">
      <Mistakes form={form} />
      <Field name="name" label="Name" form={form} required />
      <LimitField form={form} value={10_000} />
      <OwnerField
        form={form}
        help="Of its first owner, who gets an invitation. You can also invite later."
      />
      <button type="submit" class="primary">
        Create organization
      </button>
    </form>
  );
  return show(c, { title: 'New organization', body, form });
}

function showOrganization(
  c: Context<MemberEnv>,
  { secrets, mailbox }: MadeLinkTools,
  { organization, form = emptyForm() }: { organization: OperatedOrganization; form?: FormState },
) {
  requireRecentProof(c);
  const path = `/operator/organizations/${organization.id}`;
  const body = (
    <>
      <MadeLink {...{ c, secrets, mailbox }} done={path} />
      {organization.owners === 0 ? (
        <Notice kind="warning" text="This organization has no owner yet. Invite one." />
      ) : null}
      <Facts facts={factsOf(organization)} />
      <Part id="limits" title="Limits">
        <form method="post" action={path} class="fields measure">
          <Mistakes form={form} />
          <LimitField form={form} value={organization.monthly_send_limit} />
          <button type="submit" class="primary">
            Save
          </button>
        </form>
      </Part>
      <Part id="invite" title="Invite an owner">
        <form method="post" action={`${path}/invite`} class="fields measure">
          <OwnerField form={form} required />
          <button type="submit">Invite</button>
        </form>
      </Part>
    </>
  );
  return show(c, { title: organization.name, body, form });
}

const factsOf = (organization: OperatedOrganization): [string, Child][] => [
  ['Members', count(organization.members)],
  ['Surveys', count(organization.surveys)],
  [
    'Mails this month',
    `${count(organization.mails_this_month)} of ${count(organization.monthly_send_limit)}`,
  ],
  ['Made', <Time at={organization.created_at} show="day" />],
  ['Id', <code>{organization.id}</code>],
];

function showNewOperator(
  c: Context<MemberEnv>,
  { secrets, mailbox }: MadeLinkTools,
  form: FormState = emptyForm(),
) {
  requireRecentProof(c);
  const body = (
    <>
      <MadeLink {...{ c, secrets, mailbox }} done="/operator" />
      <form method="post" action="/operator/operators" class="fields measure">
        <Mistakes form={form} />
        <p class="soft">{operatorsAbout}</p>
        <OwnerField form={form} required />
        <button type="submit" class="primary">
          Make operator
        </button>
      </form>
    </>
  );
  return show(c, { title: 'Make operator', body, form });
}

function showRemoveOperator(c: Context<MemberEnv>, { id, name }: Operator, mistake?: string) {
  const form = mistake ? { typed: {}, errors: { '': mistake } } : emptyForm();
  const action = `/operator/operators/${id}/remove`;
  const body = (
    <Confirm action={action} button="Remove" cancel="/operator" form={form}>
      <p>{name} no longer sees this page. The account and its organizations stay.</p>
    </Confirm>
  );
  return show(c, { title: `Remove ${name} as an operator`, body, form });
}

type LimitFieldProps = { form: FormState; value: number };

function LimitField({ form, value }: LimitFieldProps) {
  return (
    <Field
      name="monthly_send_limit"
      label="Mails a month"
      form={form}
      value={value}
      type="number"
      min={0}
      max={999_999_999}
      help="The most mails that surveys of the organization may send in a calendar month."
      required
    />
  );
}

type OwnerFieldProps = { form: FormState; help?: string; required?: boolean };

function OwnerField({ form, help, required = false }: OwnerFieldProps) {
  return (
    <Field
      name="email"
      label="Email"
      form={form}
      type="email"
      autocomplete="off"
      {...{ help, required }}
    />
  );
}

const Made = v.object({ url: v.string() });

/** `mailbox`: mails reach no address, because no mail server is set. */
type MadeLinkTools = { secrets: Secrets; mailbox: boolean };
type MadeLinkProps = MadeLinkTools & { c: Context<MemberEnv>; done: string };

function MadeLink({ c, secrets, mailbox, done }: MadeLinkProps) {
  const owner = { orgId: 'deployment', memberId: c.var.member.id };
  const made = v.safeParse(Made, takeOnce(c, secrets, owner));
  if (!made.success) return null;
  return (
    <Secret
      title="The link of the invitation"
      label="Invitation link"
      value={made.output.url}
      done={done}
    >
      <p>
        {mailbox
          ? 'It is shown only this once. No mail server is set, so hand it over yourself. It works once, within 7 days.'
          : 'It was mailed as well, and is shown only this once. It works once, within 7 days.'}
      </p>
    </Secret>
  );
}

const outcomesTexts = {
  delivered: 'delivered',
  failed: 'failed after the last attempt',
  pending: 'waiting for an attempt',
  skipped: 'kept, because the webhook is switched off',
} as Readonly<Record<string, string>>;

const operatorsAbout =
  'Operators see this page. They see no answers and no addresses of organizations that they are not members of.';

type OverviewProps = {
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
function Overview(props: OverviewProps) {
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
