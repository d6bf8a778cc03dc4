import { once } from 'node:events';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { dotStuff } from './message.ts';
import type { SmtpSettings } from './settings.ts';

/** Hooks for tests: before a message is sent, and after the server accepted it. */
type Stage = 'before_data' | 'after_accepted';
export type OnStage = (stage: Stage) => void | Promise<void>;

export type Connection = {
  smtp: SMTPConnection;
  server: Conversation;
  extensions: Extensions;
  messages: number;
};
type Opened = { connection: Connection } | { failure: MailOutcome };

export function open(settings: SmtpSettings, signal?: AbortSignal): Promise<Opened> {
  const smtp = new SMTPConnection(connectionOptions(settings));
  // An error of an idle connection without a listener would end the process.
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
      const extensions = readExtensions(smtp.lastServerResponse || '');
      const done = () =>
        resolve({ connection: { smtp, server: converse(smtp), extensions, messages: 0 } });
      if (!settings.auth) return done();
      smtp.login(settings.auth, (refused) => (refused ? fail(refused) : done()));
    });
  });
  const giveUp = (reason: string): Opened => {
    smtp.close();
    return { failure: lost(reason) };
  };
  return limitTime(attempt, { settings, signal, giveUp });
}

const readExtensions = (ehlo: string): Extensions => {
  const size = /^250[ -]SIZE(?: +(\d+))?/im.exec(ehlo);
  return {
    pipelining: /^250[ -]PIPELINING\b/im.test(ehlo),
    size: size !== null,
    maxBytes: Number(size?.[1] ?? 0) || null,
  };
};

/** Sends a message, and closes the connection if the server violates the protocol. */
export function transmit(
  { smtp, server, extensions }: Connection,
  {
    envelope,
    bytes,
    signal,
  }: { envelope: Envelope; bytes: Buffer; signal?: AbortSignal | undefined },
  settings: SmtpSettings,
): Promise<MailOutcome> {
  const message = { envelope, bytes, dot: { isSent: false } };
  const giveUp = (reason: string): MailOutcome => {
    const kind = message.dot.isSent ? 'unknown' : 'lost';
    smtp.close();
    return { kind, reason };
  };
  const attempt = transact(server, extensions, message);
  return limitTime(attempt, { settings, signal, giveUp });
}

type TimeLimit<T> = {
  settings: SmtpSettings;
  signal: AbortSignal | undefined;
  giveUp: (reason: string) => T;
};

