import { withNext } from '../../sessions/own-path.ts';
import { passkeyPlace } from '../passkeys/place.rules.ts';
import { PasskeyForm } from './passkey-form.tsx';

/** What the deployment offers to sign in with, besides passwords. */
export type OtherWays = {
  publicUrl: string;
  settings: { signIn: { oidc: { name: string } | null } };
};

type OtherWaysProps = {
  tools: OtherWays;
  next: string;
  /** Of a member who is signed in and proves it once more: what the account has. */
  prove?: { passkeys: boolean; sso: boolean };
};

/** Passkey and single sign-on, below the password or in its place. */
export function OtherWaysToSignIn({ tools, next, prove }: OtherWaysProps) {
  const { oidc } = tools.settings.signIn;
  const hasPasskeys = passkeyPlace(tools.publicUrl) !== undefined && (prove?.passkeys ?? true);
  const base = prove ? '/account/prove' : '/sign-in';
  return (
    <>
      {oidc && (prove?.sso ?? true) ? (
        <a class="button" href={withNext(`${base}/oidc`, next)}>
          {prove ? `Confirm with ${oidc.name}` : `Sign in with ${oidc.name}`}
        </a>
      ) : null}
      {hasPasskeys ? (
        <PasskeyForm
          kind="get"
          action={withNext(`${base}/passkey`, next)}
          options="/sign-in/passkey/options"
          button={prove ? 'Confirm with a passkey' : 'Sign in with a passkey'}
        />
      ) : null}
    </>
  );
}
