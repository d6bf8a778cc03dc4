/** What an erasure deletes or empties, each with what it is in a sentence. */
export const erasedKinds = {
  contacts: 'contacts, one for each survey',
  mails: 'mails',
  blocked_mails: 'mails that a rule had blocked',
  openings: 'visits of links',
  responses: 'responses, made anonymous or deleted',
  properties: 'other contacts whose properties or name named the address',
  comments: 'comments, with those of others that named the address',
  notes: 'notes about responses',
  analyses: 'analyses of comments',
  summaries: 'summaries that quoted a comment',
  deliveries: 'deliveries with an excerpt of a comment',
  campaign_results: 'results of campaigns',
  suppressions: 'entries of the list of suppressed addresses',
  uploads: 'uploaded lists, and lines left out of others',
  stored_answers: 'stored answers of requests with an Idempotency-Key',
  mailbox_messages: 'messages in the built-in mailbox',
  audit_events: 'audit events whose contact was replaced by the hash',
} as const satisfies Record<string, string>;

export type ErasureCounts = Record<keyof typeof erasedKinds, number>;

export const addCounts = (one: ErasureCounts, other: ErasureCounts) =>
  Object.fromEntries(
    Object.entries(one).map(([kind, count]) => [kind, count + other[kind as keyof ErasureCounts]]),
  ) as ErasureCounts;
