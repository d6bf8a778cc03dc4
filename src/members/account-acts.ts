import { randomUUID } from 'node:crypto';
import { type Act, type AuditedAct, recordAct } from '../audit/acts.ts';
import { enqueue } from '../jobs.ts';
import type { Sql } from '../lib/db/db.ts';

type AccountAct = Pick<AuditedAct, 'actor' | 'act' | 'details'> & {
  memberId: string;
  /** The address of the notice, if it is not the member's. */
  noticeTo?: string;
};

/** Subjects of the mails that notify members of changed credentials. */
export const noticeSubjects: Partial<Record<Act, string>> = {
  'member.email_changed': 'The email of your account was changed',
  'member.password_changed': 'Your password was changed',
  'member.passkey_added': 'A passkey was added to your account',
  'member.passkey_removed': 'A passkey was removed from your account',
  'member.codes_on': 'Two-step verification was turned on for your account',
  'member.codes_off': 'Two-step verification was turned off for your account',
  'member.codes_renewed': 'New recovery codes were created for your account',
  'member.sso_linked': 'Your account was linked to single sign-on',
  'member.sso_unlinked': 'Your account was unlinked from single sign-on',
};

/**
 * Records an act on an account in each organization of the member. A change of credentials is also mailed to the
 * member, who may then notice an intruder's new passkey.
 */
export async function recordAccountAct(tx: Sql, { memberId, noticeTo: to, ...act }: AccountAct) {
  const organizations = await tx<{ id: string }[]>`
    -- all organizations
    select org_id as id from memberships where member_id = ${memberId} order by org_id`;
  const target = { kind: 'member', id: memberId };
  for (const { id: orgId } of organizations.length > 0 ? organizations : [{ id: null }]) {
    await recordAct(tx, { ...act, orgId, target });
  }
  if (noticeSubjects[act.act]) {
    const at = new Date().toISOString();
    const payload = { id: randomUUID(), member_id: memberId, act: act.act, at, to };
    await enqueue(tx, [{ task: 'members.mail_notice', payload }]);
  }
}
