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
  response?: string | undefined;
  responseCode?: number | undefined;
};

/** What it means that no connection could be had. */
export function outcomeOf(error: SmtpError): MailOutcome {
  const { response, responseCode: code } = error;
  if (code && isRefusal(code)) return refusal({ code, text: response ?? error.message });
  return { kind: 'lost', reason: tidy(error.message) || error.code || 'the connection failed' };
}

/** The first digit of a reply's code says what kind it is. */
const kindOf = (code: number) => Math.trunc(code / 100);
export const isDone = (code: number) => kindOf(code) === 2;
export const asksForMore = (code: number) => kindOf(code) === 3;
const isTransient = (code: number) => kindOf(code) === 4;
export const isRefusal = (code: number) => isTransient(code) || kindOf(code) === 5;

/** Whether the server asks for less: 421 too busy or too many connections, 454 try later. */
export const asksForLess = (outcome: MailOutcome) =>
  outcome.kind === 'refused' && (outcome.code === 421 || outcome.code === 454);

/** Whether the connection can carry another message after this one. */
export const leavesConnectionUsable = (outcome: MailOutcome) =>
  outcome.kind === 'accepted' || (outcome.kind === 'refused' && outcome.code !== 421);

/** What a server says no with. Only where the recipient is named: 5.1.x at MAIL is about the sender. */
export function refusal(
  { code, text }: { code: number; text: string },
  atRecipient = false,
): MailOutcome {
  const response = tidy(text);
  const enhanced = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1] ?? null;
  const refused = { kind: 'refused', code, enhanced, response } as const;
  if (isTransient(code)) return { ...refused, permanent: false };
  const unknownMailbox = atRecipient && /^5\.1\./.test(enhanced ?? '');
  return { ...refused, permanent: true, unknownMailbox };
}

/** The server said how much it takes, so this was not even tried. */
export const tooLarge = (most: number): MailOutcome => ({
  kind: 'refused',
  permanent: true,
  unknownMailbox: false,
  code: 552,
  enhanced: '5.3.4',
  response: `the message is larger than the ${most} bytes that the server takes`,
});

const longestResponse = 500;

/** On one line and of bounded length: it is shown to people and kept with the row. */
export const tidy = (text: string) =>
  text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, longestResponse)
    .toWellFormed(); // last: the cut may leave half a pair, which Postgres refuses
