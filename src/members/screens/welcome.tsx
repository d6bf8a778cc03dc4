import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { Refusal } from '../../errors.ts';
import type { RequestEnv } from '../../lib/http/http.ts';
import type { SignInSettings } from '../../settings/sign-in.ts';
import { Field } from '../../web/app/fields.tsx';
import { Mistakes } from '../../web/app/marks.tsx';
import { emptyForm, type FormState, readForm, withMistake } from '../../web/app/read-form.ts';
import { renderAlone } from '../../web/app/screen.tsx';
import { EmailField, NameField, NewPasswordField } from '../forms.ts';
import { refusePassword } from '../password.rules.ts';
import type { SignInTools } from '../sign-in.ts';
import { isWelcome, joinFirst } from '../welcome.ts';
import { NewPassword } from './new-password.tsx';

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
      if (!(await isWelcome(tools.db, c.req.param('token')))) throw gone();
      return showWelcome(c, tools, { form: emptyForm() });
    })
    .post('/welcome/:token', async (c) => {
      const token = c.req.param('token');
      if (!(await isWelcome(tools.db, token))) throw gone();
      const form = await readForm(c, welcomeForm(tools.settings.signIn));
      if (form.errors) return showWelcome(c, tools, { form, status: 422 });
      const { password, ...person } = form.values;
      const refused = password === null ? undefined : refusePassword(password, person);
      if (refused) {
        const weak = await withMistake(c, { password: refused });
        return showWelcome(c, tools, { form: weak, status: 422 });
      }
      const slug = await joinFirst(tools, c, { token, given: { ...person, password } });
      if (!slug) throw gone();
      return c.redirect(`/o/${slug}`, 303);
    });

const gone = () =>
  new Refusal(
    'gone',
    'This welcome link no longer works: it was used, a newer one was made, or 24 hours have passed. While there is no account, restarting the server prints a new link; askback member invite --operator makes one at any time.',
    { code: 'first_link_over' },
  );

type ShowWelcome = { form: FormState; status?: 200 | 422 };

function showWelcome(c: Context, { settings }: WelcomeTools, { form, status = 200 }: ShowWelcome) {
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
        <button type="submit" class="primary">
          Create account
        </button>
      </form>
    </>
  );
  return renderAlone(c, { title: 'Welcome to askback', body, status });
}
