import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { Refusal } from '../../errors.ts';
import { ownPath, withNext } from '../../sessions/own-path.ts';
import { type MemberEnv, signedIn } from '../../sessions/session.ts';
import type { SignInSettings } from '../../settings/sign-in.ts';
import { Field } from '../../web/app/fields.tsx';
import { Mistakes } from '../../web/app/marks.tsx';
import { emptyForm, type FormState, readForm, withMistake } from '../../web/app/read-form.ts';
import { renderAlone } from '../../web/app/screen.tsx';
import { findProofs } from '../account/queries.ts';
import { PasswordField } from '../forms.ts';
import { passkeyPlace } from '../passkeys/place.rules.ts';
import { proveByPassword, type SignInTools } from '../sign-in.ts';
import { AccountName } from './new-password.tsx';
import { OtherWaysToSignIn } from './other-ways.tsx';

const passwordsAreOff = 'Passwords are switched off here: confirm by passkey or single sign-on.';

const ProveForm = v.object({ password: PasswordField });

/** `/account/prove`: asks a member who is signed in for a proof once more, and goes on to where it was needed. */
type ProveTools = SignInTools & { settings: { signIn: SignInSettings } };

export const proveScreens = (tools: ProveTools) =>
  new Hono<MemberEnv>()
    .use('/account/prove', signedIn(tools))
    .get('/account/prove', (c) => showProve(c, tools, { next: ownPath(c.req.query('next')) }))
    .post('/account/prove', async (c) => {
      if (!tools.settings.signIn.byPassword) throw new Refusal('forbidden', passwordsAreOff);
      const next = ownPath(c.req.query('next'));
      const form = await readForm(c, ProveForm);
      if (form.errors) return await showProve(c, tools, { form, next, status: 422 });
      const { password } = form.values;
      if (await proveByPassword(tools, c, { member: c.var.member, password })) {
        return c.redirect(next, 303);
      }
      const wrong = await withMistake(c, { password: 'The password is wrong.' });
      return await showProve(c, tools, { form: wrong, next, status: 422 });
    });

type ShowProve = { form?: FormState; next: string; status?: 200 | 422 };

async function showProve(
  c: Context<MemberEnv>,
  tools: ProveTools,
  { form = emptyForm(), next, status = 200 }: ShowProve,
) {
  const { id, email } = c.var.member;
  const proofs = await findProofs(tools.db, id);
  const { byPassword, oidc } = tools.settings.signIn;
  const hasPassword = byPassword && proofs?.hasPassword === true;
  const ways = {
    passkeys: (proofs?.passkeys ?? 0) > 0 && passkeyPlace(tools.publicUrl) !== undefined,
    sso: oidc !== null && proofs?.ssoIssuer === oidc.issuer,
  };
  const hasAny = hasPassword || ways.passkeys || ways.sso;
  const body = (
    <>
      <p class="soft">
        You are signed in as {email}. This act needs a proof that is at most an hour old.
      </p>
      <div class="fields">
        {hasPassword ? (
          <form method="post" action={withNext('/account/prove', next)} class="fields">
            <Mistakes form={form} />
            <AccountName email={email} />
            <Field
              name="password"
              label="Password"
              form={form}
              type="password"
              autocomplete="current-password"
              required
            />
            <button type="submit" class="primary">
              Continue
            </button>
          </form>
        ) : null}
        {hasAny ? null : (
          <p>
            Your account has no password. Sign out, sign in again the way you usually do, and repeat
            the act.
          </p>
        )}
        <OtherWaysToSignIn tools={tools} next={next} prove={ways} />
      </div>
    </>
  );
  return renderAlone(c, { title: 'Confirm that it is you', body, status });
}
