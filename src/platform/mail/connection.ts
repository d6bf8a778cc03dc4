import type { Readable, Writable } from 'node:stream';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { type MailOutcome, outcomeOf, type SmtpError, tidy } from './outcome.ts';
import type { SmtpSettings } from './settings.ts';

export type Envelope = { from: string; to: string };

/** Where a test may stop the world: before anything of a message is said, and after its 250. */
export type Stage = 'before_data' | 'after_accepted';
export type OnStage = (stage: Stage) => void | Promise<void>;

export type Connection = { smtp: SMTPConnection; messages: number };
export type Opened = { connection: Connection } | { failure: MailOutcome };

/** Connects, greets, encrypts and logs in, or says what went wrong. */
export function open(settings: SmtpSettings, signal?: AbortSignal): Promise<Opened> {
  const smtp = new SMTPConnection(connectionOptions(settings));
  // Nobody else listens while the connection is idle, and an unheard error would end the process.
  smtp.on('error', () => {});
  const attempt = new Promise<Opened>((resolve) => {
    const fail = (error: SmtpError) => {
      resolve({ failure: outcomeOf(error, false) });
      smtp.close();
    };
    const done = () => resolve({ connection: { smtp, messages: 0 } });
    smtp.once('error', fail);
    smtp.once('end', () => fail(new Error('the server closed the connection')));
    smtp.connect((error) => {
      if (error) return fail(error);
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

/** One message over an open connection. The connection is closed unless the server is at ease. */
export function transmit(
  { smtp }: Connection,
  { envelope, bytes, signal }: Message,
  settings: SmtpSettings,
): Promise<MailOutcome> {
  const content = contentOf(bytes);
  const attempt = new Promise<MailOutcome>((resolve) => {
    const { from, to } = envelope;
    smtp.send({ from, to: [to], size: bytes.length }, content.source, (error, info) => {
      if (error) return resolve(outcomeOf(error, content.dotSent()));
      resolve({ kind: 'accepted', response: tidy(info.response) });
    });
  });
  const giveUp = (reason: string): MailOutcome => {
    const kind = content.dotSent() ? 'unknown' : 'lost';
    smtp.close();
    return { kind, reason };
  };
  return bounded(attempt, { settings, signal, giveUp });
}

/**
 * The message as something that nodemailer pipes into its dot-stuffing stream. A Buffer would do, but
 * this way we hold that stream, and its state says whether the final dot has been handed to the socket:
 * it has ended its input and nothing is left in it.
 */
function contentOf(bytes: Buffer) {
  let stuffing: (Writable & { readableLength: number }) | undefined;
  const source = {
    pipe(target: Writable & { readableLength: number }) {
      stuffing = target;
      target.write(bytes);
      target.end();
    },
  };
  return {
    source: source as unknown as Readable,
    dotSent: () => stuffing?.writableFinished === true && stuffing.readableLength === 0,
  };
}

type Bounds<T> = {
  settings: SmtpSettings;
  signal?: AbortSignal | undefined;
  giveUp: (reason: string) => T;
};

/**
 * An attempt that ends in any case. The silence of a server is watched by the connection itself; this
 * is for one that drips, and for a caller who has no more time.
 */
async function bounded<T>(
  attempt: Promise<T>,
  { settings, signal, giveUp }: Bounds<T>,
): Promise<T> {
  const given = Promise.withResolvers<T>();
  const stop = (reason: string) => given.resolve(giveUp(reason));
  const onAbort = () => stop('the time for sending was over');
  const timer = setTimeout(() => stop('the server took too long'), settings.wholeTimeoutMs);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    if (signal?.aborted) onAbort();
    return await Promise.race([attempt, given.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
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
