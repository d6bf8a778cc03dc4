/** What Settings, Mail says. */
export const mailTexts = {
  title: 'Mail',
  about:
    'Whether the mails of your surveys arrive, as far as the mail server, DNS and the public address decide it. It is looked up when this page is opened.',
  looking: 'DNS is asked now.',
  look: 'Look now',
  again: 'Look again',
  tooLong: 'DNS gave no answer in time. Look again in a moment.',
  states: { ok: 'In order', warn: 'To improve', fail: 'To mend' },
  records: {
    add: 'Add this record to DNS',
    change: 'Change this record in DNS',
  },
} as const;
