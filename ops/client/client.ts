import { type OperationName, operations } from './operations.ts';
import type { Operations } from './types.ts';

export type ClientOptions = {
  /** The address of the service, such as https://feedback.example.com. */
  url: string;
  /** An API key. */
  key: string;
  /** How often a call that may be repeated is tried again; 2 unless said otherwise. */
  retries?: number;
  /** The longest wait between two tries; 60,000 ms unless said otherwise. */
  longestWaitMs?: number;
  /** How long one try may take; 90,000 ms unless said otherwise. */
  timeoutMs?: number;
  /** Takes the place of the global `fetch`. */
  fetch?: typeof fetch;
};

export type CallOptions = {
  signal?: AbortSignal;
  /** A POST runs once under this key. Without one each call makes its own, which its retries share. */
  idempotencyKey?: string;
};

type Input<Name extends OperationName> = Operations[Name]['input'];
type Output<Name extends OperationName> = Operations[Name]['output'];

/** Without parameters that must be given, a call needs no argument. */
type Call<Name extends OperationName> =
  Record<string, never> extends Input<Name>
    ? (input?: Input<Name>, options?: CallOptions) => Promise<Output<Name>>
    : (input: Input<Name>, options?: CallOptions) => Promise<Output<Name>>;

/** The operations that answer page by page. */
export type ListName = {
  [Name in OperationName]: Output<Name> extends { data: readonly unknown[]; meta: unknown }
    ? Name
    : never;
}[OperationName];

type ItemOf<Name extends ListName> =
  Output<Name> extends { data: readonly (infer Item)[] } ? Item : never;

export type Askback = { [Name in OperationName]: Call<Name> } & {
  /** Every item of a list, page after page, also while rows are added. */
  each<Name extends ListName>(
    name: Name,
    input?: Input<Name>,
    options?: CallOptions,
  ): AsyncGenerator<ItemOf<Name>, void, undefined>;
};

/** What the service refused, with the word that programs go by. */
export class AskbackError extends Error {
  readonly status: number;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  readonly body: unknown;

  constructor(status: number, body: unknown, requestId: string | undefined) {
    const { error, code } = (body ?? {}) as { error?: string; code?: string };
    super(error ?? `the service answered ${status}`);
    this.name = 'AskbackError';
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.body = body;
  }
}

/**
 * The API of one organization as typed calls. A refusal is thrown as `AskbackError`. What may be repeated without
 * harm is tried again: a 429 or 503 when the service says, and for a lost connection or another fault after a moment.
 *
 *     const askback = createClient({ url: 'https://feedback.example.com', key: process.env.ASKBACK_KEY });
 *     for await (const response of askback.each('listResponses', { category: 'detractor' })) ...
 */
export function createClient(options: ClientOptions): Askback {
  const call = (name: OperationName, input: Values = {}, given: CallOptions = {}) =>
    send(options, requestOf(options, name, { input, given }), given.signal);

  async function* each(name: OperationName, input: Values = {}, given: CallOptions = {}) {
    for (let cursor: string | null | undefined = undefined; cursor !== null; ) {
      const page = (await call(name, { ...input, ...(cursor && { cursor }) }, given)) as ListPage;
      yield* page.data;
      cursor = page.meta.next_cursor;
    }
  }

  const calls = Object.keys(operations).map((name) => [
    name,
    (input?: Values, given?: CallOptions) => call(name as OperationName, input, given),
  ]);
  return { ...Object.fromEntries(calls), each } as Askback;
}

type Values = Record<string, unknown>;
type ListPage = { data: unknown[]; meta: { next_cursor: string | null } };
type Sent = { url: URL; method: string; headers: Headers; body: string | undefined };
type Asked = { input: Values; given: CallOptions };

function requestOf(
  { url, key }: ClientOptions,
  name: OperationName,
  { input, given }: Asked,
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
    for (const one of values) address.searchParams.append(parameter, String(one));
  }
  const headers = new Headers({ Authorization: `Bearer ${key}`, Accept: 'application/json' });
  if (type) headers.set('Content-Type', type);
  if (method === 'POST' && path.startsWith('/api/')) {
    headers.set('Idempotency-Key', given.idempotencyKey ?? crypto.randomUUID());
  }
  const text =
    typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body);
  return { url: address, method, headers, body: text };
}

async function send(options: ClientOptions, sent: Sent, signal?: AbortSignal): Promise<unknown> {
  const { retries = 2, longestWaitMs = 60_000, timeoutMs = 90_000 } = options;
  const mayRepeat = sent.method !== 'POST' || sent.headers.has('Idempotency-Key');
  for (let failed = 0; ; failed += 1) {
    const limit = AbortSignal.timeout(timeoutMs);
    const answered = await attempt(
      options.fetch ?? fetch,
      sent,
      signal ? any(signal, limit) : limit,
    );
    signal?.throwIfAborted();
    const wait = waitAfter(answered, failed);
    if (wait === undefined || !mayRepeat || failed >= retries || wait > longestWaitMs) {
      return await bodyOf(answered);
    }
    if (answered instanceof Response) await answered.body?.cancel();
    await pause(wait, signal);
  }
}

/** A lost connection is an outcome: it may be worth another try. */
const attempt = (fetcher: typeof fetch, { url, ...sent }: Sent, signal: AbortSignal) =>
  fetcher(url, { ...sent, body: sent.body ?? null, signal }).catch((error: unknown) => ({ error }));

type Answered = Awaited<ReturnType<typeof attempt>>;

/** How long to wait before another try; nothing when it would change nothing. */
function waitAfter(answered: Answered, failed: number): number | undefined {
  const moment = 500 * 2 ** failed * (0.5 + Math.random());
  if (!(answered instanceof Response)) return moment;
  const after = Number(answered.headers.get('Retry-After') ?? Number.NaN);
  // A request under the same key that still runs is answered 409 with Retry-After.
  if ([409, 429, 503].includes(answered.status) && Number.isFinite(after)) return after * 1000;
  return answered.status >= 500 ? moment : undefined;
}

async function bodyOf(answered: Answered): Promise<unknown> {
  if (!(answered instanceof Response)) throw answered.error;
  const text = await answered.text();
  const isJson = answered.headers.get('Content-Type')?.startsWith('application/json');
  const body: unknown = text === '' ? undefined : isJson ? JSON.parse(text) : text;
  if (answered.ok) return body;
  throw new AskbackError(answered.status, body, answered.headers.get('X-Request-Id') ?? undefined);
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
