/** An expected error, whose message the caller sees. The message of any other error stays in the log. */
export class Refusal extends Error {
  readonly kind: RefusalKind;
  /** A stable word for programs, in addition to the sentence for people. */
  readonly code: string;
  /** Extra fields of the error body, next to `error` and `code`. */
  readonly details: Readonly<Record<string, string | number>>;
  /** When it is worth trying again, if that is known. */
  readonly retryInSeconds: number | undefined;

  constructor(kind: RefusalKind, message: string, extras: Extras = {}) {
    const { code = kind, details = {}, retryInSeconds } = extras;
    super(message);
    this.name = 'Refusal';
    this.kind = kind;
    this.code = code;
    this.details = details;
    this.retryInSeconds = retryInSeconds;
  }
}

type Extras = {
  code?: string;
  details?: Readonly<Record<string, string | number>>;
  retryInSeconds?: number;
};

export type RefusalKind =
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'gone'
  | 'too_large'
  | 'unprocessable'
  | 'rate_limited'
  | 'unavailable';

export const notFound = (what: string) => new Refusal('not_found', `${what} not found`);

export const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

/** The message of a refusal as a screen shows it: with a capital and a full stop. */
export function toSentence(message: string): string {
  return /[.?!]$/.test(message) ? capital(message) : `${capital(message)}.`;
}

/** For a refusal that is expected, and shown where it arose; everything else is thrown on. */
export const whenRefused = (code: string) => (error: unknown) => {
  if (error instanceof Refusal && error.code === code) return undefined;
  throw error;
};
