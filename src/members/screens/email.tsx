import { type Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import { actorOf } from '../../audit/acts.ts';
import { type MemberEnv, requireRecentProof } from '../../sessions/session.ts';
import { FormErrors, Notice } from '../../web/app/badges.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import {
  emptyForm,
  Field,
  type FormState,
  LinkButton,
  readForm,
  Submit,
  statusOf,
  withFieldError,
} from '../../web/app/forms.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { findProofs } from '../account.ts';
import { changeEmail, getNewEmail, requestEmail } from '../email.ts';
import { EmailField } from '../invite.ts';
import type { MemberTools } from '../sign-in.ts';

const AddressForm = v.object({ email: EmailField });

/** `/account/email`: the member's own email, changed by a link that is mailed to the new one. */
export const emailScreens = (tools: MemberTools) =>
  new Hono<MemberEnv>()
    .get('/', async (c) => {
      requireRecentProof(c);
      return showChange(c, await reasonAgainst(c, tools));
    })
    .post('/', async (c) => {
      requireRecentProof(c);
      const reason = await reasonAgainst(c, tools);
      if (reason) return showChange(c, reason);
      const form = await readForm(c, AddressForm);
      if (form.errors) return showChange(c, undefined, form);
      const { id: memberId, email: current } = c.var.member;
      const { email } = form.values;
      if (email === current) {
        const same = await withFieldError(c, { email: 'This is already your email.' });
        return showChange(c, undefined, same);
      }
      await requestEmail(tools, c, { memberId, email });
      const text = tools.mailbox
        ? "No mail server is set up. The link to confirm is in this server's built-in mailbox, which its operator can read."
        : 'Open the link that we sent to your new email. Until then, your email stays the same.';
      return redirectWith(c, '/account', text);
    })
    .get('/:token', async (c) => {
      const token = c.req.param('token');
      return showConfirm(c, await getNewEmail(tools.db, { memberId: c.var.member.id, token }));
    })
    .post('/:token', async (c) => {
      const own = { memberId: c.var.member.id, actor: actorOf(c) };
      await changeEmail(tools.db, own, c.req.param('token'));
      return redirectWith(c, '/account', 'Email changed. Sign in with it from now on.');
    });

/** A member who can only sign in at the OpenID provider has the email of the provider. */
async function reasonAgainst(c: Context<MemberEnv>, { db, settings }: MemberTools) {
  const { byPassword, oidc } = settings.signIn;
  const proofs = await findProofs(db, c.var.member.id);
  const hasOwn = (byPassword && proofs?.hasPassword) || (proofs?.passkeys ?? 0) > 0;
  if (hasOwn || !proofs?.ssoIssuer) return undefined;
  const ways = byPassword ? 'set a password or add a passkey' : 'add a passkey';
  return `You sign in only with ${oidc?.name ?? 'single sign-on'}, so your email comes from there. To change it here, ${ways} first.`;
}

function showChange(c: Context<MemberEnv>, reason: string | undefined, form = emptyForm()) {
  if (reason)
    return show(c, { body: <Notice kind="warning" text={reason} />, form, refused: true });
  const body = (
    <form method="post" action="/account/email" class="card stack narrow">
      <FormErrors form={form} />
      <p class="soft">
        Your email is <bdi>{c.var.member.email}</bdi>. We send a link to the new one. You stay
        signed in everywhere, and your old email gets a notice.
      </p>
      <Field
        name="email"
        label="New email"
        type="email"
        form={form}
        help="You sign in with it, and your notifications go there. The link works for 24 hours."
        autocomplete="email"
        required
      />
      <div class="acts">
        <Submit>Send link</Submit>
        <LinkButton href="/account" text="Cancel" kind="quiet" />
      </div>
    </form>
  );
  return show(c, { body, form });
}

function showConfirm(c: Context<MemberEnv>, email: string) {
  const body = (
    <form method="post" class="card stack narrow">
      <p>
        From now on you sign in with <bdi>{email}</bdi> instead of <bdi>{c.var.member.email}</bdi>.
      </p>
      <div class="acts">
        <Submit>Change email</Submit>
        <LinkButton href="/account" text="Cancel" kind="quiet" />
      </div>
    </form>
  );
  return show(c, { body, form: emptyForm() });
}

type Page = { body: Child; form: FormState; refused?: boolean };

function show(c: Context, { body, form, refused = false }: Page) {
  const trail = [{ text: 'Account', href: '/account' }];
  const status = refused && c.req.method === 'POST' ? 403 : statusOf(form);
  return renderScreen(c, { title: 'Change email', section: 'account', body, trail, status });
}
