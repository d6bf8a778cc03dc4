import { createBatchLines } from './batch-lines.ts';

type Waiting<In, Out> = {
  item: In;
  resolve: (out: Out) => void;
  reject: (error: unknown) => void;
};

export type KeyBatchLimits = {
  most: number;
  /** How many batches of several keys are written at once. */
  atOnce: number;
  /** How long the first item of a batch waits for others; 0 is until the end of this turn of the loop. */
  lingerMs?: number;
};

export type KeyBatchWriters<In, Out> = {
  keyOf: (item: In) => string;
  /**
   * Writes items of several keys, all or none. It must fail soon when one of them is held up, since the others wait
   * with it: after a failure `writeOwn` writes those of each key apart.
   */
  writeShared: (items: In[]) => Promise<Out[]>;
  /** Writes items of one key, however long that takes. */
  writeOwn: (items: In[]) => Promise<Out[]>;
};

/**
 * Collects items and writes those of all keys, such as organizations, in common batches, in which each key has its
 * share. The keys of a batch wait until it is written, so that their items keep their order; items of other keys go
 * into another batch next to it. A key that is held up leaves the common batches until it goes on.
 *
 *     const saves = createBatchByKey({ keyOf, writeShared, writeOwn }, { most: 100, atOnce: 2, lingerMs: 20 });
 *     await saves.add(row);
 */
export function createBatchByKey<In, Out>(
  { keyOf, writeShared, writeOwn }: KeyBatchWriters<In, Out>,
  { most, atOnce, lingerMs = 0 }: KeyBatchLimits,
) {
  const lines = createBatchLines<Waiting<In, Out>>();
  const timer = createTimer(lingerMs, () => {
    lines.setDue();
    writeDue();
  });
  let batches = 0;

  function writeDue() {
    while (batches < atOnce && lines.isDue(most)) void writeBatch(lines.take(most));
  }

  async function writeBatch(batch: Map<string, Waiting<In, Out>[]>) {
    batches += 1;
    try {
      await write([...batch.values()].flat(), writeShared);
      for (const key of batch.keys()) lines.release(key);
    } catch {
      for (const [key, waiting] of batch) void writeAlone(key, waiting);
    }
    batches -= 1;
    writeDue();
  }

  async function writeAlone(key: string, waiting: Waiting<In, Out>[]) {
    try {
      await write(waiting, writeOwn);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
    lines.release(key);
    writeDue();
  }

  return {
    /** Resolves with what was written of the item. */
    add(item: In): Promise<Out> {
      const { promise, resolve, reject } = Promise.withResolvers<Out>();
      lines.add(keyOf(item), { item, resolve, reject });
      timer.start();
      if (lines.isDue(most)) writeDue();
      return promise;
    },
    /** Writes what is gathered of a key without waiting for more. */
    flush(key: string) {
      lines.setDue(key);
      writeDue();
      if (lines.isEmpty()) timer.stop();
    },
  };
}

async function write<In, Out>(
  waiting: Waiting<In, Out>[],
  writeAll: (items: In[]) => Promise<Out[]>,
) {
  const written = await writeAll(waiting.map(({ item }) => item));
  for (const [place, { resolve }] of waiting.entries()) resolve(written[place]!);
}

/** A time that is over once after each start; 0 is the end of this turn of the loop. */
function createTimer(ms: number, isOver: () => void) {
  let timer: NodeJS.Timeout | NodeJS.Immediate | undefined;
  const end = () => {
    timer = undefined;
    isOver();
  };
  return {
    start() {
      timer ??= ms > 0 ? setTimeout(end, ms) : setImmediate(end);
    },
    stop() {
      if (ms > 0) clearTimeout(timer as NodeJS.Timeout | undefined);
      else clearImmediate(timer as NodeJS.Immediate | undefined);
      timer = undefined;
    },
  };
}
