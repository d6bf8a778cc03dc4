import { type AddressInfo, createServer } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/**
 * Accepts mail immediately or after `exchangeMs`. Sends its port to the thread that started it and, on request, the
 * number of mails since the last request.
 */
const { exchangeMs = 0 } = (workerData ?? {}) as { exchangeMs?: number };
let arrived = { count: 0, firstAt: 0, lastAt: 0 };
const server = createServer({ noDelay: true }, (socket) => {
  let [inData, tail] = [false, ''];
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    const text = tail + chunk.toString('latin1');
    tail = inData && !text.endsWith('\r\n.\r\n') ? text.slice(-4) : '';
    if (inData) {
      inData = tail !== '';
      if (inData) return;
      accept();
      if (exchangeMs > 0) setTimeout(() => socket.write('250 ok\r\n'), exchangeMs);
      else socket.write('250 ok\r\n');
      return;
    }
    const lines = text.split('\r\n').slice(0, -1);
    inData = lines.includes('DATA');
    socket.write(lines.map(reply).join(''));
  });
  socket.write('220 sink\r\n');
}).listen(0, '127.0.0.1', () => {
  parentPort?.postMessage((server.address() as AddressInfo).port);
});

parentPort?.on('message', () => {
  parentPort?.postMessage(arrived);
  arrived = { count: 0, firstAt: 0, lastAt: 0 };
});

function accept() {
  const at = performance.now();
  arrived = { count: arrived.count + 1, firstAt: arrived.firstAt || at, lastAt: at };
}

function reply(line: string): string {
  if (line.startsWith('EHLO')) return '250-sink\r\n250 PIPELINING\r\n';
  return line === 'DATA' ? '354 go on\r\n' : '250 ok\r\n';
}
