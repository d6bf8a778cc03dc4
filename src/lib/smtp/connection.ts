import { Readable } from 'node:stream';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { unlessAborted, withinMs } from '../async/deadline.ts';
import type { SmtpSettings } from './settings.ts';

export type Connection = { smtp: SMTPConnection; messages: number };
type Opened = { connection: Connection } | { failure: MailOutcome };

export function open(settings: SmtpSettings, signal?: AbortSignal): Promise<Opened> {
  const smtp = new SMTPConnection(connectionOptions(settings));
  // No other listener exists while the connection is idle, and an error without one would end the process.
  smtp.on('error', () => {});
  const attempt = new Promise<Opened>((resolve) => {
    const fail = (error: SmtpError) => {
      resolve({ failure: outcomeOf(error) });
      smtp.close();
    };
    smtp.once('error', fail);
    smtp.once('end', () => fail(new Error('the server closed the connection')));
    smtp.connect((error) => {
      if (error) return fail(error);
      const done = () => resolve({ connection: { smtp, messages: 0 } });
      if (!settings.auth) return done();
      smtp.login(settings.auth, (refused) => (refused ? fail(refused) : done()));
    });
  });
  return bounded(attempt, { settings, signal, giveUp: (reason) => giveUpOpening(smtp, reason) });
}

function giveUpOpening(smtp: SMTPConnection, reason: string): Opened {
  smtp.close();
  return { failure: { kind: 'lost', reason } };
}

type Message = { envelope: Envelope; bytes: Buffer; signal?: AbortSignal | undefined };

const chunkBytes = 16 * 1024;

/** One message over an open connection, which is closed if the server does not keep to the protocol. */
export function transmit(
  { smtp }: Connection,
  { envelope, bytes, signal }: Message,
  settings: SmtpSettings,
): Promise<MailOutcome> {
  /** True before the final dot goes out: from then on the message may arrive. */
  let isWhole = false;
  const body = Readable.from(chunksOf(bytes)).once('end', () => {
    isWhole = true;
  });
  const failed = (error: SmtpError) => outcomeOf(error, isWhole ? 'unknown' : 'lost');
  const giveUp = (reason: string): MailOutcome => {
    smtp.close();
    return failed(new Error(reason));
  };
  const attempt = new Promise<MailOutcome>((resolve) => {
    smtp.send({ ...envelope, size: bytes.length }, body, (error, info) => {
      // A reply in the middle of the message: the rest of it would be read as commands.
      if (!isWhole && (!error || isAfterData(error))) smtp.close();
      if (error) resolve(failed(error));
      else if (!isWhole) resolve({ kind: 'lost', reason: 'the server replied too early' });
      else resolve({ kind: 'accepted', response: tidy(info.response) });
    });
  });
  return bounded(attempt, { settings, signal, giveUp });
}

function* chunksOf(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

type Bounds<T> = {
  settings: SmtpSettings;
  signal?: AbortSignal | undefined;
  giveUp: (reason: string) => T;
};

/**
 * An attempt that ends in any case. The connection itself watches for a silent server; this limit is for
 * one that answers a byte at a time, and for a caller whose time is over.
 */
async function bounded<T>(
  attempt: Promise<T>,
  { settings, signal, giveUp }: Bounds<T>,
): Promise<T> {
  const limited = unlessAborted(attempt, signal, () => giveUp('the time for sending was over'));
  return await withinMs(limited, settings.wholeTimeoutMs, () => giveUp('the server took too long'));
}

function connectionOptions(settings: SmtpSettings) {
  const { host, port, tls, verify, helo, connectTimeoutMs, silenceTimeoutMs } = settings;
  return {
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'required',
    opportunisticTLS: tls === 'opportunistic',
    ignoreTLS: tls === 'none',
    // Encryption without a proven name still beats none, which is what an opportunistic one falls to.
    tls: { rejectUnauthorized: verify && tls !== 'opportunistic' },
    name: helo ?? undefined,
    connectionTimeout: connectTimeoutMs,
    greetingTimeout: connectTimeoutMs,
    dnsTimeout: connectTimeoutMs,
    socketTimeout: silenceTimeoutMs,
    socketCloseTimeout: 1000,
    maxResponseSize: 64 * 1024,
  };
}

export type Envelope = { from: string; to: string };

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

type SmtpError = Error & {
  code?: string | undefined;
  command?: string | undefined;
  response?: string | undefined;
  responseCode?: number | undefined;
};

const isAfterData = ({ code, command }: SmtpError) => code === 'EMESSAGE' && command === 'DATA';
/** The server said how much it takes, so the message was not even tried. */
const isTooLarge = ({ code, command }: SmtpError) => code === 'EMESSAGE' && command === 'MAIL FROM';

function outcomeOf(error: SmtpError, otherwise: 'lost' | 'unknown' = 'lost'): MailOutcome {
  const { response, responseCode: code, command } = error;
  if (isTooLarge(error)) return refusal({ code: 552, text: `552 5.3.4 ${error.message}` });
  if (code && isRefusal(code)) {
    return refusal({ code, text: response ?? error.message }, command === 'RCPT TO');
  }
  const reason = tidy(response ?? error.message) || error.code || 'the connection failed';
  return { kind: otherwise, reason };
}

const isTransient = (code: number) => code >= 400 && code < 500;
const isRefusal = (code: number) => code >= 400 && code < 600;

export const asksForLess = (outcome: MailOutcome) =>
  outcome.kind === 'refused' && (outcome.code === 421 || outcome.code === 454);

export const leavesConnectionUsable = (outcome: MailOutcome) =>
  outcome.kind === 'accepted' || (outcome.kind === 'refused' && outcome.code !== 421);

/** What a server says no with. Only where the recipient is named: 5.1.x at MAIL is about the sender. */
function refusal({ code, text }: { code: number; text: string }, atRecipient = false): MailOutcome {
  const response = tidy(text);
  const enhanced = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1] ?? null;
  const refused = { kind: 'refused', code, enhanced, response } as const;
  if (isTransient(code)) return { ...refused, permanent: false };
  const unknownMailbox = atRecipient && /^5\.1\./.test(enhanced ?? '');
  return { ...refused, permanent: true, unknownMailbox };
}

/** For an address that no server would take. */
export const unmailable = (response: string): MailOutcome => ({
  kind: 'refused',
  permanent: true,
  unknownMailbox: false,
  code: 553,
  enhanced: '5.1.3',
  response,
});

const longestResponse = 500;

/** On one line and of bounded length: it is shown to people and kept with the row. */
export const tidy = (text: string) =>
  text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, longestResponse)
    .toWellFormed(); // last: the cut may leave half a pair, which Postgres refuses
