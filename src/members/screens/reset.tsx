import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { Refusal } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import type { RequestEnv } from '../../lib/http/http.ts';
import type { SignInSettings } from '../../settings.ts';
import { Mistakes } from '../../web/app/badges.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import {
  emptyForm,
  Field,
  type FormState,
  readForm,
  Submit,
  statusOf,
  withMistake,
} from '../../web/app/forms.tsx';
import { renderAlone } from '../../web/app/screen.tsx';
import { EmailField, NameField, NewPasswordField } from '../invite.ts';
import { refusePassword, shortestPassword } from '../password.ts';
import type { MemberName } from '../queries.ts';
import { findMemberOfReset, isWelcome, joinFirst, requestReset, resetPassword } from '../reset.ts';
import type { SignInTools } from '../sign-in.ts';

type ResetScreenTools = {
  db: Db;
  settings: { signIn: { byPassword: boolean } };
  /** No mail server is set: mails reach the built-in mailbox only. */
  mailbox: boolean;
};

const AddressForm = v.object({ email: EmailField });
const ResetForm = v.object({ password: NewPasswordField });

/** `/forgot` and `/reset/:token`. */
export const resetScreens = (tools: ResetScreenTools) =>
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
    .get('/reset/:token', async (c) => showReset(c, await getMember(tools, c.req.param('token'))))
    .post('/reset/:token', async (c) => {
      const token = c.req.param('token');
      const member = await getMember(tools, token);
      const form = await readForm(c, ResetForm);
      if (form.errors) return showReset(c, member, form);
      const { password } = form.values;
      const refused = refusePassword(password, member);
      if (refused) return showReset(c, member, await withMistake(c, { password: refused }));
      if (!(await resetPassword(tools.db, c, { token, password }))) throw gone();
      return redirectWith(c, '/sign-in', 'Your password was changed. Sign in with it.');
    });

const requirePasswords =
  ({ settings }: ResetScreenTools) =>
  async (_: Context, next: () => Promise<void>) => {
    if (!settings.signIn.byPassword)
      throw new Refusal('forbidden', 'This server takes no passwords.');
    await next();
  };

async function getMember({ db }: ResetScreenTools, token: string) {
  const member = await findMemberOfReset(db, token);
  if (!member) throw gone();
  return member;
}

const gone = () =>
  new Refusal(
    'gone',
    'This link to set a password no longer works: it was used, a newer password was set, or an hour has passed. Ask for a new link.',
  );

function showRequest(c: Context, form: FormState = emptyForm()) {
  const body = (
    <>
      <p class="soft">
        Enter the address that you sign in with. If it has an account, a link to set a new password
        is on its way within a minute.
      </p>
      <form method="post" action="/forgot" class="fields">
        <Mistakes form={form} />
        <Field
          name="email"
          label="Email"
          form={form}
          type="email"
          autocomplete="username"
          required
        />
        <Submit>Send the link</Submit>
        <a class="more" href="/sign-in">
          Back to sign in
        </a>
      </form>
    </>
  );
  return renderAlone(c, { title: 'Forgot password?', body, status: statusOf(form) });
}

function showSent(c: Context, { mailbox }: ResetScreenTools) {
  const body = (
    <>
      <p>
        {mailbox
          ? 'No mail server is set. If this address has an account, the link is in the built-in mailbox of this server, which its operator can read; askback member reset makes one too.'
          : 'If this address has an account, a link to set a new password is on its way. It works once, within an hour.'}
      </p>
      {mailbox ? null : (
        <p class="soft">
          Nothing came? Look into spam, or ask the operator of this server: askback member reset
          makes a link.
        </p>
      )}
      <p>
        <a class="more" href="/sign-in">
          Back to sign in
        </a>
      </p>
    </>
  );
  return renderAlone(c, { title: mailbox ? 'Forgot password?' : 'Look into your mail', body });
}

