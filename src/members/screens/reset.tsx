import { type Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import { Refusal } from '../../errors.ts';
import type { RequestEnv } from '../../lib/http/http.ts';
import { isTimeZoneName } from '../../lib/validation/parse.ts';
import { FormErrors } from '../../web/app/badges.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import {
  Checkbox,
  checkboxField,
  emptyForm,
  Field,
  type FormState,
  LinkButton,
  readForm,
  Submit,
  withFieldError,
} from '../../web/app/forms.tsx';
import { counted } from '../../web/app/lists.tsx';
import { renderStandalone } from '../../web/app/screen.tsx';
import { readProofs } from '../account.ts';
import { EmailField, NameField, NewPasswordField } from '../invite.ts';
import { minPassword, validatePassword } from '../password.ts';
import type { MemberName } from '../queries.ts';
import { findMemberOfReset, requestReset, resetPassword } from '../reset.ts';
import type { MemberTools } from '../sign-in.ts';
import { createFirstMember, isWelcomeLinkLive } from '../welcome.ts';

const AddressForm = v.object({ email: EmailField });
const ResetForm = v.object({ password: NewPasswordField, remove_passkeys: checkboxField });

/** `/forgot` and `/reset/:token`. */
export const resetScreens = (tools: MemberTools) =>
  new Hono<RequestEnv>()
    .use('/forgot', requirePasswords(tools))
    .get('/forgot', (c) => showRequest(c))
    .post('/forgot', async (c) => {
      const form = await readForm(c, AddressForm);
      if (form.errors) return showRequest(c, form);
      await requestReset(tools.db, c, form.values.email);
      return c.redirect('/forgot/sent', 303);
    })
    .get('/forgot/sent', (c) => showSent(c, tools))
    .use('/reset/*', requirePasswords(tools))
    .get('/reset/:token', async (c) =>
      showReset(c, tools, await getMember(tools, c.req.param('token'))),
    )
    .post('/reset/:token', async (c) => {
      const token = c.req.param('token');
      const member = await getMember(tools, token);
      const form = await readForm(c, ResetForm);
      if (form.errors) return await showReset(c, tools, member, form);
      const { password, remove_passkeys: removesPasskeys = false } = form.values;
      const refused = validatePassword(password, member);
      if (refused)
        return await showReset(c, tools, member, await withFieldError(c, { password: refused }));
      const result = await resetPassword(tools, c, { token, password, removesPasskeys });
      if (!result) throw resetLinkGone();
      const path = result === 'awaits_code' ? '/sign-in/code' : '/';
      return redirectWith(c, path, 'Your password was changed.');
    });

export const requirePasswords =
  ({ settings }: MemberTools) =>
  async (_: Context, next: () => Promise<void>) => {
    if (!settings.signIn.byPassword)
      throw new Refusal('forbidden', 'Password sign-in is off on this server.');
    await next();
  };

async function getMember({ db }: MemberTools, token: string) {
  const member = await findMemberOfReset(db, token);
  if (!member) throw resetLinkGone();
  return member;
}

const resetLinkGone = () =>
  new Refusal(
    'gone',
    'This link to set a password no longer works: it was used, a newer password was set, or an hour has passed. Request a new link.',
  );

function showRequest(c: Context, form = emptyForm()) {
  return showForm(c, {
    title: 'Forgot password?',
    about:
      'Enter the email that you sign in with. If it has an account, you will get a link to set a new password within a minute.',
    form,
    fields: <Email form={form} />,
    button: 'Send link',
    more: { href: '/sign-in', text: 'Back to sign-in' },
  });
}

function showSent(c: Context, { mailbox }: MemberTools) {
  const body = (
    <>
      <p>
        {mailbox
          ? 'No mail server is configured. If this email has an account, the link is in this server’s built-in mailbox, which its operator can read.'
          : 'If this email has an account, a link to set a new password is on its way. It works once, within an hour.'}
      </p>
      <p class="soft">
        {mailbox ? null : 'Didn’t get it? Check your spam folder. '}The operator of this server can
        also create a link with <code>askback member reset</code>.
      </p>
      <p>
        <LinkButton href="/sign-in" text="Back to sign-in" kind="quiet" />
      </p>
    </>
  );
  return renderStandalone(c, { title: mailbox ? 'Forgot password?' : 'Check your inbox', body });
}

