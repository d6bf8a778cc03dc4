import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { Refusal } from '../../errors.ts';
import type { RequestEnv } from '../../lib/http/http.ts';
import { Field } from '../../web/app/fields.tsx';
import { Mistakes } from '../../web/app/marks.tsx';
import { emptyForm, type FormState, readForm, withMistake } from '../../web/app/read-form.ts';
import { renderAlone } from '../../web/app/screen.tsx';
import { EmailField, NameField, NewPasswordField } from '../forms.ts';
import { refusePassword } from '../password.rules.ts';
import { welcomeTexts as texts } from '../screen-texts.ts';
import type { SignInTools } from '../sign-in.ts';
import { isWelcome, joinFirst } from '../welcome.ts';
import { NewPassword } from './new-password.tsx';

const WelcomeForm = v.object({
  name: NameField,
  email: EmailField,
  password: NewPasswordField,
  organization: NameField,
});

/** `/welcome/:token`: the first run. */
export const welcomeScreens = (tools: SignInTools) =>
  new Hono<RequestEnv>()
    .get('/welcome/:token', async (c) => {
      if (!(await isWelcome(tools.db, c.req.param('token')))) throw gone();
      return showWelcome(c, emptyForm());
    })
    .post('/welcome/:token', async (c) => {
      const token = c.req.param('token');
      if (!(await isWelcome(tools.db, token))) throw gone();
      const form = await readForm(c, WelcomeForm);
      if (form.errors) return showWelcome(c, form, 422);
      const refused = refusePassword(form.values.password, form.values);
      if (refused) return showWelcome(c, await withMistake(c, { password: refused }), 422);
      const slug = await joinFirst(tools, c, { token, given: form.values });
      if (!slug) throw gone();
      return c.redirect(`/o/${slug}`, 303);
    });

const gone = () => new Refusal('gone', texts.gone);

function showWelcome(c: Context, form: FormState, status: 200 | 422 = 200) {
  const body = (
    <>
      <p class="soft">{texts.about}</p>
      <form method="post" class="fields">
        <Mistakes form={form} />
        <Field name="name" label={texts.name} form={form} autocomplete="name" required />
        <Field
          name="email"
          label={texts.email}
          form={form}
          type="email"
          autocomplete="username"
          required
        />
        <NewPassword name="password" label={texts.password} form={form} />
        <Field
          name="organization"
          label={texts.organization}
          form={form}
          help={texts.organizationHelp}
          autocomplete="organization"
          required
        />
        <button type="submit" class="primary">
          {texts.button}
        </button>
      </form>
    </>
  );
  return renderAlone(c, { title: texts.title, body, status });
}
