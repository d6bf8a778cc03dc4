type Described = {
  type: string;
  code?: string;
  message: string;
  stack?: string;
  cause?: Described;
};

/**
 * An error as a log may keep it: where it happened and what kind it is, without the values that a
 * database, a parser or a mail server quotes in its message.
 */
export function describeError(error: unknown): Described {
  if (!(error instanceof Error))
    return { type: typeof error, message: withoutValues(String(error)) };
  const { code } = error as { code?: unknown };
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line));
  return {
    type: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    message: withoutValues(error.message),
    ...(frames && frames.length > 0 ? { stack: frames.join('\n') } : {}),
    ...(error.cause instanceof Error ? { cause: describeError(error.cause) } : {}),
  };
}

const quoted =
  /((?:relation|column|constraint|table|function|index|type|schema|role|database|extension|property) )?(["'`])(.*?)\2/gs;
const address = /[^\s<>]+@[^\s<>]+/g;
const longWord = /[A-Za-z0-9_-]{20,}/g;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A value that may have quotes in it: after Postgres' colon, and in what JSON.parse shows of a text. */
const lastValue = /: "(.*)"$/s;
const jsonText = /, (\.\.\.)?"(.*)"(\.\.\.)? is not valid JSON$/s;

/** Names of things in the database stay, and ids; what is quoted else, addresses and tokens do not. */
export function withoutValues(message: string): string {
  return message
    .replace(lastValue, ': "…"')
    .replace(jsonText, ', "…" is not valid JSON')
    .replace(quoted, (whole, thing) => (thing ? whole : '"…"'))
    .replace(address, '…')
    .replace(longWord, (word) => (isToken(word) ? '…' : word));
}

const isToken = (word: string) => /\d/.test(word) && /[A-Za-z]/.test(word) && !uuid.test(word);
