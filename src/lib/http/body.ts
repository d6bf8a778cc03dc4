import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { MIMEType } from 'node:util';
import type { Context } from 'hono';
import type { GenericSchema } from 'valibot';
import { Refusal } from '../../errors.ts';
import { parse, parseJson, type QuerySchema, refuseParameters } from '../validation/parse.ts';

/** A form with more fields costs the requests of others more than a long text does. */
const mostFields = 1000;

export async function readFormData(c: Context, largest?: number): Promise<FormData> {
  const type = c.req.header('Content-Type') ?? '';
  const { separator, most } = separatorsOf(type);
  const body = Buffer.from(await readRawBody(c, largest));
  if (hasMoreThan(most, separator, body)) throw tooManyFields();
  const response = new Response(body, { headers: { 'Content-Type': type } });
  return await response.formData().catch(() => Promise.reject(unreadable()));
}

function separatorsOf(contentType: string): { separator: string; most: number } {
  const type = parseType(contentType);
  if (type?.essence === 'application/x-www-form-urlencoded') {
    return { separator: '&', most: mostFields - 1 };
  }
  const boundary = type?.essence === 'multipart/form-data' && type.params.get('boundary');
  if (!boundary) throw unreadable();
  return { separator: `--${boundary}`, most: mostFields + 1 };
}

function parseType(contentType: string) {
  try {
    return new MIMEType(contentType);
  } catch {
    return undefined; // a type that no browser sends
  }
}

function hasMoreThan(most: number, separator: string, body: Buffer): boolean {
  let at = -separator.length;
  for (let found = 0; found <= most; found++) {
    at = body.indexOf(separator, at + separator.length, 'latin1');
    if (at === -1) return false;
  }
  return true;
}

const unreadable = () =>
  new Refusal('invalid', 'The form could not be read.', { code: 'invalid_form' });

const tooManyFields = () =>
  new Refusal('too_large', `The form has more than ${mostFields} fields.`, {
    code: 'too_many_fields',
  });

const mostIgnored = 10;
const largestBody = 1024 * 1024;

type BodyOptions = { optional?: boolean; parameters?: QuerySchema };

/**
 * The checked JSON body. With `optional`, a request without one counts as an empty object. A field that is one of the
 * `parameters` of the address is refused.
 */
export async function parseBody<const S extends GenericSchema>(
  c: Context,
  schema: S,
  { optional = false, parameters }: BodyOptions = {},
) {
  const text = await readBody(c);
  if (optional && text === '') return parse(schema, {});
  const value = parseJson(text, notJson(text, c.req.header('Content-Type')));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notAnObject();
  if (parameters) refuseParameters(parameters, Object.keys(value));
  nameIgnored(c, schema, value);
  return parse(schema, value);
}

/** A misspelt field is ignored as every unknown one is, and named in a header, where a developer sees it. */
function nameIgnored(c: Context, schema: GenericSchema, value: object) {
  if (schema.type !== 'object' || !('entries' in schema)) return;
  const { entries } = schema as { entries: object };
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(entries, name));
  if (unknown.length === 0) return;
  const names = unknown
    .slice(0, mostIgnored)
    .map((name) => encodeURIComponent(name.slice(0, 64).toWellFormed()));
  c.header('X-Ignored-Fields', names.join(', '));
}

/** A form is what most clients send unless a content type is set, and JSON under its name is read all the same. */
const notJson = (text: string, contentType = '') => {
  const type = /^[\w.+-]+\/[\w.+-]+/.exec(contentType)?.[0].toLowerCase();
  const isForm = type && !/[/+]json$/.test(type) && !/^\s*([[{]|$)/.test(text);
  const found = isForm ? `, and comes as ${type}` : '';
  const meant = 'send a JSON object with Content-Type: application/json';
  return (where: string) => `the body is not JSON${found || where}: ${meant}`;
};

export async function readRawBody(c: Context, largest = largestBody): Promise<Uint8Array> {
  const before: unknown = c.get('body');
  return typeof before === 'string' ? Buffer.from(before) : await readBytes(c.req.raw, largest);
}

/** The body as text, read no further than its limit. Reading it twice is free. */
export async function readBody(c: Context, largest = largestBody): Promise<string> {
  const before: unknown = c.get('body');
  if (typeof before === 'string') return before;
  const text = decode(await readBytes(c.req.raw, largest));
  c.set('body', text);
  return text;
}

async function readBytes(request: Request, largest: number): Promise<Uint8Array> {
  const declared = request.headers.get('Content-Length');
  if (Number(declared ?? 0) > largest) throw tooLarge(largest);
  const chunked = request.headers.has('Transfer-Encoding');
  if (declared === null || chunked) return await readChunks(request.body, largest);
  const bytes = new Uint8Array(await request.arrayBuffer().catch(refuseIncomplete));
  if (bytes.length > largest) throw tooLarge(largest);
  return bytes;
}

/** A body that does not say how long it is: what has arrived so far is all that is kept in memory. */
async function readChunks(body: Request['body'], largest: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body?.getReader();
  for (;;) {
    const { value: chunk } = (await reader?.read().catch(refuseIncomplete)) ?? {};
    if (!chunk) return Buffer.concat(chunks);
    size += chunk.length;
    if (size > largest) {
      void reader?.cancel().catch(() => {});
      throw tooLarge(largest);
    }
    chunks.push(chunk);
  }
}

/** The client went away or took too long, which is no fault of ours. */
function refuseIncomplete(): never {
  throw new Refusal('invalid', 'the body ended before it was complete');
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal('invalid', 'the body is not UTF-8', { code: 'invalid_utf8' });
  }
}

const notAnObject = () =>
  new Refusal('invalid', 'the body must be a JSON object', { code: 'invalid_json' });

const tooLarge = (largest: number) =>
  new Refusal('too_large', `the body is larger than ${largest} bytes`, {
    code: 'body_too_large',
  });

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
