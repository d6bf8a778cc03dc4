import type { Conversation, Reply } from './conversation.ts';
import {
  asksForMore,
  isDone,
  isRefusal,
  type MailOutcome,
  refusal,
  tidy,
  tooLarge,
} from './outcome.ts';

export type Envelope = { from: string; to: string };

/** What the server can do, and the largest message that it takes. */
export type Abilities = { pipelining: boolean; size: boolean; largest: number | null };

/** `dot.said` becomes true when the message has gone out so far that it may arrive. */
type Message = { envelope: Envelope; bytes: Buffer; dot: { said: boolean } };

/** MAIL, RCPT, DATA and the message, and what the server makes of them. */
export async function transact(
  server: Conversation,
  { pipelining, size, largest }: Abilities,
  { envelope, bytes, dot }: Message,
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
  return isRefusal(reply.code) ? refusal(reply) : unknown(tidy(reply.text));
}

const [atSender, atRecipient, atData] = [0, 1, 2];
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
  isRefusal(reply.code) ? refusal(reply, at === atRecipient) : lost(tidy(reply.text));

type Said = Extract<Reply, { code: number }>;

const lost = (reason: string): MailOutcome => ({ kind: 'lost', reason });
const unknown = (reason: string): MailOutcome => ({ kind: 'unknown', reason });