/** nodemailer watches for a silent server. This limit is for a server that drips bytes, and for callers that abort. */
async function limitTime<T>(
  attempt: Promise<T>,
  { settings, signal, giveUp }: TimeLimit<T>,
): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<T>();
  const late = () => resolve(giveUp('the server took too long'));
  const abort = () => resolve(giveUp('the time limit for sending was reached'));
  const timer = setTimeout(late, settings.wholeTimeoutMs);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  try {
    return await Promise.race([attempt, promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
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
    // With `opportunistic`, a rejected certificate would mean no encryption at all.
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

type Extensions = { pipelining: boolean; size: boolean; maxBytes: number | null };

/** Once `dot.isSent` is true, the message may arrive. */
type SmtpMessage = { envelope: Envelope; bytes: Buffer; dot: { isSent: boolean } };

async function transact(
  server: Conversation,
  { pipelining, size, maxBytes }: Extensions,
  { envelope, bytes, dot }: SmtpMessage,
): Promise<MailOutcome> {
  if (maxBytes !== null && bytes.length > maxBytes) return tooLarge(maxBytes);
  const commands = [
    `MAIL FROM:<${envelope.from}>${size ? ` SIZE=${bytes.length}` : ''}`,
    `RCPT TO:<${envelope.to}>`,
    'DATA',
  ];
  const failed = await begin(server, commands, pipelining);
  if (failed) return failed;

  const reply = await server.sayMessage(bytes, dot);
  if ('ended' in reply) return dot.isSent ? unknown(reply.ended) : lost(reply.ended);
  if (isDone(reply.code)) return { kind: 'accepted', response: tidy(reply.text) };
  return isRefusal(reply.code) ? refusal(reply, 'message') : unknown(tidy(reply.text));
}

const stages = ['sender', 'recipient', 'message'] as const;
const [atSender, , atData] = [0, 1, 2];
const goodbye = 421;

/** Pipelines the commands if the server allows it. Returns undefined when the server waits for the message. */
async function begin(server: Conversation, commands: readonly string[], pipelining: boolean) {
  const replies = pipelining ? server.say(...commands) : [];
  let failed: MailOutcome | undefined;
  let failedAt = -1;
  for (const [at, command] of commands.entries()) {
    const reply = await (replies[at] ?? server.say(command)[0]!);
    if ('ended' in reply) return failed ?? lost(reply.ended);
    if (at === atData && asksForMore(reply.code)) {
      if (failed) await abandon(server, failedAt);
      return failed;
    }
    if (isDone(reply.code)) continue;
    if (!failed) [failed, failedAt] = [refused(reply, at), at];
    if (reply.code === goodbye) server.close();
    if (reply.code === goodbye || !pipelining) return failed;
  }
  return failed;
}

/**
 * Ends the transaction of a server that accepts DATA although it rejected an earlier command. Without a recipient, an
 * empty message reaches nobody. Without a sender, the connection is closed.
 */
async function abandon(server: Conversation, failedAt: number) {
  if (failedAt === atSender) server.close();
  else await server.say('.')[0];
}

const refused = (reply: Said, at: number) =>
  isRefusal(reply.code) ? refusal(reply, stages[at]!) : lost(tidy(reply.text));

type Said = Extract<Reply, { code: number }>;

const lost = (reason: string): MailOutcome => ({ kind: 'lost', reason });
const unknown = (reason: string): MailOutcome => ({ kind: 'unknown', reason });

/** A reply, or the reason why the conversation ended. */
type Reply = { code: number; text: string } | { ended: string };

type Conversation = ReturnType<typeof converse>;

const maxReplyLength = 64 * 1024;

/**
 * Sends commands on a connection that nodemailer has opened and logged in to. nodemailer still watches it for errors,
 * silence and the end. nodemailer's own sending inspects every byte and uses streams, which would be most of the cost
 * of a mail.
 */
export function converse(smtp: SMTPConnection) {
  const socket = smtp._socket || undefined;
  const pending: ((reply: Reply) => void)[] = [];
  let endReason: string | undefined;
  const end = (reason: string) => {
    endReason ??= reason;
    for (const resolve of pending.splice(0)) resolve({ ended: endReason });
  };
  const read = replyReader((reply) => {
    const resolve = pending.shift();
    if (resolve) resolve(reply);
    else smtp.close(); // an unexpected reply, such as a goodbye
  });

  smtp.on('error', (error: Error) => end(tidy(error.message) || 'the connection failed'));
  smtp.once('end', () => end('the server closed the connection'));
  socket?.removeAllListeners('data');
  socket?.on('data', (chunk: Buffer) => {
    if (!read(chunk.toString('latin1'))) smtp.close();
  });

  const nextReply = () =>
    new Promise<Reply>((resolve) => {
      if (endReason !== undefined) resolve({ ended: endReason });
      else pending.push(resolve);
    });

  /** Writes all commands at once and returns their replies in order. */
  function say(...commands: string[]): Promise<Reply>[] {
    const replies = commands.map(nextReply);
    socket?.write(`${commands.join('\r\n')}\r\n`);
    return replies;
  }

  /**
   * Writes a message and its final dot. A long message is flushed before the dot: if the connection breaks earlier, the
   * server cannot have accepted it. A server that replies too early is disconnected.
   */
  async function sayMessage(message: Buffer, dot: { isSent: boolean }): Promise<Reply> {
    const reply = nextReply();
    if (!socket || endReason !== undefined) return await reply;
    socket.cork();
    const flows = socket.write(dotStuff(message));
    if (!flows) {
      socket.uncork();
      await Promise.race([reply, once(socket, 'drain').catch(() => reply)]);
      if (pending.length === 0) {
        smtp.close();
        return await reply;
      }
      socket.cork();
    }
    dot.isSent = true;
    socket.write('.\r\n');
    socket.uncork();
    return await reply;
  }

  return { say, sayMessage, close: () => smtp.close() };
}

/** Splits incoming text into replies. Returns false once an unfinished reply is too long. */
function replyReader(onReply: (reply: Reply) => void) {
  let rest = '';
  let lines = '';
  return (text: string): boolean => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) {
      lines += line;
      if (partialLine.test(line)) continue;
      onReply({ code: Number(wholeLine.exec(line)?.[1] ?? 0), text: decode(lines) });
      lines = '';
    }
    return rest.length + lines.length <= maxReplyLength;
  };
}

const partialLine = /^\d{3}-/;
const wholeLine = /^(\d{3})(?:\s|$)/;

/** Decodes UTF-8, or Latin-1 if it is not valid UTF-8. */
function decode(latin1: string): string {
  if (/^[\x00-\x7f]*$/.test(latin1)) return latin1;
  const text = Buffer.from(latin1, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? latin1 : text;
}

/** The result of one message. Server errors are outcomes and never thrown. */
export type MailOutcome =
  | { kind: 'accepted'; response: string }
  | (Refused & { permanent: true; unknownMailbox: boolean; about: RefusalScope })
  | (Refused & { permanent: false })
  /** The connection ended before the final dot, so nothing arrived. */
  | { kind: 'lost'; reason: string }
  /** The final dot was sent and no reply came: the message may have arrived. */
  | { kind: 'unknown'; reason: string };

type Refused = { kind: 'refused'; code: number; enhanced: string | null; response: string };

/**
 * The scope of a permanent rejection: the connection or login, the sender, a policy that may hit all similar mails, or
 * only this mail.
 */
type RefusalScope = 'server' | 'sender' | 'policy' | 'mail';

type SmtpError = Error & {
  code?: string | undefined;
  response?: string | undefined;
  responseCode?: number | undefined;
};

function outcomeOf(error: SmtpError): MailOutcome {
  const { response, responseCode: code } = error;
  if (code && isRefusal(code)) return refusal({ code, text: response ?? error.message }, 'server');
  return {
    kind: 'lost',
    reason: tidy(error.message) || error.code || 'the connection failed',
  };
}

/** True if the same mail may be accepted later. A rejected login says nothing about the mail. */
export const isRetryable = (outcome: MailOutcome) =>
  outcome.kind === 'lost' ||
  (outcome.kind === 'refused' && (!outcome.permanent || outcome.about === 'server'));

const kindOf = (code: number) => Math.trunc(code / 100);
export const isDone = (code: number) => kindOf(code) === 2;
const asksForMore = (code: number) => kindOf(code) === 3;
const isTransient = (code: number) => kindOf(code) === 4;
const isRefusal = (code: number) => isTransient(code) || kindOf(code) === 5;

/** Code 421 means "too busy" or "too many connections". Code 454 means "try later". */
export const isThrottled = (outcome: MailOutcome) =>
  outcome.kind === 'refused' && (outcome.code === 421 || outcome.code === 454);

export const leavesConnectionUsable = (outcome: MailOutcome) =>
  outcome.kind === 'accepted' || (outcome.kind === 'refused' && outcome.code !== 421);

/** The mailbox is unknown only if 5.1.x comes at RCPT: at MAIL, it is about the sender. */
function refusal({ code, text }: { code: number; text: string }, at: RefusedAt): MailOutcome {
  const response = tidy(text);
  const enhanced = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1] ?? null;
  const refused = { kind: 'refused', code, enhanced, response } as const;
  if (isTransient(code)) return { ...refused, permanent: false };
  const unknownMailbox = at === 'recipient' && /^5\.1\./.test(enhanced ?? '');
  return { ...refused, permanent: true, unknownMailbox, about: scopeOf(code, enhanced, at) };
}

type RefusedAt = 'server' | (typeof stages)[number];

function scopeOf(code: number, enhanced: string | null, at: RefusedAt): RefusalScope {
  if (at === 'server') return 'server';
  // 552 at MAIL is about the size of this message.
  if (at === 'sender') return code === 552 ? 'mail' : 'sender';
  const isPolicy = enhanced === null ? code === 554 : /^5\.7\./.test(enhanced);
  return isPolicy ? 'policy' : 'mail';
}

const refusedHere = (code: number, enhanced: string, response: string): MailOutcome => {
  const refused = { kind: 'refused', code, enhanced, response } as const;
  return { ...refused, permanent: true, unknownMailbox: false, about: 'mail' };
};

/** The server announced its limit, so the message is not even tried. */
const tooLarge = (maxBytes: number) =>
  refusedHere(
    552,
    '5.3.4',
    `the message is larger than the ${maxBytes} bytes that the server accepts`,
  );

export const rejectAddress = (response: string) => refusedHere(553, '5.1.3', response);

const maxResponseLength = 500;

/** Shortens a reply to one line, to show and store it. */
export const tidy = (text: string) =>
  text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, maxResponseLength)
    .toWellFormed(); // last, because the cut may split a surrogate pair, which Postgres rejects
