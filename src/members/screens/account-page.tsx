import type { ListedSession } from '../../sessions/queries.ts';
import type { SignedInMember } from '../../sessions/session.ts';
import type { SignInSettings } from '../../settings/sign-in.ts';
import { Field } from '../../web/app/fields.tsx';
import { counted, DataTable, EmptyState, Facts } from '../../web/app/lists.tsx';
import { Mistakes, State, Time } from '../../web/app/marks.tsx';
import type { FormState } from '../../web/app/read-form.ts';
import { Part } from '../../web/app/settings-screen.tsx';
import { deviceName } from '../account/device.rules.ts';
import type { AccountProofs } from '../account/queries.ts';
import type { ListedPasskey } from '../passkeys/queries.ts';
import { accountTexts as texts } from './account-texts.ts';
import { NewPassword } from './new-password.tsx';

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
    <Part id="you" title={texts.name}>
      <form method="post" action="/account/name" class="fields narrow">
        <Mistakes form={form} />
        <Field
          name="name"
          label={texts.name}
          form={form}
          value={member.name}
          help={texts.nameHelp}
          autocomplete="name"
          required
        />
        <Facts facts={[[texts.email, <bdi>{member.email}</bdi>]]} />
        <p class="small soft">{texts.emailHelp}</p>
        <div class="actions">
          <button type="submit">{texts.save}</button>
        </div>
      </form>
    </Part>
  );
}

type PasswordPartProps = { member: SignedInMember; proofs: AccountProofs; form: FormState };

function PasswordPart({ member, proofs, form }: PasswordPartProps) {
  return (
    <Part id="password" title={texts.password}>
      <p class="small soft">{proofs.hasPassword ? texts.passwordAbout : texts.passwordNone}</p>
      <form method="post" action="/account/password" class="fields narrow">
        <Mistakes form={form} />
        <input type="hidden" name="username" value={member.email} autocomplete="username" />
        {proofs.hasPassword ? (
          <Field
            name="current_password"
            label={texts.currentPassword}
            form={form}
            type="password"
            autocomplete="current-password"
            required
          />
        ) : null}
        <NewPassword name="new_password" label={texts.newPassword} form={form} />
        <div class="actions">
          <button type="submit">{proofs.hasPassword ? texts.save : texts.setPassword}</button>
        </div>
      </form>
    </Part>
  );
}

type PasskeysPartProps = { passkeys: readonly ListedPasskey[]; isPossible: boolean };

function PasskeysPart({ passkeys, isPossible }: PasskeysPartProps) {
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

function CodesPart({ proofs }: { proofs: AccountProofs }) {
  const { codesSince, recoveryCodes } = proofs;
  if (!codesSince) {
    return (
      <Part id="codes" title={texts.codes}>
        <p class="small soft">{texts.codesAbout}</p>
        <form method="post" action="/account/codes">
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

function SsoPart({ proofs, oidc }: { proofs: AccountProofs; oidc: SignInSettings['oidc'] }) {
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

type SessionsPartProps = { sessions: readonly ListedSession[]; current: string };

function SessionsPart({ sessions, current }: SessionsPartProps) {
  const others = sessions.length > 1 && (
    <form method="post" action="/account/sessions/end">
      <button type="submit">{texts.endOthers}</button>
    </form>
  );
  return (
    <Part id="sessions" title={texts.sessions} act={others || undefined}>
      <p class="small soft">{texts.sessionsAbout}</p>
      <DataTable
        caption={texts.sessions}
        columns={[
          { head: 'Device' },
          { head: 'Last use' },
          { head: 'Since' },
          { head: 'Network' },
          { head: 'Acts', hidden: true, number: true },
        ]}
        rows={sessions.map((session) => ({
          current: session.id === current,
          cells: cellsOf(session, session.id === current),
        }))}
      />
    </Part>
  );
}

function cellsOf({ id, user_agent, used_at, created_at, address }: ListedSession, isThis: boolean) {
  const device = deviceName(user_agent);
  return [
    <span title={user_agent ?? undefined}>
      {device}
      {isThis ? <span class="soft">, {texts.thisSession}</span> : null}
    </span>,
    <Time at={used_at} show="ago" />,
    <Time at={created_at} show="day" />,
    address ?? '',
    isThis ? null : (
      <form method="post" action={`/account/sessions/${id}/end`}>
        <button type="submit" aria-label={`${texts.end} ${device}`}>
          {texts.end}
        </button>
      </form>
    ),
  ];
}
