/** Every way in which a post can fail to bring a whole answer. */
export type FailureKind =
  | 'forbidden' // the address may not be reached
  | 'dns' // the name leads nowhere
  | 'connect' // no program takes the connection
  | 'tls' // the other side cannot prove who it is
  | 'timeout' // no whole answer in time
  | 'reset' // the connection ended before the answer did
  | 'protocol' // what came back is not an HTTP answer
  | 'busy' // no connection to this host became free in time: nothing was sent
  | 'cancelled'; // we gave up ourselves, as when the process stops

/** A failure with its sentence for the caller who gave us the address. It must not show what our network looks like. */
export class OutboundFailure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, sentence: string, cause?: unknown) {
    super(sentence, { cause });
    this.name = 'OutboundFailure';
    this.kind = kind;
  }
}

/** What the other side did, or undefined when the mistake is our own. */
export function failureOf(error: Error & { code?: string }): OutboundFailure | undefined {
  if (error instanceof OutboundFailure) return error;
  const code = error.code ?? '';
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new OutboundFailure('protocol', 'the headers of the answer are too large', error);
  }
  if (notHttp(error)) {
    return new OutboundFailure('protocol', 'the answer is not valid HTTP', error);
  }
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') {
    return new OutboundFailure('cancelled', 'the request was given up', error);
  }
  if (/^(UND_ERR_INVALID_ARG|UND_ERR_REQ_|UND_ERR_NOT_SUPPORTED|ERR_INVALID_)/.test(code)) {
    return undefined;
  }
  return new OutboundFailure('reset', 'the connection ended before the answer was complete', error);
}

/** A connection that was not made, in words that fit every network. */
export function connectFailure(error: Error & { code?: string }): OutboundFailure {
  if (error instanceof OutboundFailure) return error;
  const refused = error.code === 'ECONNREFUSED';
  const sentence = refused ? 'the connection was refused' : 'the host could not be reached';
  return new OutboundFailure('connect', sentence, error);
}

export function tlsFailure(error: Error & { code?: string }): OutboundFailure {
  if (error instanceof OutboundFailure) return error;
  const sentence = /CERT|SIGNATURE|ALTNAME|ISSUER/.test(error.code ?? '')
    ? `the TLS certificate is not valid (${error.code})`
    : 'the TLS connection could not be made';
  return new OutboundFailure('tls', sentence, error);
}

const notHttp = (error: Error & { code?: string }) =>
  error.name === 'HTTPParserError' ||
  error.code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' ||
  (error.code === 'UND_ERR_SOCKET' && /^bad (response|upgrade)/.test(error.message));
