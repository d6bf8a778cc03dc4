import { once } from 'node:events';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { unlessAborted, withinMs } from '../async/deadline.ts';
import { dotStuff } from './message.ts';
import type { SmtpSettings } from './settings.ts';

/** Where a test may stop the world: before anything of a message is said, and after its 250. */
type Stage = 'before_data' | 'after_accepted';
export type OnStage = (stage: Stage) => void | Promise<void>;

export type Connection = {
  smtp: SMTPConnection;
  server: Conversation;
  abilities: Abilities;
  messages: number;
};
type Opened = { connection: Connection } | { failure: MailOutcome };

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
  const giveUp = (reason: string): Opened => {
    smtp.close();
    return { failure: lost(reason) };
  };
  return bounded(attempt, { settings, signal, giveUp });
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

/** One message over an open connection, which is closed if the server does not keep to the protocol. */
export function transmit(
  { smtp, server, abilities }: Connection,
  {
    envelope,
    bytes,
    signal,
  }: { envelope: Envelope; bytes: Buffer; signal?: AbortSignal | undefined },
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

/**
 * An attempt that ends in any case. The connection itself watches for a silent server; this limit is for
 * one that answers a byte at a time, and for a caller whose time is over.
 */
async function bounded<T>(
  attempt: Promise<T>,
  {
    settings,
    signal,
    giveUp,
  }: { settings: SmtpSettings; signal: AbortSignal | undefined; giveUp: (reason: string) => T },
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

/** What the server can do, and the largest message that it takes. */
type Abilities = { pipelining: boolean; size: boolean; largest: number | null };

/** `dot.said` becomes true when the message has gone out so far that it may arrive. */
type SmtpMessage = { envelope: Envelope; bytes: Buffer; dot: { said: boolean } };

/** MAIL, RCPT, DATA and the message, and what the server makes of them. */
async function transact(
  server: Conversation,
  { pipelining, size, largest }: Abilities,
  { envelope, bytes, dot }: SmtpMessage,
): Promise<MailOutcome> {
  if (largest !== null && bytes.length > largest) return tooLarge(largest);
  const commands = [
    `MAIL FROM:<${envelope.from}>${size ? ` SIZE=${bytes.length}` : ''}`,
    `RCPT TO:<${envelope.to}>`,
    'DATA',
  ];
  const failed = await begin(server, commands, pipelining);
  if (failed) return failed;

  const reply = await server.sayMessage(bytes, dot);
  if ('ended' in reply) return dot.said ? unknown(reply.ended) : lost(reply.ended);
  if (isDone(reply.code)) return { kind: 'accepted', response: tidy(reply.text) };
  return isRefusal(reply.code) ? refusal(reply, 'message') : unknown(tidy(reply.text));
}

const stages = ['sender', 'recipient', 'message'] as const;
const [atSender, , atData] = [0, 1, 2];
const goodbye = 421;

/**
 * All commands at once if the server takes that, else each after the reply to the one before. Undefined
 * when the server waits for the message.
 */
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
 * From a server that takes DATA although it refused what came before. Without a recipient an empty
 * message reaches no recipient; without a sender there is nothing to trust it with.
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

/** What a server said, or why it will say nothing more. */
type Reply = { code: number; text: string } | { ended: string };

/** Commands to and replies from a server that has greeted us, over one connection. */
type Conversation = ReturnType<typeof converse>;

const maxReplyLength = 64 * 1024;

/**
 * Takes over a connection that nodemailer has opened, encrypted and logged in to, and that it goes on to
 * watch for errors, silence and its end. Its own way of sending looks at every byte of a message in
 * JavaScript and pipes it through streams, which is most of what a mail would cost.
 */
export function converse(smtp: SMTPConnection) {
  const socket = smtp._socket || undefined;
  const expected: ((reply: Reply) => void)[] = [];
  let over: string | undefined;
  const end = (reason: string) => {
    over ??= reason;
    for (const answer of expected.splice(0)) answer({ ended: over });
  };
  const read = replyReader((reply) => {
    const answer = expected.shift();
    if (answer) answer(reply);
    else smtp.close(); // unexpected: it says goodbye, or what cannot be understood
  });

  smtp.on('error', (error: Error) => end(tidy(error.message) || 'the connection failed'));
  smtp.once('end', () => end('the server closed the connection'));
  socket?.removeAllListeners('data');
  socket?.on('data', (chunk: Buffer) => {
    if (!read(chunk.toString('latin1'))) smtp.close();
  });

  const nextReply = () =>
    new Promise<Reply>((answer) => {
      if (over !== undefined) answer({ ended: over });
      else expected.push(answer);
    });

  /** Writes commands at once; a reply comes for each of them, in their order. */
  function say(...commands: string[]): Promise<Reply>[] {
    const replies = commands.map(nextReply);
    socket?.write(`${commands.join('\r\n')}\r\n`);
    return replies;
  }

  /**
   * Writes a message and its final dot. A long message is out before its dot is said: until then nothing
   * has arrived, and a server that replies too early is left.
   */
  async function sayMessage(message: Buffer, dot: { said: boolean }): Promise<Reply> {
    const reply = nextReply();
    if (!socket || over !== undefined) return await reply;
    socket.cork();
    const flows = socket.write(dotStuff(message));
    if (!flows) {
      socket.uncork();
      await Promise.race([reply, once(socket, 'drain').catch(() => reply)]);
      if (expected.length === 0) {
        smtp.close();
        return await reply;
      }
      socket.cork();
    }
    dot.said = true;
    socket.write('.\r\n');
    socket.uncork();
    return await reply;
  }

  return { say, sayMessage, close: () => smtp.close() };
}

/** Cuts what arrives into replies. False once more is held than any reply has. */
function replyReader(onReply: (reply: Reply) => void) {
  let rest = '';
  let lines = '';
  return (text: string): boolean => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) {
      lines += line;
      if (partialLine.test(line)) continue;
      onReply({ code: Number(wholeLine.exec(line)?.[1] ?? 0), text: decoded(lines) });
      lines = '';
    }
    return rest.length + lines.length <= maxReplyLength;
  };
}

