import type { MailOutcome } from '../../../src/lib/smtp/connection.ts';

export const accepted = (): MailOutcome => ({ kind: 'accepted', response: '250 ok' });

/** A temporary rejection. */
export const busy = (response = '450 4.2.1 try again later'): MailOutcome => ({
  kind: 'refused',
  permanent: false,
  code: 450,
  enhanced: null,
  response,
});

/** A permanent rejection. */
export const rejected = (
  response: string,
  { unknownMailbox = false, about = 'mail' as 'server' | 'sender' | 'policy' | 'mail' } = {},
): MailOutcome => ({
  kind: 'refused',
  permanent: true,
  code: 550,
  enhanced: null,
  response,
  unknownMailbox,
  about,
});

/** The mail did not reach the server. */
export const lost = (reason = 'withdrawn'): MailOutcome => ({ kind: 'lost', reason });

/** The server received the whole mail and did not reply. */
export const unanswered = (reason: string): MailOutcome => ({ kind: 'unknown', reason });
