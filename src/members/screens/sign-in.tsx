import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { Refusal } from '../../errors.ts';
import type { RequestEnv } from '../../lib/http/http.ts';
import { ownPath, withNext } from '../../sessions/own-path.ts';
import { Field } from '../../web/app/fields.tsx';
import { flash } from '../../web/app/flash.ts';
import { Mistakes } from '../../web/app/marks.tsx';
import { emptyForm, type FormState, readForm, withMistake } from '../../web/app/read-form.ts';
import { renderAlone } from '../../web/app/screen.tsx';
import { PasswordField } from '../forms.ts';
import { type SignInTools, signInByPassword, signOut } from '../sign-in.ts';
import { type OtherWays, OtherWaysToSignIn } from './other-ways.tsx';

type SignInScreenTools = SignInTools &
  OtherWays & { settings: { signIn: { byPassword: boolean } } };

/** An address is not judged here: one that cannot be is wrong like any other. */
const SignInForm = v.object({
  email: v.pipe(v.string(), v.trim(), v.nonEmpty('Enter your email address.'), v.maxLength(500)),
  password: PasswordField,
});

/** `/sign-in` and `/sign-out`. */
export const signInScreens = (tools: SignInScreenTools) =>
  new Hono<RequestEnv>()
    .get('/sign-in', (c) => showSignIn(c, tools, { next: ownPath(c.req.query('next')) }))

    .post('/sign-in', async (c) => {
      if (!tools.settings.signIn.byPassword)
        throw new Refusal('forbidden', 'This server takes no passwords.');
      const next = ownPath(c.req.query('next'));
      const form = await readForm(c, SignInForm);
      if (form.errors) return showSignIn(c, tools, { form, next, status: 422 });
      const result = await signInByPassword(tools, c, form.values);
      if (result === 'signed_in') return c.redirect(next, 303);
      if (result === 'awaits_code') return c.redirect(withNext('/sign-in/code', next), 303);
      const wrong = await withMistake(c, {
        '': 'The email or the password is wrong. Try again, or ask for a link to set a new password.',
      });
      return showSignIn(c, tools, { form: wrong, next, status: 422 });
    })

    .post('/sign-out', async (c) => {
      await signOut(tools, c);
      flash(c, { kind: 'fine', text: 'You are signed out.' });
      return c.redirect('/sign-in', 303);
    });

type ShowSignIn = { form?: FormState; next: string; status?: 200 | 422 };

function showSignIn(
  c: Context,
  tools: SignInScreenTools,
  { form = emptyForm(), next, status = 200 }: ShowSignIn,
) {
  const body = (
    <>
      <p class="soft">
        Survey feedback, hosted by your own team. <a href="/docs">API documentation</a>
      </p>
      <div class="fields">
        {tools.settings.signIn.byPassword ? <PasswordForm form={form} next={next} /> : null}
        <OtherWaysToSignIn tools={tools} next={next} />
      </div>
    </>
  );
  return renderAlone(c, { title: 'Sign in', body, status });
}

function PasswordForm({ form, next }: { form: FormState; next: string }) {
  return (
    <form method="post" action={withNext('/sign-in', next)} class="fields">
      <Mistakes form={form} />
      <Field
        name="email"
        label="Email"
        form={form}
        type="email"
        autocomplete="username webauthn"
        required
      />
      <Field
        name="password"
        label="Password"
        form={form}
        type="password"
        autocomplete="current-password"
        required
      />
      <button type="submit" class="primary">
        Sign in
      </button>
      <a class="more" href="/forgot">
        Forgot password?
      </a>
    </form>
  );
}
