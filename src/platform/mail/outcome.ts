/** What became of one message. A server that says no, or nothing, is an outcome and never thrown. */
export type MailOutcome =
  | { kind: 'accepted'; response: string }
  | (Refused & { permanent: true; unknownMailbox: boolean })
  | (Refused & { permanent: false })
  /** Nothing reached the mailbox: the connection ended before the final dot. */
  | { kind: 'lost'; reason: string }
  /** The final dot went out and no answer came back: it may have been delivered. */
  | { kind: 'unknown'; reason: string };

type Refused = { kind: 'refused'; code: number; enhanced: string | null; response: string };

/** What nodemailer's connection puts on its errors. */
export type SmtpError = Error & {
  code?: string | undefined;
  command?: string | undefined;
  response?: string | undefined;
  responseCode?: number | undefined;
};

/** What a failed attempt means, given whether the final dot had gone out by then. */
export function outcomeOf(error: SmtpError, dotSent: boolean): MailOutcome {
  const code = error.responseCode ?? 0;
  if (code >= 400 && code <= 599) return refusal(error, code);
  if (dotSent) return { kind: 'unknown', reason: wordsOf(error) };
  if (error.code === 'EMESSAGE') return tooLarge(error);
  return { kind: 'lost', reason: wordsOf(error) };
}

/** Whether the server asks for less: 421 too busy or too many connections, 454 try later. */
export const asksForLess = (outcome: MailOutcome) =>
  outcome.kind === 'refused' && (outcome.code === 421 || outcome.code === 454);

/** Whether the connection can carry another message after this one. */
export const leavesConnectionUsable = (outcome: MailOutcome) =>
  outcome.kind === 'accepted' || (outcome.kind === 'refused' && outcome.code !== 421);

function refusal(error: SmtpError, code: number): MailOutcome {
  const response = tidy(error.response ?? error.message);
  const enhanced = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1] ?? null;
  const refused = { kind: 'refused', code, enhanced, response } as const;
  if (code < 500) return { ...refused, permanent: false };
  // Only where the recipient is named: 5.1.x at MAIL FROM is about the sender.
  const unknownMailbox = error.command === 'RCPT TO' && /^5\.1\./.test(enhanced ?? '');
  return { ...refused, permanent: true, unknownMailbox };
}

/** The server said how much it takes, so this was not even tried. */
function tooLarge(error: SmtpError): MailOutcome {
  const response = tidy(error.message);
  return {
    kind: 'refused',
    permanent: true,
    unknownMailbox: false,
    code: 552,
    enhanced: '5.3.4',
    response,
  };
}

function wordsOf(error: SmtpError): string {
  return tidy(error.message) || error.code || 'the connection failed';
}

const longestResponse = 500;

/** On one line and of bounded length: it is shown to people and kept with the row. */
export const tidy = (text: string) =>
  text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, longestResponse)
    .toWellFormed(); // last: the cut may leave half a pair, which Postgres refuses
