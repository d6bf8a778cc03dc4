import { commandActor, commandWriter } from '../../src/audit/acts.ts';
import { type InviteTools, inviteMember, inviteOperator } from '../../src/members/invite.ts';
import { listInvitations } from '../../src/members/queries.ts';
import { createResetLink } from '../../src/members/reset.ts';
import { newToken } from '../../src/sessions/session.ts';
import { joinOrganization, makeMember } from '../support/make/session.ts';
import type { BrowserScene, ScreenEntry } from './scene.ts';

/** Screens for sign-in, the account, members and operators. */
export const memberEntries: readonly ScreenEntry[] = [
  { name: 'sign-in', as: null, path: '/sign-in' },
  { name: 'lost-password', as: null, path: '/forgot' },
  { name: 'lost-password-sent', as: null, path: '/forgot/sent' },
  { name: 'reset', as: null, path: resetPage },
  { name: 'reset-gone', as: null, path: `/reset/${newToken()}`, status: 410 },
  { name: 'invitation-new', as: null, path: invitationPage },
  { name: 'invitation-account', as: null, path: invitationOfMember },
  { name: 'invitation-gone', as: null, path: `/invitations/${newToken()}`, status: 410 },
  { name: 'welcome-gone', as: null, path: `/welcome/${newToken()}`, status: 410 },
  { name: 'prove', as: 'owner', path: '/account/prove' },
  { name: 'settings-members', as: 'owner', path: memberPage('') },
  { name: 'settings-member-role', as: 'owner', path: memberPage('/role') },
  { name: 'settings-member-remove', as: 'owner', path: memberPage('/remove') },
  { name: 'settings-member-withdraw', as: 'owner', path: withdrawPage },
  { name: 'operator', as: 'operator', path: '/operator' },
  { name: 'operator-organization-new', as: 'operator', path: '/operator/organizations/new' },
  { name: 'operator-organization', as: 'operator', path: operatedPage },
  {
    name: 'operator-organization-delete',
    as: 'operator',
    path: async (scene) => `${await operatedPage(scene)}/delete`,
  },
  { name: 'operator-new', as: 'operator', path: '/operator/operators/new' },
  { name: 'operator-remove', as: 'operator', path: operatorRemoval },
];

const inviteTools = ({ db, base }: BrowserScene): InviteTools => ({
  db,
  publicUrl: base,
  mails: false,
  secrets: { seal: () => Buffer.alloc(0) },
});

const pathOf = (url: string) => new URL(url).pathname;

async function resetPage({ db, base }: BrowserScene) {
  const email = `lost-${newToken().slice(0, 8)}@example.com`;
  await makeMember(db, { email, name: 'Marit Aas' });
  return pathOf((await createResetLink({ db, publicUrl: base }, commandActor(), email)).url);
}

async function withdrawPage(scene: BrowserScene) {
  await invitationPage(scene);
  const [invitation] = await listInvitations(scene.db, scene.full.id);
  return `/o/${scene.full.slug}/settings/members/invitations/${invitation!.id}/withdraw`;
}

async function invitationPage(scene: BrowserScene) {
  const given = { email: 'kim.svensson@example.com', role: 'editor' } as const;
  return pathOf((await inviteMember(inviteTools(scene), commandWriter(scene.full.id), given)).url);
}

async function invitationOfMember(scene: BrowserScene) {
  const email = `known-${newToken().slice(0, 8)}@example.com`;
  await makeMember(scene.db, { email });
  return pathOf((await inviteOperator(inviteTools(scene), commandActor(), email)).url);
}

function memberPage(act: string) {
  return async (scene: BrowserScene) => {
    const { db, full } = scene;
    const email = `ines-${newToken().slice(0, 8)}@example.com`;
    const member = await makeMember(db, { name: 'Inês Almeida', email });
    await joinOrganization(db, { org: full.id, member, role: 'editor' });
    await invitationPage(scene);
    return `/o/${full.slug}/settings/members${act && `/${member}${act}`}`;
  };
}

function operatedPage({ empty }: BrowserScene) {
  return `/operator/organizations/${empty.id}`;
}

async function operatorRemoval({ db }: BrowserScene) {
  const id = await makeMember(db, { name: 'Night shift', is_operator: true });
  return `/operator/operators/${id}/remove`;
}
