import { isSea } from 'node:sea';
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

/** An answer waits for its excerpt, a mail server for its report, jobs for the rest. */
const limitsMs = { excerpt: 3_000, redact: 10_000, analyze: 10_000, report: 5_000 } as const;

/** Long enough for the language models and the longest comment. */
const heapMb = 256;
const idleMs = 60_000;
const waitingPerOrganization = 64;

/** The organization that a comment was written to takes turns with others. */
type CommentContext = PeopleToRedact & { orgId: string };

type ThreadTask = keyof typeof limitsMs;

/**
 * Reads what strangers wrote in a thread: what it contains must cost the requests of others nothing. A comment
 * that the thread cannot read in time loses every word that could be a name. What a text contains must not end in the
 * log: which task failed, and how, is all it says.
 */
export function createRedactionWorker(
  log: Pick<Log, 'warn'> = { warn() {} },
  worker: Pick<Worker, 'run' | 'stop'> = createWorker({
    program,
    idleMs,
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

  return {
    excerpt: async (comment: string, { orgId, names, emails }: CommentContext): Promise<string> =>
      (await run<string>('excerpt', orgId, { comment, names, emails })) ??
      (await doubtfulExcerpt(comment, { names, emails })),
    redact: async (comment: string, { orgId, names, emails }: CommentContext): Promise<string> =>
      (await run<string>('redact', orgId, { comment, names, emails })) ??
      redactDoubtful(comment, { names, emails }),
    /** What the thread's analyst makes of a remark; undefined when it could not in time. */
    analyze: <Result>(remark: { orgId: string }) => run<Result>('analyze', remark.orgId, remark),
    /** What a message that came back reports; undefined when the thread could not read it. */
    report: <Result>(orgId: string, message: Uint8Array) => run<Result>('report', orgId, message),
    stop: worker.stop,
  };
}

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
