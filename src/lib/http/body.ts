import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Context } from 'hono';
import type { GenericSchema } from 'valibot';
import { type ErrorCode, errorCodes, Refusal } from '../../errors.ts';
import { parse, parseJson, type QuerySchema, refuseParameters } from '../validation/parse.ts';

/** Many fields are slower to parse than a long text, and would block other requests. */
export const maxFields = 1000;

export async function readFormData(c: Context, largest?: number): Promise<FormData> {
  const type = c.req.header('Content-Type') ?? '';
  const { buffer, byteOffset, byteLength } = await readRawBody(c, largest);
  const body = Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
  // Counts the fields before parsing them.
  const isMultipart = /^multipart/i.test(type);
  const separator = isMultipart ? 'form-data; name="' : '&';
  let fields = isMultipart ? 0 : 1;
  for (let at = -1; fields <= maxFields; fields++) {
    at = body.indexOf(separator, at + 1);
    if (at === -1) break;
  }
  if (fields > maxFields) throw tooManyFields();
  try {
    return await new Response(body, { headers: { 'Content-Type': type } }).formData();
  } catch {
    throw brokenForm();
  }
}

export const brokenForm = () =>
  new Refusal('invalid', 'The form could not be read.', { code: 'invalid_form' });

export const tooManyFields = () =>
  new Refusal('too_large', `The form has more than ${maxFields} fields.`, {
    code: 'too_many_fields',
  });

const maxIgnoredNames = 10;
const largestBody = 1024 * 1024;

type BodyOptions = { optional?: boolean; parameters?: QuerySchema };

/**
 * Parses and validates a JSON body. With `optional` an empty body counts as an empty object. Fields that are query
 * `parameters` are refused.
 */
export async function parseBody<const S extends GenericSchema>(
  c: Context,
  schema: S,
  { optional = false, parameters }: BodyOptions = {},
) {
  const text = await readBody(c);
  if (optional && text === '') return parse(schema, {});
  const value = parseJson(text, notJson);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refusal('invalid', 'the body must be a JSON object', { code: 'invalid_json' });
  }
  if (parameters) refuseParameters(parameters, Object.keys(value));
  nameIgnored(c, schema, value);
  return parse(schema, value);
}

const notJson = (where: string) =>
  `the body is not JSON${where}: send a JSON object with Content-Type: application/json`;

/** Lists unknown fields in a header, so that developers notice misspelt ones. */
function nameIgnored(c: Context, schema: GenericSchema, value: object) {
  if (schema.type !== 'object' || !('entries' in schema)) return;
  const { entries } = schema as { entries: object };
  const names = Object.keys(value)
    .filter((name) => !Object.hasOwn(entries, name))
    .slice(0, maxIgnoredNames)
    .map((name) => encodeURIComponent(name.slice(0, 64).toWellFormed()));
  if (names.length > 0) c.header('X-Ignored-Fields', names.join(', '));
}

export async function readRawBody(c: Context, largest = largestBody): Promise<Uint8Array> {
  const text: unknown = c.get('body');
  return typeof text === 'string' ? Buffer.from(text) : await readBytes(c.req.raw, largest);
}

/** Reads the body as text and caches it. */
export async function readBody(c: Context, largest = largestBody): Promise<string> {
  const stored: unknown = c.get('body');
  if (typeof stored === 'string') return stored;
  const bytes = await readBytes(c.req.raw, largest);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    c.set('body', text);
    return text;
  } catch {
    throw new Refusal('invalid', 'the body is not UTF-8', { code: 'invalid_utf8' });
  }
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

/** Reads a body of unknown length up to the limit. */
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

/** The client disconnected or was too slow. */
function refuseIncomplete(): never {
  throw new Refusal('invalid', 'the body ended before it was complete');
}

const tooLarge = (largest: number) =>
  new Refusal('too_large', `the body is larger than ${largest} bytes`, {
    code: 'body_too_large',
  });

const parserErrors: Readonly<Record<string, ErrorCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'too_large',
};

type WithAnswer = Duplex & { _httpMessage?: ServerResponse | null; destroySoon?: () => void };

/**
 * Answers an incomplete or invalid request and closes the connection. Sends nothing if a response has begun, because
 * the client would read the bytes as part of that response.
 */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: WithAnswer) {
  const hasBegun = socket._httpMessage?.headersSent ?? false;
  if (!socket.writable || hasBegun || error.code === 'ECONNRESET') return void socket.destroy();
  const code = parserErrors[error.code ?? ''] ?? 'malformed_request';
  const { status, error: sentence } = errorCodes[code];
  const body = JSON.stringify({ error: sentence, code });
  const head = [
    `HTTP/1.1 ${status[0]} ${STATUS_CODES[status[0]]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  if (socket.destroySoon) socket.destroySoon();
  else socket.end();
}
