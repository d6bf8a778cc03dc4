/** The sentences of the second step. */
export const codeTexts = {
  title: 'One-time code',
  about: 'Your password is right. Enter the code that your authenticator app shows now.',
  aboutRecovery: 'Enter one of the recovery codes that you stored. Each works once.',
  code: 'Code',
  recoveryCode: 'Recovery code',
  button: 'Sign in',
  useRecovery: 'Use a recovery code',
  useApp: 'Use the authenticator app',
  empty: 'Enter the code.',
  wrong: 'The code is wrong, or it was used already. Wait for the next one.',
};

/** Ways to sign in other than a password. */
export const otherWayTexts = {
  passkey: 'Sign in with a passkey',
  provePasskey: 'Confirm with a passkey',
  sso: (name: string) => `Sign in with ${name}`,
  proveSso: (name: string) => `Confirm with ${name}`,
  needsScript: 'Passkeys need JavaScript, which is off in this browser.',
  passkeyRefused: 'This passkey is not known here, or it was refused. Sign in another way.',
  passkeyLate: 'The request for the passkey was too old. Try again.',
};

/** What a sign-in with the OpenID provider may end in. */
export const ssoTexts = {
  failedTitle: (name: string) => `The sign-in with ${name} was not finished`,
  refusedTitle: (name: string) => `Your account at ${name} cannot sign in here`,
  back: 'Back to sign-in',
  failed: {
    unreachable: (name: string) =>
      `${name} does not answer now. Try again in a moment, or sign in another way.`,
    cancelled: (name: string) => `You turned back at ${name}. Nothing has changed.`,
    refused: (name: string) =>
      `${name} and this server did not agree. Try again; if it stays so, the reason is in the log of this server.`,
  },
  refused: {
    late: () =>
      'It was begun in another browser, was used already, or took longer than ten minutes.',
    no_email: (name: string) => `${name} passed on no email address for you.`,
    unverified: (name: string) =>
      `${name} does not confirm that your email address is yours. Confirm it there, and sign in again.`,
    domain: () => 'Addresses of your domain are not allowed to sign in.',
    other_account: (name: string) =>
      `Your address belongs to another account at ${name}. An owner can ask for that to be cleared.`,
    no_access: () =>
      'Your address has no invitation yet. Ask an owner of the organization for one.',
  },
  notProved: (name: string) =>
    `${name} did not confirm the account that you are signed in with here. Try again.`,
};
