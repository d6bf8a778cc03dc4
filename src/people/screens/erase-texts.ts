import type { ErasureCounts } from '../erasure/counts.ts';

/** What the screens of erasures say. */
export const eraseTexts = {
  erase: 'Erase',
  title: 'Erase this person',
  means: (address: string) =>
    `Everything that leads to ${address} is deleted for good: its contacts in all surveys, mails, visits, comments and what was made of them. Nothing brings it back.`,
  suppressed: 'The address is kept as a keyed hash only, so that no survey is mailed to it again.',
  scores: 'Scores',
  keep: 'Keep as anonymous',
  keepMeans: 'Past numbers stay as they are.',
  delete: 'Delete too',
  deleteMeans: 'Past numbers change.',
  address: 'Email',
  wrong: 'This is not the address of this person.',
  erased: 'The person is erased. The first receipt of this list is the proof.',
  listTitle: 'Erased people',
  list: 'Erased people',
  listAbout:
    'A receipt names no address. Only its keyed hash is left: type an address to find its receipts.',
  find: 'Address',
  none: 'No person was erased yet',
  noneMeans: 'Erase a person on the page of that person. The receipt then stands here.',
  noneFound: 'No receipt of this address',
  noneFoundMeans: 'It was never erased in this organization.',
  allow: 'Allow again',
  allowed: 'The address may be added and mailed again.',
  receipt: 'Receipt',
  nothing: 'nothing else',
  scoresKept: 'Scores are kept, anonymous.',
  scoresDeleted: 'Scores are deleted.',
} as const;

/** Each kind of what was erased, of one and of several. */
export const kindTexts: Readonly<Record<keyof ErasureCounts, readonly [string, string]>> = {
  contacts: ['contact', 'contacts'],
  mails: ['mail', 'mails'],
  blocked_mails: ['blocked mail', 'blocked mails'],
  openings: ['visit', 'visits'],
  responses: ['response', 'responses'],
  properties: ['property of another contact', 'properties of other contacts'],
  comments: ['comment', 'comments'],
  notes: ['note', 'notes'],
  analyses: ['analysis', 'analyses'],
  summaries: ['quote in a summary', 'quotes in summaries'],
  deliveries: ['delivery', 'deliveries'],
  campaign_results: ['result of a campaign', 'results of campaigns'],
  suppressions: ['suppression', 'suppressions'],
  uploads: ['uploaded list or line', 'uploaded lists and lines'],
  stored_answers: ['stored answer', 'stored answers'],
  mailbox_messages: ['message in the mailbox', 'messages in the mailbox'],
  audit_events: ['audit event', 'audit events'],
};
