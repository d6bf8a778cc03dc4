import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { notFound, whenRefused } from '../../errors.ts';
import { Line, Whole } from '../../lib/cli/options.ts';
import type { Secrets } from '../../lib/crypto/secrets.ts';
import type { Db } from '../../lib/db/db.ts';
import { inTransaction } from '../../lib/db/transaction.ts';
import { parsePage } from '../../lib/paging/page.ts';
import { type Checks, failedChecks } from '../../lib/process/checks.ts';
import { isUuid } from '../../lib/validation/parse.ts';
import { EmailField } from '../../members/forms.ts';
import { inviteMember } from '../../members/invite.ts';
import { makeOperator, removeOperator } from '../../members/operators.ts';
import { whyNotInvited } from '../../members/screens/why-not-invited.ts';
import { changeOrganization, createOrganization } from '../../organizations/manage.ts';
import {
  type MemberEnv,
  operatorWriter,
  requireOperator,
  requireRecentProof,
  signedIn,
} from '../../sessions/session.ts';
import { flash } from '../../web/app/flash.ts';
import { optionalText, readForm, withMistake } from '../../web/app/read-form.ts';
import { renderScreen } from '../../web/app/screen.tsx';
import { keepOnce } from '../../web/app/shown-once.ts';
import { Overview } from './overview.tsx';
import {
  showNewOperator,
  showNewOrganization,
  showOrganization,
  showRemoveOperator,
} from './pages.tsx';
import {
  countOrganizations,
  countOutcomes,
  findOperated,
  listOperators,
  listProcesses,
  listWaitingTasks,
  pageOfOrganizations,
} from './queries.ts';

export type OperatorTools = {
  db: Db;
  secrets: Secrets;
  publicUrl: string;
  /** Whether mails reach no address, because no mail server is set. */
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
      flash(c, { kind: 'fine', text: 'The organization was made.' });
      return c.redirect(`/operator/organizations/${id}`, 303);
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
      flash(c, { kind: 'fine', text: 'The limit was saved. It holds from the next mail.' });
      return c.redirect(`/operator/organizations/${organization.id}`, 303);
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
      flash(c, { kind: 'fine', text: invitedBy(tools) });
      return c.redirect(`/operator/organizations/${organization.id}`, 303);
    })

    .get('/operators/new', (c) => showNewOperator(c, tools))
    .post('/operators', async (c) => {
      requireRecentProof(c);
      const form = await readForm(c, EmailForm);
      if (form.errors) return showNewOperator(c, tools, form);
      const inviting = { ...tools, mails: true };
      const invited = await makeOperator(inviting, c.var.actor, form.values.email);
      if (invited) keepOnce(c, tools.secrets, shownTo(c), { url: invited.url });
      flash(c, {
        kind: 'fine',
        text: invited ? invitedBy(tools) : 'The member is an operator now.',
      });
      return c.redirect(invited ? '/operator/operators/new' : '/operator', 303);
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
      flash(c, { kind: 'fine', text: 'The operator was removed.' });
      return c.redirect('/operator', 303);
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

/** Returns why the address was not invited, if it was not. */
async function inviteOwner(
  c: Context<MemberEnv>,
  tools: OperatorTools,
  { orgId, email }: { orgId: string; email: string },
): Promise<string | undefined> {
  const made = await inviteMember({ ...tools, mails: true }, operatorWriter(c, orgId), {
    email,
    role: 'owner',
  }).catch(whyNotInvited);
  if (typeof made === 'string') return made;
  keepOnce(c, tools.secrets, shownTo(c), { url: made.url });
  return undefined;
}

const shownTo = (c: Context<MemberEnv>) => ({
  orgId: 'deployment',
  memberId: c.var.member.id,
});

async function getOne(c: Context, { db }: OperatorTools) {
  const id = c.req.param('id') ?? '';
  const organization = isUuid(id) ? await findOperated(db, id) : undefined;
  if (!organization) throw notFound('organization');
  return organization;
}

async function getOperator(c: Context, { db }: OperatorTools) {
  const operators = await listOperators(db);
  const operator = operators.find(({ id }) => id === c.req.param('id'));
  if (!operator) throw notFound('operator');
  return operator;
}
