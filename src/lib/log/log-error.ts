type Described = {
  type: string;
  code?: string;
  message: string;
  stack?: string;
  cause?: Described;
};

/** An error may be its own cause. */
const mostCauses = 5;

/**
 * An error as a log may keep it: where it happened and what kind it is, without the values that a
 * database, a parser or a mail server quotes in its message.
 */
export function describeError(error: unknown, causesLeft = mostCauses): Described {
  if (!(error instanceof Error))
    return { type: typeof error, message: withoutValues(String(error)) };
  const { code } = error as { code?: unknown };
  const hasCause = error.cause instanceof Error && causesLeft > 0;
  // What is said may have lines that look like frames.
  const frames = error.stack
    ?.replace(error.message, '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line));
  return {
    type: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    message: withoutValues(error.message),
    ...(frames && frames.length > 0 ? { stack: frames.join('\n') } : {}),
    ...(hasCause ? { cause: describeError(error.cause, causesLeft - 1) } : {}),
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

/** What is longer holds somebody's text, and would take long to be looked through. */
const longestMessage = 1000;

/** Names of things in the database stay, and ids; what is quoted else, addresses and tokens do not. */
export function withoutValues(message: string): string {
  return shortened(message)
    .replace(lastValue, ': "…"')
    .replace(jsonText, ', "…" is not valid JSON')
    .replace(quoted, (whole, thing) => (thing ? whole : '"…"'))
    .replace(address, '…')
    .replace(longWord, (word) => (isToken(word) ? '…' : word));
}

/** A value that is cut off has no end that it could be found by. */
const shortened = (message: string) =>
  message.length > longestMessage
    ? message.slice(0, longestMessage).replace(/["'`].*$/s, '…')
    : message;

const isToken = (word: string) => /\d/.test(word) && /[A-Za-z]/.test(word) && !uuid.test(word);
