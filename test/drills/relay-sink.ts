import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export type Arrived = { to: string; raw: string };

/** Where the relay delivers to: keeps what arrives, and knows no address at `refused.test`. */
export async function startRelaySink(port: number) {
  const arrived: Arrived[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo({ address }, _session, done) {
      if (!address.endsWith('@refused.test')) return done();
      const refusal = new Error(`5.1.1 <${address}>: no such mailbox here`);
      return done(Object.assign(refusal, { responseCode: 550 }));
    },
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const raw = Buffer.concat(chunks).toString('latin1');
        arrived.push(...envelope.rcptTo.map(({ address }) => ({ to: address, raw })));
        done();
      });
    },
  });
  server.on('error', () => {}); // a relay that is stopped hangs up
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  const bound = (server.server.address() as AddressInfo).port;
  const close = () => new Promise<void>((closed) => server.close(closed));
  return { arrived, port: bound, close };
}
