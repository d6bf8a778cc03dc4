import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { Refusal } from '../../errors.ts';
import type { RequestEnv } from '../../lib/http/http.ts';
import { hashToken, readSessionHash } from '../../sessions/cookie.ts';
import { withNext } from '../../sessions/own-path.ts';
import { findSession } from '../../sessions/queries.ts';
import { memberActor, type SignedInMember } from '../../sessions/session.ts';
import { Field } from '../../web/app/fields.tsx';
import { flash } from '../../web/app/flash.ts';
import { Mistakes } from '../../web/app/marks.tsx';
import { emptyForm, type FormState, readForm, withMistake } from '../../web/app/read-form.ts';
import { renderAlone } from '../../web/app/screen.tsx';
import { NameField, NewPasswordField } from '../forms.ts';
import { joinAsMember, joinAsNewMember } from '../join.ts';
import { findLink, type LiveLink } from '../links.queries.ts';
import { refusePassword } from '../password.rules.ts';
import { findCredentials } from '../queries.ts';
import type { SignInTools } from '../sign-in.ts';
import { NewPassword } from './new-password.tsx';

const hasAccountText = (email: string) =>
  `There is an account for ${email}. Sign in with it to join.`;

type InvitationTools = SignInTools & { settings: { signIn: { byPassword: boolean } } };

const JoinForm = v.object({ name: NameField, password: NewPasswordField });

/** `/invitations/:token`: a new account, or a member who is signed in, joins. */
export const invitationScreens = (tools: InvitationTools) =>
  new Hono<RequestEnv>()
    .get('/invitations/:token', async (c) =>
      showInvitation(c, { opened: await openInvitation(tools, c) }),
    )
    .post('/invitations/:token', async (c) => {
      const token = c.req.param('token');
      const opened = await openInvitation(tools, c);
      const { link, member, way } = opened;
      if (way === 'join' && member) {
        const actor = memberActor(member, c.var.requestId);
        return done(c, await joinAsMember(tools.db, { token, member, actor }));
      }
      if (way !== 'new') throw new Refusal('forbidden', hasAccountText(link.email ?? ''));
      const form = await readForm(c, JoinForm);
      if (form.errors) return showInvitation(c, { opened, form, status: 422 });
      const { name, password } = form.values;
      const refused = refusePassword(password, { name, email: link.email ?? '' });
      if (refused) {
        const weak = await withMistake(c, { password: refused });
        return showInvitation(c, { opened, form: weak, status: 422 });
      }
      return done(c, await joinAsNewMember(tools, c, { token, name, password }));
    });

function done(c: Context, link: LiveLink | undefined) {
  if (!link) throw gone();
  if (link.organization) flash(c, { kind: 'fine', text: `You have joined ${link.organization}.` });
  return c.redirect('/', 303);
}

const gone = () =>
  new Refusal(
    'gone',
    'This invitation no longer works: it was used, withdrawn or replaced, or seven days have passed. Ask an owner of the organization to invite you again.',
    { code: 'first_link_over' },
  );

type OpenedInvitation = {
  link: LiveLink;
  member: SignedInMember | undefined;
  /** How it can be taken: by a new account, by the member who is signed in, or after signing in. */
  way: 'new' | 'join' | 'sign_in';
};

async function openInvitation(tools: InvitationTools, c: Context): Promise<OpenedInvitation> {
  const { db, publicUrl, settings } = tools;
  const link = await findLink(db, 'invitation', hashToken(c.req.param('token') ?? ''));
  if (!link) throw gone();
  const hash = readSessionHash(c, publicUrl);
  const member = hash && (await findSession(db, hash))?.member;
  if (member && member.email.toLowerCase() === link.email?.toLowerCase()) {
    return { link, member, way: 'join' };
  }
  const hasAccount = (await findCredentials(db, link.email ?? '')) !== undefined;
  const way = hasAccount || !settings.signIn.byPassword ? 'sign_in' : 'new';
  return { link, member, way };
}

type ShowInvitation = { opened: OpenedInvitation; form?: FormState; status?: 200 | 422 };

function showInvitation(c: Context, { opened, form = emptyForm(), status = 200 }: ShowInvitation) {
  const { link, member, way } = opened;
  const email = link.email ?? '';
  const place = link.organization ?? 'askback';
  const signIn = withNext('/sign-in', new URL(c.req.url).pathname);
  const body = (
    <>
      <p>
        {link.role
          ? `You are invited to ${place} as ${link.role}.`
          : 'You are invited to run this server as an operator.'}
      </p>
      {way === 'new' ? null : (
        <p class="soft">
          {way === 'join' ? `The invitation is for ${email}.` : hasAccountText(email)}
        </p>
      )}
      {way === 'new' ? <NewAccount form={form} email={email} /> : null}
      {way === 'join' ? (
        <form method="post" class="fields">
          <button type="submit" class="primary">
            Join
          </button>
        </form>
      ) : null}
      {way === 'sign_in' && member ? (
        <p class="soft">
          You are signed in as {member.email}, and the invitation is for another address.
        </p>
      ) : null}
      {way === 'sign_in' ? (
        <p>
          <a class="button primary" href={signIn}>
            Sign in
          </a>
        </p>
      ) : null}
    </>
  );
  return renderAlone(c, { title: `Join ${place}`, body, status });
}

function NewAccount({ form, email }: { form: FormState; email: string }) {
  return (
    <form method="post" class="fields">
      <Mistakes form={form} />
      <Field name="username" label="Email" value={email} autocomplete="username" readonly />
      <Field name="name" label="Name" form={form} autocomplete="name" required />
      <NewPassword name="password" label="Password" form={form} />
      <button type="submit" class="primary">
        Create account
      </button>
    </form>
  );
}
