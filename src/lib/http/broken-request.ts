import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

type Refused = { status: string; code: string; error: string };

const refusals: Readonly<Record<string, Refused>> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    code: 'request_timeout',
    error: 'the request did not arrive whole in time: send it again',
  },
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'headers_too_large',
    error: 'the headers of the request are too large',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: '413 Payload Too Large',
    code: 'too_large',
    error: 'the chunk extensions of the request are too large',
  },
};

const malformed: Refused = {
  status: '400 Bad Request',
  code: 'malformed_request',
  error: 'the request is not valid HTTP',
};

/** What Node keeps of the answer that is under way on a connection. */
type WithAnswer = Duplex & { _httpMessage?: ServerResponse | null; destroySoon?: () => void };

/**
 * Answers what does not arrive whole or is no HTTP, and hangs up. Node's own answer has the status alone; every
 * error here has a sentence. An answer that has begun is cut off: more bytes would look like a part of it.
 */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: WithAnswer) {
  const hasBegun = socket._httpMessage?.headersSent ?? false;
  if (!socket.writable || hasBegun || error.code === 'ECONNRESET') return void socket.destroy();
  const { status, ...said } = refusals[error.code ?? ''] ?? malformed;
  const body = JSON.stringify({ error: said.error, code: said.code });
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  if (socket.destroySoon) socket.destroySoon();
  else socket.end();
}
