import { isSea } from 'node:sea';
import { readAsset } from './lib/process/assets.ts';
import { doubtfulExcerpt, redactDoubtful } from './lib/redact/doubtful.ts';
import type { PeopleToRedact } from './lib/redact/known.ts';
import {
  createWorker,
  type ThreadProgram,
  type Worker,
  type WorkerError,
} from './lib/worker/worker.ts';

/** Everything waits for an excerpt, jobs for the rest. */
const limitsMs = { excerpt: 3_000, redact: 10_000, analyze: 10_000 } as const;

/** Long enough for the language models and the longest comment. */
const heapMb = 256;
const idleMs = 60_000;
const waitingPerOrganization = 64;

/** The organization that a comment was written to takes turns with others. */
type CommentContext = PeopleToRedact & { orgId: string };

type FailureReport = { task: keyof typeof limitsMs; kind: WorkerError['kind'] };

export type CommentReader = ReturnType<typeof createCommentReader>;

/**
 * Reads comments in a thread: what they contain must cost the requests of others nothing. A comment that the
 * thread cannot read in time loses every word that could be a name.
 */
export function createCommentReader(
  onFailure: (failure: FailureReport) => void = () => {},
  worker: Pick<Worker, 'run' | 'stop'> = createThread(),
) {
  async function run<Result>(task: FailureReport['task'], orgId: string, input: unknown) {
    try {
      const limitMs = limitsMs[task];
      return (await worker.run({ name: task, input, group: orgId, limitMs })) as Result;
    } catch (error) {
      onFailure({ task, kind: (error as WorkerError).kind });
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
    stop: worker.stop,
  };
}

const createThread = () =>
  createWorker({ program, idleMs, heapMb, waitingPerGroup: waitingPerOrganization });

/** Out of the executable, next to this file in a checkout, or next to the bundle. */
function program(): ThreadProgram {
  if (isSea()) return readAsset('comment-thread.cjs');
  const file = import.meta.url.endsWith('.ts') ? './comment-thread.ts' : './comment-thread.cjs';
  return new URL(file, import.meta.url);
}