function showReset(c: Context, member: MemberName, form: FormState = emptyForm()) {
  const body = (
    <>
      <p class="soft">A new password signs you out everywhere.</p>
      <form method="post" class="fields">
        <Mistakes form={form} />
        <Field
          name="username"
          label="Email"
          value={member.email}
          autocomplete="username"
          readonly
        />
        <NewPassword name="password" label="New password" form={form} />
        <Submit>Save</Submit>
      </form>
    </>
  );
  return renderAlone(c, { title: 'Set a new password', body, status: statusOf(form) });
}

type WelcomeTools = SignInTools & { settings: { signIn: SignInSettings } };

const noPassword = v.pipe(
  v.optional(v.unknown()),
  v.transform(() => null),
);

const welcomeForm = ({ byPassword }: SignInSettings) =>
  v.object({
    name: NameField,
    email: EmailField,
    password: byPassword ? NewPasswordField : noPassword,
    organization: NameField,
  });

/** `/welcome/:token`: the first run. */
export const welcomeScreens = (tools: WelcomeTools) =>
  new Hono<RequestEnv>()
    .get('/welcome/:token', async (c) => {
      if (!(await isWelcome(tools.db, c.req.param('token')))) throw welcomeGone();
      return showWelcome(c, tools);
    })
    .post('/welcome/:token', async (c) => {
      const token = c.req.param('token');
      if (!(await isWelcome(tools.db, token))) throw welcomeGone();
      const form = await readForm(c, welcomeForm(tools.settings.signIn));
      if (form.errors) return showWelcome(c, tools, form);
      const { password, ...person } = form.values;
      const refused = password === null ? undefined : refusePassword(password, person);
      if (refused) return showWelcome(c, tools, await withMistake(c, { password: refused }));
      const slug = await joinFirst(tools, c, { ...person, token, password });
      if (!slug) throw welcomeGone();
      return c.redirect(`/o/${slug}`, 303);
    });

const welcomeGone = () =>
  new Refusal(
    'gone',
    'This welcome link no longer works: it was used, a newer one was made, or 24 hours have passed. While there is no account, restarting the server prints a new link; askback member invite --operator makes one at any time.',
    { code: 'first_link_over' },
  );

function showWelcome(c: Context, { settings }: WelcomeTools, form: FormState = emptyForm()) {
  const { byPassword, oidc } = settings.signIn;
  const body = (
    <>
      <p class="soft">
        You are the first here. Your account will own the organization and run this server.
      </p>
      <form method="post" class="fields">
        <Mistakes form={form} />
        <Field name="name" label="Name" form={form} autocomplete="name" required />
        <Field
          name="email"
          label="Email"
          form={form}
          type="email"
          help={
            byPassword || !oidc
              ? undefined
              : `The address that ${oidc.name} has for you. This server takes no passwords: you sign in there from now on.`
          }
          autocomplete="username"
          required
        />
        {byPassword ? <NewPassword name="password" label="Password" form={form} /> : null}
        <Field
          name="organization"
          label="Organization"
          form={form}
          help="Your company or team, as surveys and mails show it. You can change it later."
          autocomplete="organization"
          required
        />
        <Submit>Create account</Submit>
      </form>
    </>
  );
  return renderAlone(c, { title: 'Welcome to askback', body, status: statusOf(form) });
}

const passwordHelp = `${shortestPassword} characters or more. A few words that do not belong together are good.`;

type PasswordProps = { name: string; label: string; form: FormState };

export const NewPassword = (props: PasswordProps) => (
  <Field {...props} type="password" help={passwordHelp} autocomplete="new-password" required />
);

export const CurrentPassword = (props: PasswordProps) => (
  <Field {...props} type="password" autocomplete="current-password" required />
);

/** Lets a password manager know whose password a form is about. */
export const AccountName = ({ email }: { email: string }) => (
  <input type="text" name="username" value={email} autocomplete="username" readonly hidden />
);
