import { mostInvitationsADay } from './invite.ts';
import { shortestPassword } from './password.rules.ts';

/** The sentences of the screens by which members come in. */
export const signInTexts = {
  title: 'Sign in',
  about: 'Survey feedback, hosted by your own team.',
  docs: 'API documentation',
  wrong: 'The email or the password is wrong. Try again, or ask for a link to set a new password.',
  email: 'Email',
  password: 'Password',
  button: 'Sign in',
  resetLink: 'Forgot password?',
  or: 'or',
  signedOut: 'You are signed out.',
  noPassword: 'This server takes no passwords.',
};

export const welcomeTexts = {
  title: 'Welcome to askback',
  about: 'You are the first here. Your account will own the organization and run this server.',
  name: 'Name',
  email: 'Email',
  password: 'Password',
  emailHelp: (provider: string) =>
    `The address that ${provider} has for you. This server takes no passwords: you sign in there from now on.`,
  passwordHelp: `${shortestPassword} characters or more. A few words that do not belong together are good.`,
  organization: 'Organization',
  organizationHelp: 'Your company or team, as surveys and mails show it. You can change it later.',
  button: 'Create account',
  gone: 'This welcome link no longer works: it was used, a newer one was made, or 24 hours have passed. While there is no account, restarting the server prints a new link; askback member invite --operator makes one at any time.',
};

export const proveTexts = {
  title: 'Confirm that it is you',
  about: (email: string) =>
    `You are signed in as ${email}. This act needs a proof that is at most an hour old.`,
  password: 'Password',
  button: 'Continue',
  wrong: 'The password is wrong.',
  noPassword:
    'Your account has no password. Sign out, sign in again the way you usually do, and repeat the act.',
};

export const resetTexts = {
  title: 'Forgot password?',
  about:
    'Enter the address that you sign in with. If it has an account, a link to set a new password is on its way within a minute.',
  email: 'Email',
  button: 'Send the link',
  sentTitle: 'Look into your mail',
  sent: 'If this address has an account, a link to set a new password is on its way. It works once, within an hour.',
  sentHere:
    'No mail server is set. If this address has an account, the link is in the built-in mailbox of this server, which its operator can read; askback member reset makes one too.',
  noMail:
    'Nothing came? Look into spam, or ask the operator of this server: askback member reset makes a link.',
  back: 'Back to sign in',
  newTitle: 'Set a new password',
  newAbout: 'A new password signs you out everywhere.',
  newPassword: 'New password',
  save: 'Save',
  changed: 'Your password was changed. Sign in with it.',
  gone: 'This link to set a password no longer works: it was used, a newer password was set, or an hour has passed. Ask for a new link.',
};

export const invitationTexts = {
  title: (place: string) => `Join ${place}`,
  about: (role: string, place: string) => `You are invited to ${place} as ${role}.`,
  aboutOperator: 'You are invited to run this server as an operator.',
  email: 'Email',
  name: 'Name',
  password: 'Password',
  create: 'Create account',
  join: 'Join',
  for: (email: string) => `The invitation is for ${email}.`,
  hasAccount: (email: string) => `There is an account for ${email}. Sign in with it to join.`,
  signedInAs: (email: string) =>
    `You are signed in as ${email}, and the invitation is for another address.`,
  signIn: 'Sign in',
  joined: (place: string) => `You have joined ${place}.`,
  gone: 'This invitation no longer works: it was used, withdrawn or replaced, or seven days have passed. Ask an owner of the organization to invite you again.',
};

const roleMeanings = {
  viewer: 'Sees answers, contacts, surveys, summaries and deliveries.',
  editor: 'Also makes and sends surveys, releases answers, and runs webhooks.',
  owner: 'Also has API keys, members, settings, erasing and the audit log.',
};

export const memberTexts = {
  title: 'Members',
  list: 'Members of the organization',
  name: 'Name',
  email: 'Email',
  role: 'Role',
  secondStep: 'Second step',
  lastUsed: 'Last seen',
  never: 'never',
  acts: 'Change',
  you: 'you',
  changeRole: 'Change role',
  remove: 'Remove',
  invite: 'Invite',
  inviteTitle: 'Invite a member',
  inviteAbout: 'A mail with a link goes to the address. It works once, within 7 days.',
  withdraw: 'Withdraw',
  pending: 'Invitations that wait',
  pendingEmpty: 'No invitation waits for an answer.',
  until: 'Works until',
  roleMeanings,
  invited: 'The invitation is on its way.',
  invitedHere:
    'The invitation was made, and goes to no address, because no mail server is set. An operator of this server can read it in the built-in mailbox and hand its link over.',
  linkTitle: 'The link of the invitation',
  linkLabel: 'Invitation link',
  linkAbout:
    'It was mailed as well, and is shown only this once. You may hand it over yourself: it lets its reader join in the name of the invited address.',
  linkAboutHere:
    'It is shown only this once. No mail server is set, so hand it over yourself: it lets its reader join in the name of the invited address.',
  tooMany: (next: string) =>
    `No invitation was sent: an organization sends at most ${mostInvitationsADay} in 24 hours. ${next}`,
  alreadyMember: 'This address belongs to a member already. Change the role in the list.',
  changeTitle: (name: string) => `Change the role of ${name}`,
  changeAbout: 'The new role holds from the very next page.',
  changed: 'The role was changed.',
  removeTitle: (name: string) => `Remove ${name}`,
  removeMeans: (name: string) =>
    `${name} loses access to this organization at once. What ${name} has made stays, and so does the account with its other organizations.`,
  removed: 'The member was removed.',
  lastOwner: 'This is the last owner. Make another member an owner first.',
  withdrawTitle: 'Withdraw the invitation',
  withdrawMeans: (email: string) => `The link that ${email} got stops working.`,
  withdrawn: 'The invitation was withdrawn.',
};
