import { type OperationName, operations } from './operations.ts';
import type { Operations } from './types.ts';

export type ClientOptions = {
  /** The address of the service, such as https://feedback.example.com. */
  url: string;
  /** An API key. */
  key: string;
  /** Retries of a call that can be repeated safely; default 2. */
  retries?: number;
  /** Longest wait before a retry; default 60,000. */
  maxWaitMs?: number;
  /** Time limit of one attempt; default 120,000. */
  timeoutMs?: number;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
};

export type CallOptions = {
  signal?: AbortSignal;
  /** A POST runs once per key. By default each call creates one, which its retries share. */
  idempotencyKey?: string;
};

type Input<Name extends OperationName> = Operations[Name]['input'];
type Output<Name extends OperationName> = Operations[Name]['output'];

/** A call without required parameters needs no argument. */
type Call<Name extends OperationName> =
  Record<string, never> extends Input<Name>
    ? (input?: Input<Name>, options?: CallOptions) => Promise<Output<Name>>
    : (input: Input<Name>, options?: CallOptions) => Promise<Output<Name>>;

/** Operations that return pages. */
export type ListName = {
  [Name in OperationName]: Output<Name> extends { data: readonly unknown[]; meta: unknown }
    ? Name
    : never;
}[OperationName];

type ItemOf<Name extends ListName> =
  Output<Name> extends { data: readonly (infer Item)[] } ? Item : never;

export type Askback = { [Name in OperationName]: Call<Name> } & {
  /** Iterates over all items of a list by cursor, also while rows are added. */
  each<Name extends ListName>(
    name: Name,
    input?: Input<Name>,
    options?: CallOptions,
  ): AsyncGenerator<ItemOf<Name>, void, undefined>;
};

/** An error response. Branch on `code`. */
export class AskbackError extends Error {
  readonly status: number;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  readonly body: unknown;

  constructor(status: number, body: unknown, requestId: string | undefined) {
    const { error, code } = (body ?? {}) as { error?: string; code?: string };
    super(error ?? `the service returned ${status}`);
    this.name = 'AskbackError';
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.body = body;
  }
}

/**
 * Typed calls to the API of one organization. Errors are thrown as `AskbackError`. Calls that can be repeated safely are
 * retried: after `Retry-After` of a 429 or 503, and with backoff after a lost connection or another 5xx.
 *
 *     const askback = createClient({ url: 'https://feedback.example.com', key: process.env.ASKBACK_KEY });
 *     for await (const response of askback.each('listResponses', { category: 'detractor' })) ...
 */
export function createClient(options: ClientOptions): Askback {
  const call = (name: OperationName, input: Values = {}, callOptions: CallOptions = {}) =>
    send(options, requestOf(options, name, { input, callOptions }), callOptions.signal);

  async function* each(name: OperationName, input: Values = {}, callOptions: CallOptions = {}) {
    for (let cursor: string | null | undefined = undefined; cursor !== null; ) {
      const page = (await call(
        name,
        { ...input, ...(cursor && { cursor }) },
        callOptions,
      )) as ListPage;
      yield* page.data;
      cursor = page.meta.next_cursor;
    }
  }

  const calls = Object.keys(operations).map((name) => [
    name,
    (input?: Values, callOptions?: CallOptions) => call(name as OperationName, input, callOptions),
  ]);
  return { ...Object.fromEntries(calls), each } as Askback;
}

type Values = Record<string, unknown>;
type ListPage = { data: unknown[]; meta: { next_cursor: string | null } };
type Sent = { url: URL; method: string; headers: Headers; body: string | undefined };
type CallInput = { input: Values; callOptions: CallOptions };

function requestOf(
  { url, key }: ClientOptions,
  name: OperationName,
  { input, callOptions }: CallInput,
): Sent {
  const { method, path, type } = operations[name];
  const { body, ...rest } = input;
  const used = new Set<string>();
  const place = path.replace(/\{(\w+)\}/g, (_, part: string) => {
    used.add(part);
    if (rest[part] === undefined) throw new TypeError(`${name} needs ${part}`);
    return encodeURIComponent(String(rest[part]));
  });
  const address = new URL(url.replace(/\/+$/, '') + place);
  for (const [parameter, value] of Object.entries(rest)) {
    if (used.has(parameter) || value === undefined) continue;
    const values = Array.isArray(value) ? value : [value];
    for (const each of values) address.searchParams.append(parameter, String(each));
  }
  const headers = new Headers({ Authorization: `Bearer ${key}`, Accept: 'application/json' });
  if (type) headers.set('Content-Type', type);
  if (method === 'POST' && path.startsWith('/api/')) {
    headers.set('Idempotency-Key', callOptions.idempotencyKey ?? crypto.randomUUID());
  }
  const text =
    typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body);
  return { url: address, method, headers, body: text };
}

async function send(options: ClientOptions, sent: Sent, signal?: AbortSignal): Promise<unknown> {
  const { retries = 2, maxWaitMs = 60_000, timeoutMs = 120_000 } = options;
  const mayRepeat = sent.method !== 'POST' || sent.headers.has('Idempotency-Key');
  for (let failed = 0; ; failed += 1) {
    const limit = AbortSignal.timeout(timeoutMs);
    const result = await attempt(options.fetch ?? fetch, sent, signal ? any(signal, limit) : limit);
    signal?.throwIfAborted();
    const wait = waitAfter(result, failed);
    if (wait === undefined || !mayRepeat || failed >= retries || wait > maxWaitMs) {
      return await bodyOf(result);
    }
    if (result instanceof Response) await result.body?.cancel();
    await pause(wait, signal);
  }
}

/** Returns a lost connection as a value, because it may be retried. */
const attempt = (fetcher: typeof fetch, { url, ...sent }: Sent, signal: AbortSignal) =>
  fetcher(url, { ...sent, body: sent.body ?? null, signal }).catch((error: unknown) => ({ error }));

type AttemptResult = Awaited<ReturnType<typeof attempt>>;

/** Milliseconds before a retry; undefined if a retry cannot help. */
function waitAfter(result: AttemptResult, failed: number): number | undefined {
  const backoff = 500 * 2 ** failed * (0.5 + Math.random());
  if (!(result instanceof Response)) return backoff;
  const after = Number(result.headers.get('Retry-After') ?? Number.NaN);
  // A request with the same key that is still running gets 409 with Retry-After.
  if ([409, 429, 503].includes(result.status) && Number.isFinite(after)) return after * 1000;
  return result.status >= 500 ? backoff : undefined;
}

async function bodyOf(result: AttemptResult): Promise<unknown> {
  if (!(result instanceof Response)) throw result.error;
  const text = await result.text();
  const isJson = result.headers.get('Content-Type')?.startsWith('application/json');
  const body: unknown = text === '' ? undefined : isJson ? JSON.parse(text) : text;
  if (result.ok) return body;
  throw new AskbackError(result.status, body, result.headers.get('X-Request-Id') ?? undefined);
}

const any = (...signals: AbortSignal[]) => AbortSignal.any(signals);

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', stop, { once: true });
    function done() {
      signal?.removeEventListener('abort', stop);
      resolve();
    }
  });
}
