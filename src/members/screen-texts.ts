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
