import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import type { RequestEnv } from '../../lib/http/http.ts';
import { ownPath, withNext } from '../../sessions/own-path.ts';
import { Field } from '../../web/app/fields.tsx';
import { Mistakes } from '../../web/app/marks.tsx';
import { emptyForm, type FormState, readForm, withMistake } from '../../web/app/read-form.ts';
import { renderAlone } from '../../web/app/screen.tsx';
import { awaitedMember, type SecondStepTools, signInByCode } from '../second-step.ts';

const wrongText = 'The code is wrong, or it was used already. Wait for the next one.';

export const CodeForm = v.object({
  code: v.pipe(v.string(), v.trim(), v.nonEmpty('Enter the code.'), v.maxLength(100, wrongText)),
});

/** `/sign-in/code`: the second step of members who have switched one-time codes on. */
export const codeScreens = (tools: SecondStepTools) =>
  new Hono<RequestEnv>()
    .get('/sign-in/code', async (c) => {
      const next = ownPath(c.req.query('next'));
      if (!(await awaitedMember(tools, c))) return c.redirect(withNext('/sign-in', next), 303);
      return showCode(c, { next });
    })
    .post('/sign-in/code', async (c) => {
      const next = ownPath(c.req.query('next'));
      const awaited = await awaitedMember(tools, c);
      if (!awaited) return c.redirect(withNext('/sign-in', next), 303);
      const form = await readForm(c, CodeForm);
      if (form.errors) return showCode(c, { form, next, status: 422 });
      const { memberId } = awaited;
      if (await signInByCode(tools, c, { memberId, typed: form.values.code })) {
        return c.redirect(next, 303);
      }
      const wrong = await withMistake(c, { code: wrongText });
      return showCode(c, { form: wrong, next, status: 422 });
    });

type ShowCode = { form?: FormState; next: string; status?: 200 | 422 };

/** Recovery codes have letters, which a phone's keys for numbers do not. */
function showCode(c: Context, { form = emptyForm(), next, status = 200 }: ShowCode) {
  const isRecovery = c.req.query('recovery') !== undefined;
  const here = withNext('/sign-in/code', next);
  const other = `${here}${here.includes('?') ? '&' : '?'}recovery`;
  const body = (
    <>
      <p class="soft">
        {isRecovery
          ? 'Enter one of the recovery codes that you stored. Each works once.'
          : 'Your password is right. Enter the code that your authenticator app shows now.'}
      </p>
      <form method="post" action={isRecovery ? other : here} class="fields">
        <Mistakes form={form} />
        <Field
          name="code"
          label={isRecovery ? 'Recovery code' : 'Code'}
          form={form}
          inputmode={isRecovery ? 'text' : 'numeric'}
          autocomplete={isRecovery ? 'off' : 'one-time-code'}
          required
        />
        <button type="submit" class="primary">
          Sign in
        </button>
        <a class="more" href={isRecovery ? here : other}>
          {isRecovery ? 'Use the authenticator app' : 'Use a recovery code'}
        </a>
      </form>
    </>
  );
  return renderAlone(c, { title: 'One-time code', body, status });
}
