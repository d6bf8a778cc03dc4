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
import { invitationTexts as texts } from '../screen-texts.ts';
import type { SignInTools } from '../sign-in.ts';
import { NewPassword } from './new-password.tsx';

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
      if (way !== 'new') throw new Refusal('forbidden', texts.hasAccount(link.email ?? ''));
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
  if (link.organization) flash(c, { kind: 'fine', text: texts.joined(link.organization) });
  return c.redirect('/', 303);
}

const gone = () => new Refusal('gone', texts.gone, { code: 'first_link_over' });

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
      <p>{link.role ? texts.about(link.role, place) : texts.aboutOperator}</p>
      {way === 'new' ? null : (
        <p class="soft">{way === 'join' ? texts.for(email) : texts.hasAccount(email)}</p>
      )}
      {way === 'new' ? <NewAccount form={form} email={email} /> : null}
      {way === 'join' ? (
        <form method="post" class="fields">
          <button type="submit" class="primary">
            {texts.join}
          </button>
        </form>
      ) : null}
      {way === 'sign_in' && member ? <p class="soft">{texts.signedInAs(member.email)}</p> : null}
      {way === 'sign_in' ? (
        <p>
          <a class="button primary" href={signIn}>
            {texts.signIn}
          </a>
        </p>
      ) : null}
    </>
  );
  return renderAlone(c, { title: texts.title(place), body, status });
}

function NewAccount({ form, email }: { form: FormState; email: string }) {
  return (
    <form method="post" class="fields">
      <Mistakes form={form} />
      <Field name="username" label={texts.email} value={email} autocomplete="username" readonly />
      <Field name="name" label={texts.name} form={form} autocomplete="name" required />
      <NewPassword name="password" label={texts.password} form={form} />
      <button type="submit" class="primary">
        {texts.create}
      </button>
    </form>
  );
}
