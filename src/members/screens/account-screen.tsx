import type { Context } from 'hono';
import { actorOf } from '../../audit/actor.ts';
import type { MemberEnv } from '../../sessions/session.ts';
import type { SignInSettings } from '../../settings/sign-in.ts';
import { Confirm } from '../../web/app/acts.tsx';
import { flash } from '../../web/app/flash.ts';
import { renderScreen } from '../../web/app/screen.tsx';
import type { OwnAccount } from '../codes/codes.ts';
import type { HandshakeTools } from '../handshake.ts';

export type AccountScreenTools = HandshakeTools & { settings: { signIn: SignInSettings } };

/** The account is its member's own: what changes it needs no other right. */
export const ownOf = (c: Context<MemberEnv>): OwnAccount => ({
  memberId: c.var.member.id,
  actor: actorOf(c),
});

/** Back to the page, which says what was done. */
export function done(c: Context, text: string) {
  flash(c, { kind: 'fine', text });
  return c.redirect('/account', 303);
}

/** The way back from a page below it. */
export const accountTrail = [{ text: 'Account', href: '/account' }];

type ConfirmScreen = { title: string; means: string; action: string; button: string };

export function showConfirm(c: Context, { title, means, action, button }: ConfirmScreen) {
  const body = (
    <Confirm action={action} button={button} cancel="/account">
      <p>{means}</p>
    </Confirm>
  );
  return renderScreen(c, { title, section: 'account', body, trail: accountTrail });
}
