import { isSea } from 'node:sea';
import { zstdDecompressSync } from 'node:zlib';
import { errorCodes, unavailable } from './errors.ts';
import type { Log } from './lib/log/log.ts';
import { assetBytes } from './lib/process/lifecycle.ts';
import { doubtfulExcerpt, type PeopleToRedact, redactDoubtful } from './lib/redact/redact.ts';
import {
  createWorker,
  type ThreadProgram,
  type Worker,
  type WorkerError,
} from './lib/worker/worker.ts';

/** A mail server waits for `report`, jobs for the rest. On a busy machine a language model loads for many seconds. */
const limitsMs = { excerpt: 60_000, redact: 60_000, analyze: 60_000, report: 5_000 } as const;

const heapMb = 256;

type CommentContext = Required<PeopleToRedact> & { orgId: string };

type ThreadTask = keyof typeof limitsMs;

/**
 * Reads untrusted text in a worker thread, so that no text can block requests. Callers wait for the redacted comment and
 * are refused when the thread is late. A comment that crashes the thread loses its words. The log names the failed
 * task, never the text.
 */
export function createRedactionWorker(
  log: Pick<Log, 'warn'> = { warn() {} },
  worker: Pick<Worker, 'run' | 'stop'> = createWorker({ program, heapMb }),
) {
  async function run<Result>(name: ThreadTask, orgId: string, input: unknown) {
    try {
      const value = await worker.run({ name, input, group: orgId, limitMs: limitsMs[name] });
      return { value: value as Result, why: undefined };
    } catch (error) {
      const { kind } = error as WorkerError;
      log.warn({ task: name, why: kind }, 'could not read a text in time');
      return { value: undefined, why: kind };
    }
  }

  async function read(
    name: 'excerpt' | 'redact',
    comment: string,
    { orgId, ...known }: CommentContext,
  ): Promise<string> {
    const { value, why } = await run<string>(name, orgId, { comment, ...known });
    if (value !== undefined) return value;
    if (why !== 'failed') throw notReadYet();
    return await fallbacks[name](comment, known);
  }

  return {
    /** The redacted excerpt for webhooks and notifications. Unavailable when the thread is late. */
    excerpt: (comment: string, context: CommentContext) => read('excerpt', comment, context),
    /** The whole redacted comment. Unavailable when the thread is late. */
    redact: (comment: string, context: CommentContext) => read('redact', comment, context),
    /** Undefined if the analysis failed. */
    analyze: async <Result>(remark: { orgId: string }) =>
      (await run<Result>('analyze', remark.orgId, remark)).value,
    /** Parses a bounce message. Undefined if that failed or took too long. The mail server retries if it has not started. */
    async report<Result>(orgId: string, message: Uint8Array) {
      const { value, why } = await run<Result>('report', orgId, message);
      if (why !== 'busy' && why !== 'stopped') return value;
      throw unavailable(errorCodes.unavailable.error, { retryInSeconds: 5 });
    },
    stop: worker.stop,
  };
}

const fallbacks = { excerpt: doubtfulExcerpt, redact: redactDoubtful };

const notReadYet = () =>
  unavailable('the comment could not be read in time: try again later', {
    code: 'comment_not_read',
    retryInSeconds: 30,
  });

/** From the executable, the checkout or the bundle. */
function program(): ThreadProgram {
  if (isSea()) return zstdDecompressSync(assetBytes('redaction-worker-thread.cjs.zst')).toString();
  const file = import.meta.url.endsWith('.ts')
    ? './redaction-worker-thread.ts'
    : './redaction-worker-thread.cjs';
  return new URL(file, import.meta.url);
}
