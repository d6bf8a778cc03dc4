import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { SMTPServer } from 'smtp-server';

/** Accepts every message after the given time, in a thread of its own: what it costs delays none of the uses that are timed. */
const { exchangeMs } = workerData as { exchangeMs: number };
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  onData(stream, _session, done) {
    stream.resume();
    stream.on('end', () => setTimeout(done, exchangeMs));
  },
});
server.on('error', () => {}); // the service hangs up when it is stopped
server.listen(0, '127.0.0.1');
await once(server.server, 'listening');
parentPort?.postMessage((server.server.address() as AddressInfo).port);
