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
