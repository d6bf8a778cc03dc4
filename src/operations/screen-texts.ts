/** What Settings, Mail says. */
export const mailTexts = {
  title: 'Mail',
  about:
    'Whether the mails of your surveys arrive, as far as the mail server, DNS and the public address decide it. It is looked up when this page is opened.',
  looking: 'DNS is asked now.',
  look: 'Look now',
  again: 'Look again',
  tooLong: 'DNS gave no answer in time. Look again in a moment.',
  noServer: {
    state: 'No mail server is configured',
    meaning: 'Mails of your surveys and mails to members reach no address. They stay in the',
    mailbox: 'built-in mailbox',
    where: ', which opens on the machine that askback runs on.',
    operator: 'To send them, an operator sets',
    restart: 'and starts askback again.',
    documentation:
      'writes configuration.md, which says what to set under “The mail server”, and mail.md, which says what makes mails arrive.',
  },
  states: { ok: 'In order', warn: 'To improve', fail: 'To mend' },
  records: {
    add: 'Add this record to DNS',
    change: 'Change this record in DNS',
  },
} as const;
