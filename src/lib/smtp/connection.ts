import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { unlessAborted, withinMs } from '../async/deadline.ts';
import { type Conversation, converse } from './conversation.ts';
import { type MailOutcome, outcomeOf, type SmtpError } from './outcome.ts';
import type { SmtpSettings } from './settings.ts';
import { type Abilities, type Envelope, transact } from './transaction.ts';

export type { Envelope } from './transaction.ts';

/** Where a test may stop the world: before anything of a message is said, and after its 250. */
export type Stage = 'before_data' | 'after_accepted';
export type OnStage = (stage: Stage) => void | Promise<void>;

export type Connection = {
  smtp: SMTPConnection;
  server: Conversation;
  abilities: Abilities;
  messages: number;
};
export type Opened = { connection: Connection } | { failure: MailOutcome };

/** Connects, greets, encrypts and logs in, or says what went wrong. */
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
      const abilities = readAbilities(smtp.lastServerResponse || '');
      const done = () =>
        resolve({ connection: { smtp, server: converse(smtp), abilities, messages: 0 } });
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

/** What its answer to EHLO says that the server can do. */
const readAbilities = (ehlo: string): Abilities => {
  const size = /^250[ -]SIZE(?: +(\d+))?/im.exec(ehlo);
  return {
    pipelining: /^250[ -]PIPELINING\b/im.test(ehlo),
    size: size !== null,
    largest: Number(size?.[1] ?? 0) || null,
  };
};

type Message = { envelope: Envelope; bytes: Buffer; signal?: AbortSignal | undefined };

/** One message over an open connection, which is closed if the server does not keep to the protocol. */
export function transmit(
  { smtp, server, abilities }: Connection,
  { envelope, bytes, signal }: Message,
  settings: SmtpSettings,
): Promise<MailOutcome> {
  const message = { envelope, bytes, dot: { said: false } };
  const giveUp = (reason: string): MailOutcome => {
    const kind = message.dot.said ? 'unknown' : 'lost';
    smtp.close();
    return { kind, reason };
  };
  const attempt = transact(server, abilities, message);
  return bounded(attempt, { settings, signal, giveUp });
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
