import { isSea } from 'node:sea';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from './errors.ts';
import type { Log } from './lib/log/log.ts';
import { readAsset } from './lib/process/lifecycle.ts';
import { doubtfulExcerpt, type PeopleToRedact, redactDoubtful } from './lib/redact/redact.ts';
import {
  createWorker,
  type ThreadProgram,
  type Worker,
  type WorkerError,
} from './lib/worker/worker.ts';

/** A mail server waits for its report, jobs for the rest. On a busy machine a language model loads for many seconds. */
const limitsMs = { excerpt: 60_000, redact: 60_000, analyze: 60_000, report: 5_000 } as const;

/** Long enough for the language models and the longest comment. */
const heapMb = 256;
const waitingPerOrganization = 64;
const busyMs = 1_000;

/** The organization that a comment was written to takes turns with others. */
type CommentContext = Required<PeopleToRedact> & { orgId: string };

type ThreadTask = keyof typeof limitsMs;

/**
 * Reads what strangers wrote in a thread: what it contains must cost the requests of others nothing. Whoever needs a
 * comment without its people waits for the thread, and is refused when it is late; only a comment that ends the thread
 * loses every word that could be a name. What a text contains must not end in the log: which task failed, and how, is
 * all it says.
 */
export function createRedactionWorker(
  log: Pick<Log, 'warn'> = { warn() {} },
  worker: Pick<Worker, 'run' | 'stop'> = createWorker({
    program,
    heapMb,
    waitingPerGroup: waitingPerOrganization,
  }),
) {
  async function run<Result>(name: ThreadTask, orgId: string, input: unknown) {
    try {
      const limitMs = limitsMs[name];
      return (await worker.run({ name, input, group: orgId, limitMs })) as Result;
    } catch (error) {
      const { kind } = error as WorkerError;
      log.warn({ task: name, why: kind }, 'could not read a text in time');
      // Its mail server sends the message again later.
      if (name === 'report' && kind === 'busy') throw tooManyReports();
      return undefined;
    }
  }

  async function read(
    name: 'excerpt' | 'redact',
    comment: string,
    { orgId, ...known }: CommentContext,
  ): Promise<string> {
    const endsAt = performance.now() + limitsMs[name];
    for (;;) {
      const limitMs = Math.max(1, Math.ceil(endsAt - performance.now()));
      try {
        const input = { comment, ...known };
        return (await worker.run({ name, input, group: orgId, limitMs })) as string;
      } catch (error) {
        const { kind } = error as WorkerError;
        const isLate = performance.now() >= endsAt;
        if (kind === 'busy' && !isLate) {
          await sleep(busyMs);
          continue;
        }
        log.warn({ task: name, why: kind }, 'could not read a text in time');
        if (kind !== 'failed') throw notReadYet();
        return await withoutReading[name](comment, known);
      }
    }
  }

  return {
    /** The excerpt for subscribers and notifications. Refused as unavailable when the thread is late. */
    excerpt: (comment: string, context: CommentContext) => read('excerpt', comment, context),
    /** The whole comment without its people. Refused as unavailable when the thread is late. */
    redact: (comment: string, context: CommentContext) => read('redact', comment, context),
    /** What the thread's analyst makes of a remark; undefined when it could not in time. */
    analyze: <Result>(remark: { orgId: string }) => run<Result>('analyze', remark.orgId, remark),
    /** What a message that came back reports; undefined when the thread could not read it. */
    report: <Result>(orgId: string, message: Uint8Array) => run<Result>('report', orgId, message),
    stop: worker.stop,
  };
}

const withoutReading = { excerpt: doubtfulExcerpt, redact: redactDoubtful };

const notReadYet = () =>
  new Refusal('unavailable', 'the comment could not be read in time: try again later', {
    code: 'comment_not_read',
    retryInSeconds: 30,
  });

const tooManyReports = () =>
  new Refusal('unavailable', 'too many messages wait to be read: hand this one in again later', {
    retryInSeconds: 5,
  });

/** Out of the executable, next to this file in a checkout, or next to the bundle. */
function program(): ThreadProgram {
  if (isSea()) return readAsset('redaction-worker-thread.cjs');
  const file = import.meta.url.endsWith('.ts')
    ? './redaction-worker-thread.ts'
    : './redaction-worker-thread.cjs';
  return new URL(file, import.meta.url);
}
