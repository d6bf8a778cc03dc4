import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after } from 'node:test';
import { readSmtpUrl, type SmtpSettings } from '../../../src/lib/smtp/settings.ts';

type Moment = 'greeting' | 'EHLO' | 'MAIL' | 'RCPT' | 'DATA' | 'dot' | 'RSET' | 'QUIT';

/** The reply to each command, `noReply` or `closeConnection`. */
export type Script = Partial<Record<Moment, string | ((line: string) => string)>>;

export const noReply = '(no reply)';
export const closeConnection = '(the connection ends)';

const polite: Record<Moment, string> = {
  greeting: '220 sink ready',
  EHLO: '250-sink\r\n250-PIPELINING\r\n250 ENHANCEDSTATUSCODES',
  MAIL: '250 2.1.0 ok',
  RCPT: '250 2.1.5 ok',
  DATA: '354 go on',
  dot: '250 2.0.0 queued as 1',
  RSET: '250 2.0.0 ok',
  QUIT: '221 2.0.0 bye',
};

/** A scripted server on plain sockets, for behaviour that standard servers do not have. */
export async function scriptedSmtp(script: Script = {}) {
  const seen = { connections: 0, messages: [] as string[], commands: [] as string[] };
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    seen.connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    converse(socket, script, seen);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  after(close);
  const { port } = server.address() as AddressInfo;
  return { seen, port, url: `smtp://127.0.0.1:${port}`, close, sockets };
}

function converse(
  socket: Socket,
  script: Script,
  seen: { messages: string[]; commands: string[] },
) {
  let [buffer, inData, recipients] = ['', false, 0];
  const answer = (moment: Moment, line = '') => {
    const usual = moment === 'DATA' && recipients === 0 ? '503 5.5.1 no recipient' : polite[moment];
    const given = script[moment] ?? usual;
    const said = typeof given === 'function' ? given(line) : given;
    if (said === closeConnection) socket.destroy();
    else if (said !== noReply) socket.write(`${said}\r\n`);
    if (moment === 'MAIL') recipients = 0;
    if (moment === 'RCPT' && said.startsWith('250')) recipients += 1;
    if (moment === 'DATA' && /^3\d\d/.test(said)) inData = true;
    if (moment === 'QUIT') socket.end();
  };
  socket.on('data', (chunk) => {
    buffer += chunk.toString('latin1');
    for (;;) {
      // An empty message is only a dot.
      if (inData && buffer.startsWith('.\r\n')) buffer = `\r\n${buffer}`;
      const end = buffer.indexOf(inData ? '\r\n.\r\n' : '\r\n');
      if (end === -1 || socket.destroyed) return;
      const text = buffer.slice(0, end);
      buffer = buffer.slice(end + (inData ? 5 : 2));
      if (inData) {
        inData = false;
        seen.messages.push(`${text}\r\n`);
        answer('dot');
      } else {
        seen.commands.push(text);
        answer(text.slice(0, 4) as Moment, text);
      }
    }
  });
  answer('greeting');
}

/** Settings for a test server, with the defaults of an operator. */
export const settingsFor = (url: string, own: Partial<SmtpSettings> = {}): SmtpSettings => ({
  ...readSmtpUrl(url).settings,
  ...own,
});
