import type { Dispatcher } from 'undici';
import { failureOf, OutboundFailure } from './failures.ts';
import { tooMuch } from './meter.ts';
import { secondsOf } from './retry-after.ts';

/** The answer of the other side, whole or not. A status may be known although the answer failed. */
export type Received = {
  statusCode: number | null;
  body: string;
  /** What `Retry-After` asks for. */
  retryAfterSeconds: number | null;
  failure: OutboundFailure | null;
};

export type Receiver = Dispatcher.DispatchHandler & { giveUp(failure: OutboundFailure): void };

const maxAnswerBytes = 64 * 1024;
const maxKeptBytes = 4 * 1024;
const maxInformational = 8;

/**
 * Takes in one answer and finishes exactly once, whatever the other side goes on to do. A body that
 * does not end is cut, and the status that came before it counts; our own mistakes go to `fault`.
 */
export function receiver(finish: (received: Received) => void, fault: (error: Error) => void) {
  let connection: Dispatcher.DispatchController | undefined;
  let statusCode: number | null = null;
  let retryAfterSeconds: number | null = null;
  let finished = false;
  let informational = 0;
  let bytes = 0;
  const kept: Buffer[] = [];

  function end(failure: OutboundFailure | null) {
    if (finished) return;
    finished = true;
    finish({ statusCode, body: readable(kept, bytes), retryAfterSeconds, failure });
    kept.length = 0;
  }

  /** Finishes before it hangs up: hanging up comes back as an error. */
  function hangUp(failure: OutboundFailure | null) {
    end(failure);
    connection?.abort(failure ?? new Error('the rest is not wanted'));
  }

  const handler: Receiver = {
    giveUp: hangUp,
    onRequestStart(controller) {
      connection = controller;
      if (finished) controller.abort(new Error('given up before it was sent'));
    },
    onResponseStart(_controller, status, headers) {
      if (status >= 200) {
        statusCode = status;
        retryAfterSeconds = secondsOf(headers['retry-after'], Date.now());
      } else if (++informational > maxInformational) hangUp(tooMuchTalk());
    },
    onResponseData(_controller, chunk) {
      // Copied, because the chunk is a view of the whole read buffer and would keep it alive.
      if (bytes < maxKeptBytes) kept.push(Buffer.from(chunk.subarray(0, maxKeptBytes - bytes)));
      bytes += chunk.length;
      if (bytes > maxAnswerBytes) hangUp(null);
    },
    onResponseEnd: () => end(null),
    onResponseError(_controller, error) {
      if (finished) return;
      const failure = failureOf(error);
      if (failure) return end(failure === tooMuch && statusCode !== null ? null : failure);
      finished = true;
      fault(error);
    },
  };
  return handler;
}

const tooMuchTalk = () =>
  new OutboundFailure('protocol', `more than ${maxInformational} informational answers came first`);

/** What of a body can be kept as text: valid UTF-8, without NULs, at most 4 KiB in all. */
function readable(kept: Buffer[], bytes: number): string {
  if (bytes === 0) return '';
  const wasCut = bytes > maxKeptBytes;
  const text = new TextDecoder().decode(Buffer.concat(kept), { stream: wasCut });
  const clean = text.replaceAll('\0', '');
  // What was not UTF-8 has grown: each bad byte became a character of three.
  if (Buffer.byteLength(clean) <= maxKeptBytes) return clean;
  const { read } = new TextEncoder().encodeInto(clean, new Uint8Array(maxKeptBytes));
  return clean.slice(0, read);
}
