import { once } from 'node:events';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import { tidy } from './outcome.ts';
import { stuffed } from './stuffing.ts';

/** What a server said, or why it will say nothing more. */
export type Reply = { code: number; text: string } | { ended: string };

/** Commands to and replies from a server that has greeted us, over one connection. */
export type Conversation = ReturnType<typeof converse>;

const longestReply = 64 * 1024;

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
    const flows = socket.write(stuffed(message));
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
    return rest.length + lines.length <= longestReply;
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
