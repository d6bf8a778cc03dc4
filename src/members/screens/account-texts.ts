/** The sentences of the Account screens. */
export const accountTexts = {
  title: 'Account',
  profile: 'Profile',
  name: 'Name',
  nameHelp: 'Colleagues see it next to what you do.',
  email: 'Email',
  emailHelp: 'The address you were invited by. It cannot be changed.',
  save: 'Save',
  nameSaved: 'The name is saved.',

  password: 'Password',
  currentPassword: 'Current password',
  newPassword: 'New password',
  passwordAbout: 'A new password ends your other sessions.',
  passwordNone: 'Your account has no password. With one you can sign in by email as well.',
  passwordSet: 'The password is changed. Your other sessions have ended.',
  passwordWrong: 'This is not your current password.',
  setPassword: 'Set a password',

  passkeys: 'Passkeys',
  passkeysAbout:
    'A passkey signs you in with your finger, your face or a security key, without a password.',
  passkeysNone: 'No passkeys yet',
  passkeysUnavailable:
    'Browsers have passkeys only where this server is reached by a host name over https, or as localhost. Its public URL is neither.',
  addPasskey: 'Add a passkey',
  passkeyName: 'Name',
  passkeyNameHelp: 'What you will know it by, such as the device it is on.',
  passkeyAdded: 'The passkey is added. You can sign in with it from now on.',
  passkeyRefused: 'The passkey was not accepted. Try again.',
  passkeyRenamed: 'The passkey has a new name.',
  passkeyRemoved: 'The passkey is removed.',
  rename: 'Rename',
  remove: 'Remove',
  removePasskey: (name: string) => `Remove the passkey “${name}”`,
  removePasskeyMeans:
    'It signs you in no more. Delete it on the device as well, where it stays otherwise.',

  codes: 'One-time codes',
  codesAbout:
    'After your password, sign-in asks for a code of six digits from an app on your phone. A password that was stolen is then not enough.',
  codesOn: 'On',
  codesOff: 'Off',
  codesOnSince: 'On since',
  recoveryLeft: (left: string) =>
    `${left} left. Each replaces a code once, when the phone is lost.`,
  switchOn: 'Switch on',
  switchOff: 'Switch off',
  newRecovery: 'New recovery codes',
  scan: 'Scan this with your authenticator app',
  scanAbout:
    'Any app for one-time codes will do. Where it cannot scan, type the key below into it.',
  key: 'Key',
  qr: 'QR code of the key for the authenticator app',
  code: 'Code',
  codeHelp: 'The six digits that the app shows now. They prove that it has the key.',
  codeWrong:
    'This is not the code of this key. Check the clock of the phone, and try the next code.',
  codesNowOn: 'One-time codes are on',
  recoveryTitle: 'Store your recovery codes',
  recoveryAbout:
    'Each signs you in once without your phone. They are shown only now: store them where your password is not.',
  recoveryDone: 'I have stored them',
  offTitle: 'Switch one-time codes off',
  offMeans:
    'Your password alone will sign you in. The key in your app and your recovery codes stop working.',
  codesNowOff: 'One-time codes are off.',
  renewTitle: 'Make new recovery codes',
  renewMeans: 'The recovery codes until now stop working.',
  renew: 'New recovery codes',

  sso: 'Single sign-on',
  ssoLinked: (name: string) => `Your account is linked with ${name}.`,
  ssoOther: 'Your account is linked with a provider that this server no longer uses.',
  ssoNone: (name: string) => `Your account is linked with ${name} when you first sign in there.`,
  unlink: 'Remove link',
  unlinkTitle: 'Remove the link',
  unlinkMeans:
    'The next sign-in there links the account again, with the person who has your address there.',
  unlinked: 'The link is removed.',

  sessions: 'Sessions',
  sessionsAbout: 'Browsers that are signed in as you.',
  thisSession: 'this browser',
  end: 'End',
  endOthers: 'End all others',
  sessionEnded: 'The session has ended.',
  sessionsEnded: 'All other sessions have ended.',
};
