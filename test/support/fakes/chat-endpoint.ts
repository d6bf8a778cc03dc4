import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { createProvider } from '../../../src/summaries/analyst.ts';

type Behaviour = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/**
 * A chat endpoint with a behaviour for each request. The last one applies to all further requests. Records every byte.
 */
export async function chatEndpoint(...behaviours: Behaviour[]) {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const behaviour = behaviours[Math.min(bodies.length, behaviours.length - 1)]!;
    bodies.push(body);
    behaviour(request, response, body);
  });
  const received: Buffer[] = [];
  server.on('connection', (socket) =>
    socket.on('data', (bytes) => received.push(Buffer.from(bytes as Buffer))),
  );
  await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
  after(() => server.closeAllConnections());
  after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/v1`;
  const providerWith = (answerTimeoutMs?: number) =>
    createProvider({ url, key: 'k', model: 'm' }, answerTimeoutMs);
  return {
    url,
    bodies,
    providerWith,
    analyst: providerWith(),
    /** Everything received since the first request. */
    bytes: () => Buffer.concat(received).toString(),
  };
}

export const replyWith =
  (content: string): Behaviour =>
  (_, response) =>
    response.end(JSON.stringify({ choices: [{ message: { content } }] }));

export const status =
  (code: number, headers = {}): Behaviour =>
  (_, response) =>
    response.writeHead(code, headers).end();

/** Valid reply to any comment or report. */
export const goodAnalysis = JSON.stringify({
  sentiment: 'mixed',
  themes: ['Price'],
  churn_risk: 'low',
  summary: 'Fine.',
});
