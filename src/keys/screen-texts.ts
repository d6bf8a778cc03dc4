/** What the screens of the API keys say. */
export const keyTexts = {
  title: 'API Keys',
  create: 'New API Key',
  about: (organization: string) => `Anyone who has one acts for ${organization}.`,
  none: 'No key yet',
  noneMeans: 'Programs read answers and send surveys with a key. New API Key makes one.',
  noneRevoked: 'No key was revoked',
  permission: { read: 'Read', write: 'Read and write' },
  permissionMeans: {
    read: 'Read: sees everything, changes nothing',
    write: 'Read and write: also sends mails and changes webhooks',
  },
  copy: (name: string) => `Copy the key “${name}” now`,
  shownOnce: 'It is shown only once. askback keeps a hash, so that nothing can show it again.',
  tryIt: 'Send it as the header X-API-Key. For example:',
  nameHelp: 'What will use it, such as “website”.',
  expiryHelp: 'After that day the key stops working.',
  expiry: {
    '30d': 'In 30 days',
    '90d': 'In 90 days',
    '365d': 'In a year',
    never: 'Never',
  },
  submit: 'Create key',
  revoke: 'Revoke',
  revokeTitle: (name: string) => `Revoke the key “${name}”`,
  revokeMeans:
    'What uses this key stops working at once: its very next request is refused. A revoked key cannot be made to work again; a new one takes its place.',
  revoked: (name: string) => `The key “${name}” is revoked.`,
} as const;
