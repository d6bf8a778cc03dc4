import type { Context } from 'hono';
import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import type { Secrets } from '../../lib/crypto/secrets.ts';
import { type MemberEnv, requireRecentProof } from '../../sessions/session.ts';
import { Confirm, Secret } from '../../web/app/acts.tsx';
import { Field } from '../../web/app/fields.tsx';
import { count, Facts } from '../../web/app/lists.tsx';
import { Mistakes, Notice, Time } from '../../web/app/marks.tsx';
import { emptyForm, type FormState } from '../../web/app/read-form.ts';
import { renderScreen } from '../../web/app/screen.tsx';
import { Part } from '../../web/app/settings-screen.tsx';
import { takeOnce } from '../../web/app/shown-once.ts';
import { operatorsAbout } from './overview.tsx';
import type { OperatedOrganization, Operator } from './queries.ts';

type Page = { title: string; body: Child; form: FormState };

function show(c: Context<MemberEnv>, { title, body, form }: Page) {
  const trail = [{ text: 'Operator', href: '/operator' }];
  const status = Object.keys(form.errors).length > 0 ? 422 : 200;
  return renderScreen(c, { title, section: 'operator', body, trail, status });
}

export function showNewOrganization(c: Context<MemberEnv>, form: FormState = emptyForm()) {
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

export function showOrganization(
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

export function showNewOperator(
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

export function showRemoveOperator(
  c: Context<MemberEnv>,
  { id, name }: Operator,
  mistake?: string,
) {
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

/** The link of an invitation that was just made, shown this once. */
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
