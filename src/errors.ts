import {
  maxCommentLength,
  maxNotes,
  maxReplies,
  maxSegments,
  maxTags,
  maxWebhooks,
} from './limits.ts';

/** An expected error whose message the caller sees. Messages of other errors are only logged. */
export class Refusal extends Error {
  readonly kind: RefusalKind;
  readonly code: string;
  readonly details: Extras['details'];
  readonly retryInSeconds: number | undefined;

  constructor(kind: RefusalKind, message: string, extras: Extras = {}) {
    super(message);
    this.name = 'Refusal';
    this.kind = kind;
    this.code = extras.code ?? kind;
    this.details = extras.details;
    this.retryInSeconds = extras.retryInSeconds;
  }
}

type Extras = {
  /** Stable, for programs. The kind by default. */
  code?: string;
  /** Additional fields of the error body. */
  details?: Readonly<Record<string, string | number>>;
  retryInSeconds?: number;
};

/** The status of each kind of refusal. */
export const statusOf = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  gone: 410,
  precondition_failed: 412,
  too_large: 413,
  unprocessable: 422,
  rate_limited: 429,
  unavailable: 503,
} as const;

export type RefusalKind = keyof typeof statusOf;

export const notFound = (what: string) => new Refusal('not_found', `${what} not found`);

/** Returns the value, or refuses with 404 if there is none. */
export function orNotFound<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw notFound(what);
  return value;
}

export const unavailable = (message: string, extras?: Extras) =>
  new Refusal('unavailable', message, extras);

export const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

/** Adds a capital letter and a full stop, for screens. */
export function toSentence(message: string): string {
  return /[.?!]$/.test(message) ? capital(message) : `${capital(message)}.`;
}

/** Catches refusals with this code and rethrows all other errors. */
export const whenRefused = (code: string) => (error: unknown) => {
  if (error instanceof Refusal && error.code === code) return undefined;
  throw error;
};

export type CodeRow = {
  status: readonly number[];
  /** An example of the sentence. */
  error: string;
  /** Additional fields of the example. */
  details?: Readonly<Record<string, number>>;
  remedy: string;
};

