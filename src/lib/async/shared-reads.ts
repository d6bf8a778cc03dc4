import { AsyncLocalStorage } from 'node:async_hooks';
import type { PlainData } from './plain-data.ts';

/** A read that waits for the one that runs. */
type WaitingRead<Out, Caller> = { result: Promise<Out>; firstCaller: Caller; start: () => void };
type RunningRead<Out, Caller> = { next?: WaitingRead<Out, Caller> };

/**
 * The same function, for reads that many ask for at the same time: of equal arguments at most one read runs and one
 * waits. A call that comes while one runs never gets its result, which may be older than what the caller has just
 * written: it shares the one that waits, and that begins when the other has ended. So every caller gets what was read
 * after it asked, a thousand at once cost two reads, and nothing is kept.
 *
 * The argument must be plain data that says all that the read depends on. All who share a read get the same object,
 * which must not be changed, or the same error. A read belongs to its first caller: it runs in the asynchronous context
 * of that, and goes on when a caller has gone. `onShare` learns of every other caller whose read it became.
 *
 *     const findShared = shareReads((asked: { tenant: string; day: string }) => find(db, asked));
 *     const found = await findShared({ tenant, day });
 */
export function shareReads<In extends object, Out, Caller = void>(
  read: (argument: In) => Promise<Out>,
  onShare: (caller: Caller, firstCaller: Caller) => void = () => {},
  ..._plain: In extends PlainData<In> ? [] : [notPlainData: never]
) {
  const running = new Map<string, RunningRead<Out, Caller>>();

  async function run(key: string, argument: In): Promise<Out> {
    const own: RunningRead<Out, Caller> = {};
    running.set(key, own);
    try {
      return await read(argument);
    } finally {
      running.delete(key);
      own.next?.start();
    }
  }

  function wait(key: string, argument: In, firstCaller: Caller): WaitingRead<Out, Caller> {
    const { promise: result, resolve, reject } = Promise.withResolvers<Out>();
    const inContext = AsyncLocalStorage.snapshot();
    const start = () => void inContext(run, key, argument).then(resolve, reject);
    return { result, firstCaller, start };
  }

  return (argument: In, caller: Caller): Promise<Out> => {
    const key = JSON.stringify(argument);
    const current = running.get(key);
    if (!current) return run(key, argument);
    if (current.next) onShare(caller, current.next.firstCaller);
    current.next ??= wait(key, argument, caller);
    return current.next.result;
  };
}
