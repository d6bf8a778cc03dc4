import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { Refusal } from '../../errors.ts';
import type { RequestEnv } from '../../lib/http/http.ts';
import { Field } from '../../web/app/fields.tsx';
import { flash } from '../../web/app/flash.ts';
import { Mistakes } from '../../web/app/marks.tsx';
import { emptyForm, type FormState, readForm, withMistake } from '../../web/app/read-form.ts';
import { renderAlone } from '../../web/app/screen.tsx';
import { EmailField, NewPasswordField } from '../forms.ts';
import { refusePassword } from '../password.rules.ts';
import type { MemberName } from '../queries.ts';
import { findMemberOfReset, type ResetTools, requestReset, resetPassword } from '../reset.ts';
import { NewPassword } from './new-password.tsx';

type ResetScreenTools = ResetTools & {
  settings: { signIn: { byPassword: boolean } };
  /** Whether mails reach no address, because no mail server is set. */
  mailbox: boolean;
};

const AddressForm = v.object({ email: EmailField });
const ResetForm = v.object({ password: NewPasswordField });

/** `/forgot` and `/reset/:token`. */
export const resetScreens = (tools: ResetScreenTools) =>
  new Hono<RequestEnv>()
    .use('/forgot', requirePasswords(tools))
    .get('/forgot', (c) => showRequest(c, emptyForm()))
    .post('/forgot', async (c) => {
      const form = await readForm(c, AddressForm);
      if (form.errors) return showRequest(c, form, 422);
      await requestReset(tools, c, form.values.email);
      return c.redirect('/forgot/sent', 303);
    })
    .get('/forgot/sent', (c) => showSent(c, tools))

    .use('/reset/*', requirePasswords(tools))
    .get('/reset/:token', async (c) =>
      showReset(c, { member: await getMember(tools, c.req.param('token')) }),
    )
    .post('/reset/:token', async (c) => {
      const token = c.req.param('token');
      const member = await getMember(tools, token);
      const form = await readForm(c, ResetForm);
      if (form.errors) return showReset(c, { member, form, status: 422 });
      const { password } = form.values;
      const refused = refusePassword(password, member);
      if (refused) {
        const weak = await withMistake(c, { password: refused });
        return showReset(c, { member, form: weak, status: 422 });
      }
      if (!(await resetPassword(tools.db, c, { token, password }))) throw gone();
      flash(c, { kind: 'fine', text: 'Your password was changed. Sign in with it.' });
      return c.redirect('/sign-in', 303);
    });

const requirePasswords =
  ({ settings }: ResetScreenTools) =>
  async (_: Context, next: () => Promise<void>) => {
    if (!settings.signIn.byPassword)
      throw new Refusal('forbidden', 'This server takes no passwords.');
    await next();
  };

async function getMember({ db }: ResetScreenTools, token: string): Promise<MemberName> {
  const member = await findMemberOfReset(db, token);
  if (!member) throw gone();
  return member;
}

const gone = () =>
  new Refusal(
    'gone',
    'This link to set a password no longer works: it was used, a newer password was set, or an hour has passed. Ask for a new link.',
  );

function showRequest(c: Context, form: FormState, status: 200 | 422 = 200) {
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
        <button type="submit" class="primary">
          Send the link
        </button>
        <a class="more" href="/sign-in">
          Back to sign in
        </a>
      </form>
    </>
  );
  return renderAlone(c, { title: 'Forgot password?', body, status });
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

type ShowReset = { member: MemberName; form?: FormState; status?: 200 | 422 };

function showReset(c: Context, { member, form = emptyForm(), status = 200 }: ShowReset) {
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
        <button type="submit" class="primary">
          Save
        </button>
      </form>
    </>
  );
  return renderAlone(c, { title: 'Set a new password', body, status });
}