async function showReset(
  c: Context,
  { db }: MemberTools,
  { id, email }: MemberName,
  form = emptyForm(),
) {
  const { passkeys } = await readProofs(db, id);
  return showForm(c, {
    title: 'Set a new password',
    about: 'A new password signs you out everywhere else.',
    form,
    fields: (
      <>
        <Field name="username" label="Email" value={email} autocomplete="username" readonly />
        <NewPassword name="password" label="New password" form={form} />
        {passkeys > 0 ? (
          <Checkbox
            name="remove_passkeys"
            label={`Also remove my ${counted(passkeys, 'passkey')}`}
            form={form}
            help="Only keep your passkeys if you recognize them all."
            checked
          />
        ) : null}
      </>
    ),
    button: 'Save',
  });
}

/** `/welcome/:token`: the first member. */
export const welcomeScreens = (tools: MemberTools) =>
  new Hono<RequestEnv>()
    .use('/welcome/:token', async (c, next) => {
      if (!(await isWelcomeLinkLive(tools.db, c.req.param('token')))) throw welcomeLinkGone();
      await next();
    })
    .get('/welcome/:token', (c) => showWelcome(c, tools))
    .post('/welcome/:token', async (c) => {
      const token = c.req.param('token');
      const WelcomeForm = v.object({
        name: NameField,
        email: EmailField,
        password: tools.settings.signIn.byPassword ? NewPasswordField : v.fallback(v.null(), null),
        organization: NameField,
        time_zone: ZoneField,
      });
      const form = await readForm(c, WelcomeForm);
      if (form.errors) return showWelcome(c, tools, form);
      const { password } = form.values;
      const refused = password === null ? undefined : validatePassword(password, form.values);
      if (refused) return showWelcome(c, tools, await withFieldError(c, { password: refused }));
      const { time_zone: timeZone, ...member } = form.values;
      const slug = await createFirstMember(tools, c, { ...member, timeZone, token });
      if (!slug) throw welcomeLinkGone();
      return c.redirect(`/o/${slug}`, 303);
    });

const welcomeLinkGone = () =>
  new Refusal(
    'gone',
    'This welcome link no longer works: it was used, a newer one was created, or 24 hours have passed. While there is no account, restarting the server prints a new link. `askback member invite --operator` creates one at any time.',
    { code: 'first_link_over' },
  );

function showWelcome(c: Context, { settings }: MemberTools, form = emptyForm()) {
  const { byPassword, oidc } = settings.signIn;
  const emailHelp =
    byPassword || !oidc
      ? undefined
      : `The email of your account at ${oidc.name}, where you sign in from now on. Password sign-in is off on this server.`;
  return showForm(c, {
    title: 'Welcome to askback',
    about:
      'Let’s set up your account. You’ll be the owner of the organization and the operator of this server.',
    form,
    fields: (
      <>
        <Field name="name" label="Name" form={form} autocomplete="name" required />
        <Email form={form} help={emailHelp} />
        {byPassword ? <NewPassword name="password" label="Password" form={form} /> : null}
        <Field
          name="organization"
          label="Organization"
          form={form}
          help="Your company or team, shown in surveys and emails. You can change it later."
          autocomplete="organization"
          required
        />
        <BrowserZone />
      </>
    ),
    button: 'Create account',
  });
}

type FormPage = {
  title: string;
  about: string;
  form: FormState;
  action?: string;
  fields: Child;
  button: string;
  more?: { href: string; text: string };
};

/** A page with one form, for visitors. */
export function showForm(
  c: Context,
  { title, about, form, action, fields, button, more }: FormPage,
) {
  const body = (
    <>
      <p class="soft">{about}</p>
      <form method="post" action={action} class="stack">
        <FormErrors form={form} />
        {fields}
        <Submit>{button}</Submit>
        {more ? <LinkButton {...more} kind="quiet" /> : null}
      </form>
    </>
  );
  return renderStandalone(c, { title, body, form });
}

/** Filled in by the page's script. */
export const BrowserZone = () => <input type="hidden" name="time_zone" data-time-zone />;

export const ZoneField = v.pipe(
  v.optional(v.string(), ''),
  v.transform((zone) => (isTimeZoneName(zone) ? zone : null)),
);

type EmailProps = { form: FormState; help?: Child; autocomplete?: string };

export const Email = ({ autocomplete = 'username', ...props }: EmailProps) => (
  <Field {...props} name="email" label="Email" type="email" autocomplete={autocomplete} required />
);

type PasswordProps = { name: string; label: string; form: FormState; help?: Child };

const passwordHelp = `At least ${minPassword} characters. A few unrelated words work well.`;

export const NewPassword = (props: PasswordProps) => (
  <Field {...props} type="password" help={passwordHelp} autocomplete="new-password" required />
);

export const CurrentPassword = (props: PasswordProps) => (
  <Field {...props} type="password" autocomplete="current-password" required />
);

/** Tells password managers which account the form is for. */
export const AccountName = ({ email }: { email: string }) => (
  <input type="text" name="username" value={email} autocomplete="username" readonly hidden />
);