/** All error codes of the API, shown in the API document and in ops/errors.md. */
export const errorCodes = {
  invalid: {
    status: [400],
    error: 'limit: must be a whole number from 1',
    remedy: 'Correct the fields and parameters named in the message.',
  },
  invalid_json: {
    status: [400],
    error: 'the body must be a JSON object',
    remedy: 'Send one JSON object.',
  },
  invalid_utf8: {
    status: [400],
    error: 'the body is not UTF-8',
    remedy: 'Encode the body as UTF-8.',
  },
  invalid_text: {
    status: [400],
    error: 'the request contains a NUL character, which cannot be stored',
    remedy:
      'Remove NUL characters, unpaired surrogates and fields named __proto__. Nest at most 64 levels.',
  },
  invalid_idempotency_key: {
    status: [400],
    error: 'Idempotency-Key must be 1 to 255 visible ASCII characters',
    remedy: 'Use a UUID.',
  },
  malformed_request: {
    status: [400],
    error: 'the request is not valid HTTP',
    remedy: 'Send HTTP/1.1 to the right port.',
  },
  survey_draft: {
    status: [400, 409],
    error: 'the survey is a draft: open it first',
    remedy: 'Open the survey.',
  },
  survey_closed: {
    status: [400],
    error: 'the survey is closed: reopen it first',
    remedy: 'Reopen the survey.',
  },
  score_invalid: {
    status: [400],
    error: 'score must be a whole number from 0 to 10',
    remedy: 'Send a score on the scale of the survey.',
  },
  comment_invalid: {
    status: [400],
    error: 'comment must be text',
    remedy: 'Send text, null, or no comment.',
  },
  comment_too_long: {
    status: [400],
    error: `comment must have at most ${maxCommentLength} characters`,
    remedy: 'Shorten the comment.',
  },
  unknown_member: {
    status: [400],
    error: 'owner: no member of the organization has this address',
    remedy: 'Send the address of a member, or null.',
  },
  unknown_tag: {
    status: [400],
    error: 'tags: one of them is not a tag of the organization',
    remedy: 'Use ids from the list of tags.',
  },
  too_many_tags: {
    status: [400],
    error: `an organization has at most ${maxTags} tags`,
    remedy: 'Delete unused tags.',
  },
  too_many_segments: {
    status: [400],
    error: `an organization has at most ${maxSegments} segments`,
    remedy: 'Delete unused segments.',
  },
  too_many_notes: {
    status: [400],
    error: `a response has at most ${maxNotes} notes`,
    remedy: 'Store the note elsewhere.',
  },
  too_many_replies: {
    status: [400],
    error: `a response has at most ${maxReplies} replies`,
    remedy: 'Write to the person from your own mail program.',
  },
  too_many_rows: {
    status: [400],
    error: 'a trend has at most 1100 rows: use a longer interval',
    remedy: 'Use a longer interval or a shorter period.',
  },
  too_many_webhooks: {
    status: [400],
    error: `an organization has at most ${maxWebhooks} webhooks`,
    remedy: 'Delete unused webhooks.',
  },
  forbidden_url: {
    status: [400],
    error: 'the url must begin with https://',
    remedy:
      'Use a public https address. ASKBACK_WEBHOOK_ALLOW and ASKBACK_WEBHOOK_HTTP allow others.',
  },
  webhook_inactive: {
    status: [400],
    error: 'the webhook is turned off: turn it on first',
    remedy: 'Turn on the webhook.',
  },
  unauthorized: {
    status: [401],
    error:
      'the API key is missing, unknown, revoked or expired: send one as Authorization: Bearer KEY, or as X-API-Key: KEY',
    remedy: 'Send a valid key.',
  },
  forbidden: {
    status: [403],
    error: 'this API key has no write permission',
    remedy: 'Use a write key of the organization.',
  },
  SEND_LIMIT_EXCEEDED: {
    status: [403],
    error: 'the monthly send limit of 10000 would be exceeded, nothing was sent',
    details: { current_limit: 10_000, used: 9990, requested: 25 },
    remedy:
      'Send to fewer contacts, wait for the next month, or ask the operator for a higher limit.',
  },
  own_unsubscribe: {
    status: [403],
    error:
      'this person unsubscribed: only the person can undo it, or an owner who records renewed consent in the app',
    remedy: 'Ask the person to resubscribe on the unsubscribe page.',
  },
  not_found: {
    status: [404],
    error: 'path not found',
    remedy: 'Check the path and its ids. A key sees only its own organization.',
  },
  method_not_allowed: {
    status: [405],
    error: 'POST is not allowed here, only GET, HEAD, OPTIONS',
    remedy: 'Use a method listed in `Allow`.',
  },
  request_timeout: {
    status: [408],
    error: 'the request did not arrive completely in time: send it again',
    remedy: 'Send the request again, within 30 seconds.',
  },
  conflict: {
    status: [409],
    error: 'this response was replaced in the meantime',
    remedy: 'Read the resource again.',
  },
  survey_has_answers: {
    status: [409],
    error: 'the survey has responses, so this change was refused',
    remedy: 'Copy the survey. To delete it with its responses, send answers=delete.',
  },
  question_has_answers: {
    status: [409],
    error: 'questions.0: this question has answers, so its options cannot be removed',
    remedy: 'Leave the question out, which archives it, and add another one.',
  },
  question_unknown: {
    status: [400],
    error: 'q_3f9a0c1d2e4b is not a question that this respondent is asked',
    remedy: 'Read the questions of the survey again. This one may have been archived.',
  },
  answer_invalid: {
    status: [400],
    error: 'q_3f9a0c1d2e4b: must be a whole number from 0 to 10',
    remedy: 'Send an answer that fits the question. Nothing of the request was saved.',
  },
  answer_required: {
    status: [400],
    error: 'q_3f9a0c1d2e4b: this question must be answered',
    remedy: 'Answer the question. The other answers were saved.',
  },
  survey_completed: {
    status: [409],
    error: 'the survey is completed: reopen it first',
    remedy: 'Reopen the survey.',
  },
  survey_in_use: {
    status: [409],
    error: 'the survey was sent or answered, so it cannot become a draft',
    remedy: 'Copy the survey: the copy is a draft.',
  },
  segment_in_use: {
    status: [409],
    error: 'the segment is in use by the campaign Spring',
    remedy: 'Keep the segment. If a survey uses it, choose another audience for its rounds.',
  },
  campaign_over: {
    status: [409],
    error: 'the campaign has ended: it is finished',
    remedy: 'Start another campaign.',
  },
  contact_in_flight: {
    status: [409],
    error: 'an email to this contact is being sent: try again later',
    remedy: 'Try again after a minute.',
  },
  already_answered: {
    status: [409],
    error: 'this survey has already been answered',
    remedy: 'Each link can be answered once.',
  },
  not_answered: {
    status: [409],
    error: 'follow-up questions are answered after the score',
    remedy: 'Send the score first.',
  },
  answers_final: {
    status: [409],
    error: 'answers can be changed for 24 hours after the score',
    remedy: 'Nothing to do. The saved answers are kept.',
  },
  name_taken: {
    status: [409],
    error: 'the organization already has a tag named Enterprise',
    remedy: 'Use that tag, or another name.',
  },
  no_address: {
    status: [409],
    error: 'this response has no email address: it is anonymous, or its person was erased',
    remedy: 'Nothing to do: only responses through a personal link can be replied to.',
  },
  not_held: {
    status: [409],
    error: 'this response is not on hold',
    remedy: 'Nothing to do: the response counts.',
  },
  replay_under_way: {
    status: [409],
    error: 'a replay of this webhook is running: try again in a moment',
    remedy: 'Try again after `Retry-After`.',
  },
  idempotency_key_running: {
    status: [409],
    error: 'a request with this Idempotency-Key is still running, try again',
    remedy: 'Try again after `Retry-After`, with the same key.',
  },
  idempotency_answer_not_stored: {
    status: [409],
    error:
      'a request with this Idempotency-Key has run with status 200, but its response was too large to store',
    remedy: 'Read what the request created. Do not send it again.',
  },
  erased: {
    status: [409, 410],
    error: 'this person was erased: an owner can unblock the address',
    remedy: 'Leave the person out, or ask an owner to unblock the address.',
  },
  precondition_failed: {
    status: [412],
    error:
      'this was changed after it was read: read it again, and send the change with its new ETag',
    remedy: 'Read the resource again and repeat the change with its new ETag.',
  },
  body_too_large: {
    status: [413],
    error: 'the body is larger than 1048576 bytes',
    remedy: 'Split the request. Import contact files in the app or on the command line.',
  },
  too_large: {
    status: [413],
    error: 'the chunk extensions of the request are too large',
    remedy: 'Send chunks without extensions.',
  },
  search_too_slow: {
    status: [422],
    error:
      'the search took longer than 10 seconds: search for more letters, or in a shorter date range',
    remedy: 'Search for more letters or in a shorter date range.',
  },
  idempotency_key_reused: {
    status: [422],
    error: 'this Idempotency-Key was used for another request',
    remedy: 'Use a new key for each request.',
  },
  rate_limited: {
    status: [429],
    error: 'rate limit exceeded: max 100 requests per minute',
    remedy: 'Try again after `Retry-After`.',
  },
  too_many_test_mails: {
    status: [429],
    error: 'an organization can send 20 test emails per hour',
    remedy: 'Try again after `Retry-After`.',
  },
  headers_too_large: {
    status: [431],
    error: 'the headers of the request are too large',
    remedy: 'Send at most 16 KiB of headers.',
  },
  internal: {
    status: [500],
    error: 'internal error',
    remedy: 'Send the request_id to the operator, who finds the cause in the log.',
  },
  unavailable: {
    status: [503],
    error: 'too many messages are waiting to be read: send this one again later',
    remedy: 'Try again after `Retry-After`.',
  },
  database_unavailable: {
    status: [503],
    error: 'the database cannot be reached right now: try again shortly',
    remedy: 'Try again after `Retry-After`.',
  },
  database_full: {
    status: [503],
    error:
      'the disk of the database is full, so nothing was stored: try again when the operator has freed space',
    remedy: 'Tell the operator. Reads still work.',
  },
  too_busy: {
    status: [503],
    error: 'too many requests of this organization are waiting: try again shortly',
    remedy: 'Try again after `Retry-After`. Nothing was changed.',
  },
  starting: {
    status: [503],
    error: 'the service is starting: try again shortly',
    remedy: 'Try again after `Retry-After`.',
  },
} as const satisfies Readonly<Record<string, CodeRow>>;

export type ErrorCode = keyof typeof errorCodes;
