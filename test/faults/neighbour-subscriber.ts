import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort } from 'node:worker_threads';

/** Sends its port to the parent, and then the id of each response that arrives at `/other`. */
const hanging = new Set<ServerResponse>();
const server = createServer((request, response) => {
  let body = '';
  request.on('data', (part) => {
    body += part;
  });
  request.on('end', () => {
    if (request.url === '/hang') return void hanging.add(response);
    if (request.url === '/other') parentPort?.postMessage(JSON.parse(body).responseId);
    response.end('ok');
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
parentPort?.postMessage((server.address() as AddressInfo).port);
