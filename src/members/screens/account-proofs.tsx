import type { SignInSettings } from '../../settings/sign-in.ts';
import { counted, DataTable, EmptyState } from '../../web/app/lists.tsx';
import { State, Time } from '../../web/app/marks.tsx';
import { Part } from '../../web/app/settings-screen.tsx';
import type { AccountProofs } from '../account/queries.ts';
import type { ListedPasskey } from '../passkeys/queries.ts';
import { passkeysAbout } from './account-passkeys.tsx';

type PasskeysPartProps = { passkeys: readonly ListedPasskey[]; isPossible: boolean };

export function PasskeysPart({ passkeys, isPossible }: PasskeysPartProps) {
  const add = (
    <a class="button" href="/account/passkeys/new">
      Add a passkey
    </a>
  );
  return (
    <Part id="passkeys" title="Passkeys" act={isPossible ? add : undefined}>
      <p class="small soft">
        {isPossible
          ? passkeysAbout
          : 'Browsers have passkeys only where this server is reached by a host name over https, or as localhost. Its public URL is neither.'}
      </p>
      {passkeys.length === 0 ? (
        isPossible && <EmptyState title="No passkeys yet" />
      ) : (
        <DataTable
          caption="Passkeys"
          columns={[
            { head: 'Name' },
            { head: 'Last used' },
            { head: 'Added' },
            { head: 'Acts', hidden: true, number: true },
          ]}
          rows={passkeys.map(({ id, name, used_at, created_at }) => ({
            cells: [
              <bdi>{name}</bdi>,
              used_at ? <Time at={used_at} show="ago" /> : 'never',
              <Time at={created_at} show="day" />,
              <span class="actions end">
                <a href={`/account/passkeys/${id}/name`} aria-label={`Rename ${name}`}>
                  Rename
                </a>
                <a href={`/account/passkeys/${id}/remove`} aria-label={`Remove ${name}`}>
                  Remove
                </a>
              </span>,
            ],
          }))}
        />
      )}
    </Part>
  );
}

export function CodesPart({ proofs }: { proofs: AccountProofs }) {
  const { codesSince, recoveryCodes } = proofs;
  if (!codesSince) {
    return (
      <Part id="codes" title="One-time codes">
        <p class="small soft">
          After your password, sign-in asks for a code of six digits from an app on your phone. A
          password that was stolen is then not enough.
        </p>
        <form method="post" action="/account/codes" class="fields">
          <div class="actions">
            <State kind="skipped">Off</State>
            <button type="submit">Switch on</button>
          </div>
        </form>
      </Part>
    );
  }
  const left = `${counted(recoveryCodes, 'recovery code')} left. Each replaces a code once, when the phone is lost.`;
  return (
    <Part id="codes" title="One-time codes">
      <p>
        <State kind="fine">
          On since <Time at={codesSince} show="day" />
        </State>
      </p>
      <p class="small soft">{left}</p>
      <div class="actions">
        <a class="button" href="/account/codes/renew">
          New recovery codes
        </a>
        <a class="button danger" href="/account/codes/off">
          Switch off
        </a>
      </div>
    </Part>
  );
}

export function SsoPart({ proofs, oidc }: { proofs: AccountProofs; oidc: SignInSettings['oidc'] }) {
  const { ssoIssuer } = proofs;
  if (!ssoIssuer && !oidc) return null;
  const isCurrent = oidc !== null && ssoIssuer !== null;
  return (
    <Part id="sso" title="Single sign-on">
      <p>
        {isCurrent ? `Your account is linked with ${oidc.name}.` : null}
        {!isCurrent && ssoIssuer
          ? 'Your account is linked with a provider that this server no longer uses.'
          : null}
        {!ssoIssuer && oidc
          ? `Your account is linked with ${oidc.name} when you first sign in there.`
          : null}
      </p>
      {ssoIssuer ? (
        <div class="actions">
          <a class="button danger" href="/account/sso/remove">
            Remove link
          </a>
        </div>
      ) : null}
    </Part>
  );
}
