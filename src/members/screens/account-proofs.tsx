import type { SignInSettings } from '../../settings/sign-in.ts';
import { counted, DataTable, EmptyState } from '../../web/app/lists.tsx';
import { State, Time } from '../../web/app/marks.tsx';
import { Part } from '../../web/app/settings-screen.tsx';
import type { AccountProofs } from '../account/queries.ts';
import type { ListedPasskey } from '../passkeys/queries.ts';
import { accountTexts as texts } from './account-texts.ts';

type PasskeysPartProps = { passkeys: readonly ListedPasskey[]; isPossible: boolean };

export function PasskeysPart({ passkeys, isPossible }: PasskeysPartProps) {
  const add = (
    <a class="button" href="/account/passkeys/new">
      {texts.addPasskey}
    </a>
  );
  return (
    <Part id="passkeys" title={texts.passkeys} act={isPossible ? add : undefined}>
      <p class="small soft">{isPossible ? texts.passkeysAbout : texts.passkeysUnavailable}</p>
      {passkeys.length === 0 ? (
        isPossible && <EmptyState title={texts.passkeysNone} />
      ) : (
        <DataTable
          caption={texts.passkeys}
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
                <a href={`/account/passkeys/${id}/name`} aria-label={`${texts.rename} ${name}`}>
                  {texts.rename}
                </a>
                <a href={`/account/passkeys/${id}/remove`} aria-label={`${texts.remove} ${name}`}>
                  {texts.remove}
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
      <Part id="codes" title={texts.codes}>
        <p class="small soft">{texts.codesAbout}</p>
        <form method="post" action="/account/codes" class="fields">
          <div class="actions">
            <State kind="skipped">{texts.codesOff}</State>
            <button type="submit">{texts.switchOn}</button>
          </div>
        </form>
      </Part>
    );
  }
  const left = texts.recoveryLeft(counted(recoveryCodes, 'recovery code'));
  return (
    <Part id="codes" title={texts.codes}>
      <p>
        <State kind="fine">
          {texts.codesOnSince} <Time at={codesSince} show="day" />
        </State>
      </p>
      <p class="small soft">{left}</p>
      <div class="actions">
        <a class="button" href="/account/codes/renew">
          {texts.newRecovery}
        </a>
        <a class="button danger" href="/account/codes/off">
          {texts.switchOff}
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
    <Part id="sso" title={texts.sso}>
      <p>
        {isCurrent ? texts.ssoLinked(oidc.name) : null}
        {!isCurrent && ssoIssuer ? texts.ssoOther : null}
        {!ssoIssuer && oidc ? texts.ssoNone(oidc.name) : null}
      </p>
      {ssoIssuer ? (
        <div class="actions">
          <a class="button danger" href="/account/sso/remove">
            {texts.unlink}
          </a>
        </div>
      ) : null}
    </Part>
  );
}
