import { count, counted } from '../web/app/lists.tsx';

/** What the screens of contacts say. */
export const contactTexts = {
  title: 'Contacts',
  of: (survey: string) => `Contacts of ${survey}`,
  none: 'This survey has no contacts yet.',
  noneMeans: (askAfterDays: number | null) =>
    `Upload a list, or add one contact. ${sendingMeans(askAfterDays)}`,
  noneFound: 'No contact matches.',
  upload: 'Upload',
  uploadTitle: 'Upload a list',
  uploadHelp:
    'CSV with a column of addresses, of any separator, with or without a header; at most 100,000 rows.',
  pasteHelp: 'Or paste rows from a spreadsheet.',
  add: 'Add',
  addTitle: 'Add one',
  added: 'The contact is on the list.',
  mapTitle: (name: string) => `Columns of ${name}`,
  importedTitle: (name: string) => `Imported ${name}`,
  mapMeans: (rows: number) =>
    `${counted(rows, 'row')}. Say what the columns are. Columns that are kept become properties, to be used in texts and filters.`,
  import: 'Import',
  imported: ({ added, known, repeated, invalid }: Imported) =>
    [
      `${counted(added, 'contact')} added`,
      `${count(known)} known before`,
      ...(repeated > 0 ? [`${count(repeated)} listed twice`] : []),
      ...(invalid > 0 ? [`${counted(invalid, 'line')} left out`] : []),
    ].join(', '),
  rejects: 'Lines that were left out',
} as const;

/** When a contact that is added is mailed. */
function sendingMeans(askAfterDays: number | null): string {
  if (askAfterDays === null) return 'Nothing is sent before you press Send.';
  const when =
    askAfterDays === 0 ? 'as soon as it is added' : `${counted(askAfterDays, 'day')} later`;
  return `This survey asks by itself: it mails each contact ${when}.`;
}

type Imported = { added: number; known: number; repeated: number; invalid: number };

const statusWords = {
  pending: ['waiting', 'Not asked yet'],
  sending: ['waiting', 'Being mailed'],
  sent: ['fine', 'Mailed'],
  responded: ['fine', 'Answered'],
  failed: ['failed', 'Failed'],
  bounced: ['failed', 'Bounced'],
  unsubscribed: ['skipped', 'Unsubscribed'],
} as const;

export type ContactStatus = keyof typeof statusWords;

export const statusOf = (status: ContactStatus) => statusWords[status];