const partialLine = /^\d{3}-/;
const wholeLine = /^(\d{3})(?:\s|$)/;

/** Servers write UTF-8, or what they like. Line ends become spaces later. */
function decoded(latin1: string): string {
  if (/^[\x00-\x7f]*$/.test(latin1)) return latin1;
  const text = Buffer.from(latin1, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? latin1 : text;
}

/** What became of one message. A server that says no, or nothing, is an outcome and never thrown. */
export type MailOutcome =
  | { kind: 'accepted'; response: string }
  | (Refused & { permanent: true; unknownMailbox: boolean; about: RefusalScope })
  | (Refused & { permanent: false })
  /** Nothing reached the mailbox: the connection ended before the final dot. */
  | { kind: 'lost'; reason: string }
  /** The final dot went out and no answer came back: it may have been delivered. */
  | { kind: 'unknown'; reason: string };

type Refused = { kind: 'refused'; code: number; enhanced: string | null; response: string };

/**
 * What a permanent refusal speaks of: the whole connection, as a refused login; the sender; a policy, which may be
 * against all mails like this one; or this mail alone.
 */
type RefusalScope = 'server' | 'sender' | 'policy' | 'mail';

/** What nodemailer's connection puts on its errors. */
type SmtpError = Error & {
  code?: string | undefined;
  response?: string | undefined;
  responseCode?: number | undefined;
};

/** What it means that no connection could be had. */
function outcomeOf(error: SmtpError): MailOutcome {
  const { response, responseCode: code } = error;
  if (code && isRefusal(code)) return refusal({ code, text: response ?? error.message }, 'server');
  return {
    kind: 'lost',
    reason: tidy(error.message) || error.code || 'the connection failed',
  };
}

/** Whether the same mail may be accepted later: a refused login says nothing of the mail. */
export const isRetryable = (outcome: MailOutcome) =>
  outcome.kind === 'lost' ||
  (outcome.kind === 'refused' && (!outcome.permanent || outcome.about === 'server'));

/** The first digit of a reply's code says what kind it is. */
const kindOf = (code: number) => Math.trunc(code / 100);
export const isDone = (code: number) => kindOf(code) === 2;
const asksForMore = (code: number) => kindOf(code) === 3;
const isTransient = (code: number) => kindOf(code) === 4;
const isRefusal = (code: number) => isTransient(code) || kindOf(code) === 5;

/** Whether the server asks for less: 421 too busy or too many connections, 454 try later. */
export const asksForLess = (outcome: MailOutcome) =>
  outcome.kind === 'refused' && (outcome.code === 421 || outcome.code === 454);

/** Whether the connection can carry another message after this one. */
export const leavesConnectionUsable = (outcome: MailOutcome) =>
  outcome.kind === 'accepted' || (outcome.kind === 'refused' && outcome.code !== 421);

/** What a server says no with. Only where the recipient is named: 5.1.x at MAIL is about the sender. */
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

/** The server said how much it takes, so this was not even tried. */
const tooLarge = (maxBytes: number) =>
  refusedHere(
    552,
    '5.3.4',
    `the message is larger than the ${maxBytes} bytes that the server takes`,
  );

/** For an address that no server would take. */
export const rejectAddress = (response: string) => refusedHere(553, '5.1.3', response);

const maxResponseLength = 500;

/** On one line and of bounded length: it is shown to people and kept with the row. */
export const tidy = (text: string) =>
  text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, maxResponseLength)
    .toWellFormed(); // last: the cut may leave half a pair, which Postgres refuses
