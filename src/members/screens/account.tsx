import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { notFound } from '../../errors.ts';
import { isUuid } from '../../lib/validation/parse.ts';
import { listSessions } from '../../sessions/queries.ts';
import { type MemberEnv, requireRecentProof, signedIn } from '../../sessions/session.ts';
import { emptyForm, type FormState, readForm, withMistake } from '../../web/app/read-form.ts';
import { renderScreen } from '../../web/app/screen.tsx';
import {
  changeName,
  changePassword,
  endOneSession,
  endOtherSessions,
  unlinkSso,
} from '../account/account.ts';
import { findProofs } from '../account/queries.ts';
import { NameField, NewPasswordField, PasswordField } from '../forms.ts';
import { passkeyPlace } from '../passkeys/place.rules.ts';
import { listPasskeys } from '../passkeys/queries.ts';
import { refusePassword } from '../password.rules.ts';
import { accountCodeScreens } from './account-codes.tsx';
import { AccountPage } from './account-page.tsx';
import { accountPasskeyScreens } from './account-passkeys.tsx';
import { type AccountScreenTools, done, ownOf, showConfirm } from './account-screen.tsx';

const NameForm = v.object({ name: NameField });
const passwordForm = (hasPassword: boolean) =>
  v.object({
    current_password: hasPassword ? PasswordField : v.optional(v.undefined()),
    new_password: NewPasswordField,
  });

/** `/account`: name, proofs and sessions of the member. */
export const accountScreens = (tools: AccountScreenTools) =>
  new Hono<MemberEnv>()
    .use(signedIn(tools))
    .get('/', (c) => showAccount(c, tools))
    .post('/name', async (c) => {
      const form = await readForm(c, NameForm);
      if (form.errors) return await showAccount(c, tools, { name: form });
      await changeName(tools.db, ownOf(c), form.values.name);
      return done(c, 'The name is saved.');
    })
    .post('/password', (c) => setPassword(c, tools))

    .post('/sessions/end', async (c) => {
      await endOtherSessions(tools.db, ownOf(c), c.var.member.sessionId);
      return done(c, 'All other sessions have ended.');
    })
    .post('/sessions/:id/end', async (c) => {
      const id = c.req.param('id');
      if (!isUuid(id)) throw notFound('session');
      await endOneSession(tools.db, ownOf(c), id);
      return done(c, 'The session has ended.');
    })

    .get('/sso/remove', (c) => {
      requireRecentProof(c);
      return showConfirm(c, {
        title: 'Remove the link',
        means:
          'The next sign-in there links the account again, with the person who has your address there.',
        action: '/account/sso/remove',
        button: 'Remove link',
      });
    })
    .post('/sso/remove', async (c) => {
      requireRecentProof(c);
      await unlinkSso(tools.db, ownOf(c));
      return done(c, 'The link is removed.');
    })

    .route('/passkeys', accountPasskeyScreens(tools))
    .route('/codes', accountCodeScreens(tools));

/** An account without a password gets its first one by another proof, which must be recent. */
async function setPassword(c: Context<MemberEnv>, tools: AccountScreenTools) {
  if (!tools.settings.signIn.byPassword) throw notFound('page');
  const { member } = c.var;
  const { hasPassword = false } = (await findProofs(tools.db, member.id)) ?? {};
  if (!hasPassword) requireRecentProof(c);
  const form = await readForm(c, passwordForm(hasPassword));
  if (form.errors) return await showAccount(c, tools, { password: form });
  const { new_password: password, current_password: current } = form.values;
  const refused = refusePassword(password, member);
  if (refused) {
    const wrong = await withMistake(c, { new_password: refused });
    return await showAccount(c, tools, { password: wrong });
  }
  const change = { member, own: ownOf(c), current, password };
  if (await changePassword(tools.db, c, change))
    return done(c, 'The password is changed. Your other sessions have ended.');
  const wrong = await withMistake(c, { current_password: 'This is not your current password.' });
  return await showAccount(c, tools, { password: wrong });
}

type SentForms = { name?: FormState; password?: FormState };

async function showAccount(c: Context<MemberEnv>, tools: AccountScreenTools, sent: SentForms = {}) {
  const { member } = c.var;
  const [proofs, passkeys, sessions] = await Promise.all([
    findProofs(tools.db, member.id),
    listPasskeys(tools.db, member.id),
    listSessions(tools.db, member.id),
  ]);
  if (!proofs) throw notFound('account');
  const body = (
    <AccountPage
      {...{ member, proofs, passkeys, sessions, signIn: tools.settings.signIn }}
      hasPasskeys={passkeyPlace(tools.publicUrl) !== undefined}
      name={sent.name ?? emptyForm()}
      password={sent.password ?? emptyForm()}
    />
  );
  const status = sent.name || sent.password ? 422 : 200;
  return renderScreen(c, { title: 'Account', section: 'account', body, status });
}
