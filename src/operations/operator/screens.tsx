import { type Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import manifest from '../../../package.json' with { type: 'json' };
import { orNotFound, whenRefused } from '../../errors.ts';
import { Whole } from '../../lib/cli/command.ts';
import type { Secrets } from '../../lib/crypto/secrets.ts';
import { type Db, inTransaction } from '../../lib/db/db.ts';
import { parsePage } from '../../lib/paging/page.ts';
import { idParam, Line } from '../../lib/validation/parse.ts';
import { nearLimitPercent } from '../../limits.ts';
import { EmailField, invitationError, inviteMember } from '../../members/invite.ts';
import { makeOperator, removeOperator } from '../../members/roles.ts';
import { deleteOrganization } from '../../organizations/delete.ts';
import {
  changeOrganization,
  createOrganization,
  newOrganization,
} from '../../organizations/manage.ts';
import {
  type MemberEnv,
  operatorWriter,
  recentProof,
  requireOperator,
  signedIn,
} from '../../sessions/session.ts';
import { Confirm, FormErrors, Notice, OnOff, Part, Secret, Time } from '../../web/app/badges.tsx';
import { Bar } from '../../web/app/drawings.tsx';
import { redirectWith, setOneTimeSecret, takeOneTimeSecret } from '../../web/app/flash.ts';
import {
  emptyForm,
  Field,
  type FormState,
  LinkButton,
  optionalText,
  readForm,
  Submit,
  SubmitOrCancel,
  withFieldError,
} from '../../web/app/forms.tsx';
import { count, counted, DataTable, EmptyState, Facts, PagedList } from '../../web/app/lists.tsx';
import { renderScreen, type Screen } from '../../web/app/screen.tsx';
import {
  type Board,
  BusiestPart,
  Cards,
  ChecksPart,
  ErrorsPart,
  Headline,
  QueuesPart,
  readBoard,
  TablePart,
} from './board.tsx';
import {
  countOrganizations,
  findOperated,
  listDeletions,
  listOperators,
  listProcesses,
  type OperatedOrganization,
  pageOfOrganizations,
} from './queries.ts';
import { createSlowChecks, formatSeconds, type StatusTools } from './status.ts';

export type OperatorTools = StatusTools & {
  secrets: Secrets;
  /** No mail server is set, so mails only reach the built-in mailbox. */
  mailbox: boolean;
  settings: { ai?: object | null };
};

const Limit = Whole(0, 999_999_999);
const NewForm = v.object({
  name: v.pipe(v.string(), v.trim(), v.nonEmpty('Enter a name.'), Line(200)),
  monthly_send_limit: Limit,
  email: optionalText(EmailField),
});
const LimitForm = v.object({ monthly_send_limit: Limit });
const EmailForm = v.object({ email: EmailField });
const DeleteForm = v.object({ name: v.string() });

/** `/operator`: status and organizations of the deployment, without their responses. */
export function operatorScreens(tools: OperatorTools) {
  const { db } = tools;
  const inviting = { ...tools, mails: true };
  const slowChecks = createSlowChecks(tools);
  const invitedText = tools.mailbox
    ? 'Invitation created, but not sent, because no mail server is configured. Pass on its link yourself.'
    : 'Invitation sent.';

  async function getOrganization(c: Context) {
    const organization = await findOperated(db, idParam(c, 'organization'));
    return orNotFound(organization, 'organization');
  }

  async function getOperator(c: Context) {
    const operators = await listOperators(db);
    const operator = operators.find(({ id }) => id === c.req.param('id'));
    return orNotFound(operator, 'operator');
  }

  /** Shows the invitation link on the next page, or returns why the invitation was refused. */
  async function inviteOwner(c: Context<MemberEnv>, orgId: string, email: string) {
    const owner = { email, role: 'owner' } as const;
    const invitation = await inviteMember(inviting, operatorWriter(c, orgId), owner).catch(
      invitationError,
    );
    if (typeof invitation === 'string') return invitation;
    setOneTimeSecret(c, tools.secrets, readerOf(c), { url: invitation.url });
  }

  return new Hono<MemberEnv>()
    .use(signedIn(tools), requireOperator)
    .use('/organizations/*', recentProof)
    .use('/operators/*', recentProof)
    .get('/', async (c) => {
      const runs = c.req.query('check') === 'now';
      return showOverview(c, db, await readBoard(tools, slowChecks, { runs }));
    })

    .get('/organizations/new', (c) => showNewOrganization(c))
    .post('/organizations', async (c) => {
      const form = await readForm(c, NewForm);
      if (form.errors) return showNewOrganization(c, form);
      const { email, ...settings } = form.values;
      const { id } = await inTransaction(db, (tx) =>
        createOrganization(tx, c.var.actor, { ...newOrganization(tools.settings), ...settings }),
      );
      if (email) await inviteOwner(c, id, email);
      return redirectWith(c, pathOf({ id }), 'Organization created.');
    })
    .get('/organizations/:id', async (c) => showOrganization(c, tools, await getOrganization(c)))
    .post('/organizations/:id', async (c) => {
      const organization = await getOrganization(c);
      const form = await readForm(c, LimitForm);
      if (form.errors) return showOrganization(c, tools, organization, form);
      await changeOrganization(db, operatorWriter(c, organization.id), form.values);
      return redirectWith(c, pathOf(organization), 'Limit saved. Applies from the next email.');
    })
    .post('/organizations/:id/invite', async (c) => {
      const organization = await getOrganization(c);
      const form = await readForm(c, EmailForm);
      if (form.errors) return showOrganization(c, tools, organization, form);
      const mistake = await inviteOwner(c, organization.id, form.values.email);
      if (!mistake) return redirectWith(c, pathOf(organization), invitedText);
      const refused = await withFieldError(c, { email: mistake });
      return showOrganization(c, tools, organization, refused);
    })

    .get('/organizations/:id/delete', async (c) => showDelete(c, await getOrganization(c)))
    .post('/organizations/:id/delete', async (c) => {
      const organization = await getOrganization(c);
      const form = await readForm(c, DeleteForm);
      if (form.errors) return showDelete(c, organization, form);
      const { id, name } = organization;
      const deletion = deleteOrganization(db, c.var.actor, { id, confirm: form.values.name });
      const isDeleted = await deletion.then(() => true, whenRefused('name_differs'));
      if (isDeleted) return redirectWith(c, '/operator#deleted', `${name} was deleted.`);
      const refused = await withFieldError(c, { name: 'This doesn’t match the name.' });
      return showDelete(c, organization, refused);
    })

    .get('/operators/new', (c) => showNewOperator(c, tools))
    .post('/operators', async (c) => {
      const form = await readForm(c, EmailForm);
      if (form.errors) return showNewOperator(c, tools, form);
      const invitation = await makeOperator(inviting, c.var.actor, form.values.email);
      if (!invitation) return redirectWith(c, '/operator', 'Operator added.');
      setOneTimeSecret(c, tools.secrets, readerOf(c), { url: invitation.url });
      return redirectWith(c, '/operator/operators/new', invitedText);
    })
    .get('/operators/:id/remove', async (c) => showRemoveOperator(c, await getOperator(c)))
    .post('/operators/:id/remove', async (c) => {
      const operator = await getOperator(c);
      const removal = removeOperator(db, c.var.actor, operator.id);
      const isRemoved = await removal.then(() => true, whenRefused('last_operator'));
      if (isRemoved) return redirectWith(c, '/operator', 'Operator removed.');
      const mistake = 'This is the last operator. Make another member an operator first.';
      return showRemoveOperator(c, operator, await withFieldError(c, { '': mistake }));
    });
}

const readerOf = (c: Context<MemberEnv>) => ({ orgId: 'deployment', memberId: c.var.member.id });

const pathOf = ({ id }: { id: string }) => `/operator/organizations/${id}`;

type Page = Pick<Screen, 'title' | 'body' | 'actions'> & { form: FormState };

function show(c: Context<MemberEnv>, { form, ...page }: Page) {
  const trail = [{ text: 'Operator', href: '/operator' }];
  return renderScreen(c, { ...page, section: 'operator', trail, form });
}

function showNewOrganization(c: Context<MemberEnv>, form = emptyForm()) {
  const body = (
    <form method="post" action="/operator/organizations" class="card stack measure">
      <FormErrors form={form} />
      <Field name="name" label="Name" form={form} required />
      <LimitField form={form} value={10_000} />
      <OwnerField form={form} help="Invites the first owner. You can also do this later." />
      <SubmitOrCancel button="Create organization" cancel="/operator" />
    </form>
  );
  return show(c, { title: 'New organization', body, form });
}

function showOrganization(
  c: Context<MemberEnv>,
  tools: OperatorTools,
  organization: OperatedOrganization,
  form = emptyForm(),
) {
  const path = pathOf(organization);
  const facts: [string, Child][] = [
    ['Members', count(organization.members)],
    ['Surveys', count(organization.surveys)],
    ['Emails this month', mailsOf(organization)],
    ['Created', <Time at={organization.created_at} show="day" />],
    ['ID', <code>{organization.id}</code>],
  ];
  const body = (
    <>
      <InvitationLink c={c} tools={tools} done={path} />
      {organization.owners === 0 ? (
        <Notice kind="warning" text="This organization has no owner yet. Invite one." />
      ) : null}
      <div class="grid half level">
        <Part id="about" title="Organization">
          <Facts facts={facts} />
        </Part>
        <Part id="limits" title="Limits">
          <form method="post" action={path} class="card stack measure">
            <FormErrors form={form} />
            <LimitField form={form} value={organization.monthly_send_limit} />
            <Submit>Save</Submit>
          </form>
        </Part>
      </div>
      <Part id="invite" title="Invite an owner">
        <form method="post" action={`${path}/invite`} class="card stack narrow">
          <OwnerField form={form} required />
          <button type="submit">Invite</button>
        </form>
      </Part>
    </>
  );
  const actions = <LinkButton href={`${path}/delete`} text="Delete organization" kind="danger" />;
  return show(c, { title: organization.name, body, form, actions });
}

function showDelete(c: Context<MemberEnv>, { id, name }: OperatedOrganization, form = emptyForm()) {
  const path = pathOf({ id });
  const body = (
    <Confirm
      action={`${path}/delete`}
      button="Delete organization"
      cancel={path}
      typed={{ name: 'name', label: 'Name of the organization', expected: name }}
      form={form}
    >
      <p>
        Its surveys, contacts, responses, webhooks, API keys and audit log are deleted. Members keep
        their accounts. A receipt with the counts stays on the operator page. You can’t undo this.
      </p>
    </Confirm>
  );
  return show(c, { title: `Delete ${name}`, body, form });
}

function MailsMeter({ of }: { of: OperatedOrganization }) {
  const { mails_this_month: mails, monthly_send_limit: limit } = of;
  const tone = 100 * mails > nearLimitPercent * limit ? 'is-warn' : '';
  return (
    <>
      <span class="sub">{mailsOf(of)}</span>{' '}
      <Bar part={Math.min(mails, limit)} whole={limit} tone={tone} />
    </>
  );
}

const mailsOf = ({ mails_this_month, monthly_send_limit }: OperatedOrganization) =>
  `${count(mails_this_month)} of ${count(monthly_send_limit)}`;

function showNewOperator(c: Context<MemberEnv>, tools: OperatorTools, form = emptyForm()) {
  const body = (
    <>
      <InvitationLink c={c} tools={tools} done="/operator" />
      <form method="post" action="/operator/operators" class="card stack measure">
        <FormErrors form={form} />
        <p class="soft">{operatorsText}</p>
        <OwnerField form={form} required />
        <SubmitOrCancel button="Add operator" cancel="/operator" />
      </form>
    </>
  );
  return show(c, { title: 'Add operator', body, form });
}

function showRemoveOperator(
  c: Context<MemberEnv>,
  { id, name }: { id: string; name: string },
  form = emptyForm(),
) {
  const action = `/operator/operators/${id}/remove`;
  const body = (
    <Confirm action={action} button="Remove" cancel="/operator" form={form}>
      <p>{name} loses access to this page. The account and its organizations stay.</p>
    </Confirm>
  );
  return show(c, { title: `Remove ${name} as an operator`, body, form });
}

const LimitField = ({ form, value }: { form: FormState; value: number }) => (
  <Field
    name="monthly_send_limit"
    label="Emails per month"
    form={form}
    value={value}
    type="number"
    min={0}
    max={999_999_999}
    help="The limit for survey emails in a calendar month."
    required
  />
);

const OwnerField = (props: { form: FormState; help?: string; required?: boolean }) => (
  <Field name="email" label="Email" type="email" autocomplete="off" {...props} />
);

const InvitationUrl = v.object({ url: v.string() });

type InvitationLinkProps = { c: Context<MemberEnv>; tools: OperatorTools; done: string };

function InvitationLink({ c, tools: { secrets, mailbox }, done }: InvitationLinkProps) {
  const link = v.safeParse(InvitationUrl, takeOneTimeSecret(c, secrets, readerOf(c)));
  if (!link.success) return null;
  return (
    <Secret title="Invitation link" label="Invitation link" value={link.output.url} done={done}>
      <p>
        {mailbox
          ? 'No mail server is configured, so pass this link on yourself.'
          : 'The link was also sent by email.'}{' '}
        You won’t see it again. It works once, within 7 days.
      </p>
    </Secret>
  );
}

const operatorsText =
  'Operators manage this server. They can’t see responses or addresses of organizations that they don’t belong to.';

async function showOverview(c: Context<MemberEnv>, db: Db, board: Board) {
  const { page, limit } = parsePage(c.req.queries());
  const [processes, organizations, operators, total, deleted] = await Promise.all([
    listProcesses(db),
    pageOfOrganizations(db, { page, limit }),
    listOperators(db),
    countOrganizations(db),
    listDeletions(db),
  ]);
  const body = (
    <>
      <Headline findings={board.findings} />
      <Cards board={board} />
      <ChecksPart board={board} />
      <div class="grid half level">
        <QueuesPart board={board} />
        <div class="stack">
          <BusiestPart board={board} />
          <ErrorsPart board={board} />
        </div>
      </div>
      <Part id="organizations" title="Organizations">
        <PagedList
          meta={{ page, limit, total }}
          at={(other) => `/operator?page=${other}`}
          empty={<EmptyState title="No organizations yet" />}
        >
          <DataTable
            caption="Organizations"
            columns={[
              'Name',
              { head: 'Members', number: true },
              { head: 'Surveys', number: true },
              { head: 'Created', phone: 'absent' },
              { head: 'Emails this month', number: true, phone: 'line', before: 'Emails ' },
            ]}
            rows={organizations.map((one) => ({
              cells: [
                <a href={pathOf(one)}>
                  <bdi>{one.name}</bdi>
                </a>,
                count(one.members),
                count(one.surveys),
                <Time at={one.created_at} show="day" />,
                <MailsMeter of={one} />,
              ],
            }))}
          />
        </PagedList>
      </Part>
      <TablePart
        id="deleted"
        title="Deleted organizations"
        columns={[
          'Name',
          { head: 'Surveys', number: true },
          { head: 'Responses', number: true },
          { head: 'Deleted by', before: 'By ' },
          { head: 'Deleted', before: 'Deleted ' },
        ]}
        rows={deleted.map((one) => [
          <bdi>{one.name}</bdi>,
          count(one.surveys),
          count(one.responses),
          <bdi>{one.actor}</bdi>,
          <Time at={one.at} />,
        ])}
      />
      <TablePart
        id="operators"
        title="Operators"
        act={<LinkButton href="/operator/operators/new" text="Add operator" />}
        about={<p class="soft">{operatorsText}</p>}
        columns={[
          'Name',
          'Email',
          { head: 'Two-step', before: 'Two-step ' },
          { head: 'Actions', hidden: true, number: true },
        ]}
        rows={operators.map(({ id, name, email, has_second_step }) => [
          <bdi>{name}</bdi>,
          <bdi>{email}</bdi>,
          <OnOff on={has_second_step} />,
          <LinkButton href={`/operator/operators/${id}/remove`} text="Remove" about={name} mini />,
        ])}
      >
        <p class="sub">{counted(operators.length, 'operator')}</p>
      </TablePart>
      <TablePart
        id="processes"
        title="Processes"
        columns={['Program', { head: 'Up since', before: 'Up since ' }]}
        rows={processes.map(({ program, started_at }) => [program, <Time at={started_at} />])}
      />
    </>
  );
  return renderScreen(c, {
    title: 'Operator',
    about: [
      `askback ${manifest.version}`,
      processes.length > 0 && counted(processes.length, 'process', 'processes'),
      `up ${formatSeconds(process.uptime())}`,
    ]
      .filter(Boolean)
      .join(' · '),
    section: 'operator',
    actions: (
      <LinkButton href="/operator/organizations/new" text="New organization" kind="primary" />
    ),
    body,
  });
}
