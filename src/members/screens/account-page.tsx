import type { ListedSession } from '../../sessions/queries.ts';
import type { SignedInMember } from '../../sessions/session.ts';
import type { SignInSettings } from '../../settings/sign-in.ts';
import { Field } from '../../web/app/fields.tsx';
import { Facts } from '../../web/app/lists.tsx';
import { Mistakes } from '../../web/app/marks.tsx';
import type { FormState } from '../../web/app/read-form.ts';
import { Part } from '../../web/app/settings-screen.tsx';
import type { AccountProofs } from '../account/queries.ts';
import type { ListedPasskey } from '../passkeys/queries.ts';
import { CodesPart, PasskeysPart, SsoPart } from './account-proofs.tsx';
import { SessionsPart } from './account-sessions.tsx';
import { AccountName, NewPassword } from './new-password.tsx';

type AccountPageProps = {
  member: SignedInMember;
  proofs: AccountProofs;
  passkeys: readonly ListedPasskey[];
  sessions: readonly ListedSession[];
  signIn: SignInSettings;
  /** Whether browsers have passkeys at the address of this service. */
  hasPasskeys: boolean;
  name: FormState;
  password: FormState;
};

export function AccountPage(props: AccountPageProps) {
  const { member, proofs, passkeys, sessions, signIn, hasPasskeys } = props;
  return (
    <div class="parts">
      <NamePart member={member} form={props.name} />
      {signIn.byPassword ? <PasswordPart {...{ member, proofs }} form={props.password} /> : null}
      <PasskeysPart passkeys={passkeys} isPossible={hasPasskeys} />
      {signIn.byPassword ? <CodesPart proofs={proofs} /> : null}
      <SsoPart proofs={proofs} oidc={signIn.oidc} />
      <SessionsPart sessions={sessions} current={member.sessionId} />
    </div>
  );
}

function NamePart({ member, form }: { member: SignedInMember; form: FormState }) {
  return (
    <Part id="profile" title="Profile">
      <form method="post" action="/account/name" class="fields narrow">
        <Mistakes form={form} />
        <Field
          name="name"
          label="Name"
          form={form}
          value={member.name}
          help="Colleagues see it next to what you do."
          autocomplete="name"
          required
        />
        <Facts facts={[['Email', <bdi>{member.email}</bdi>]]} />
        <p class="small soft">The address you were invited by. It cannot be changed.</p>
        <div class="actions">
          <button type="submit">Save</button>
        </div>
      </form>
    </Part>
  );
}

type PasswordPartProps = { member: SignedInMember; proofs: AccountProofs; form: FormState };

function PasswordPart({ member, proofs, form }: PasswordPartProps) {
  return (
    <Part id="password" title="Password">
      <p class="small soft">
        {proofs.hasPassword
          ? 'A new password ends your other sessions.'
          : 'Your account has no password. With one you can sign in by email as well.'}
      </p>
      <form method="post" action="/account/password" class="fields narrow">
        <Mistakes form={form} />
        <AccountName email={member.email} />
        {proofs.hasPassword ? (
          <Field
            name="current_password"
            label="Current password"
            form={form}
            type="password"
            autocomplete="current-password"
            required
          />
        ) : null}
        <NewPassword name="new_password" label="New password" form={form} />
        <div class="actions">
          <button type="submit">{proofs.hasPassword ? 'Save' : 'Set a password'}</button>
        </div>
      </form>
    </Part>
  );
}
