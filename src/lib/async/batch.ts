type Waiting<In, Out> = {
  item: In;
  resolve: (out: Out) => void;
  reject: (error: unknown) => void;
};

type BatchLimits = {
  maxItems: number;
  /** Batches of several keys that are written at once. */
  concurrency?: number;
  /** Time that the first item of a batch waits for others; 0 is until the end of this turn of the loop. */
  lingerMs?: number;
};

type BatchWriters<In, Out> = {
  /** Without it all items have the same key: one batch is written after the other. */
  keyOf?: (item: In) => string;
  /**
   * Writes items of several keys, all or none. With `writeKey` it must fail soon when one of them is held up, since the
   * others wait with it.
   */
  write: (items: In[]) => Promise<Out[]>;
  /** Writes items of one key after a failure of `write`, however long that takes. */
  writeKey?: (items: In[]) => Promise<Out[]>;
};

/**
 * Collects items and writes those of all keys, such as organizations, in common batches, in which each key has its
 * share. A batch is written when it is full, when its first item has waited long enough, or at `flush`. The keys of a
 * batch wait until it is written, so that their items keep their order; items of other keys go into another batch next
 * to it. A key that is held up leaves the common batches until it goes on.
 *
 *     const saves = createBatch({ keyOf, write, writeKey }, { maxItems: 100, concurrency: 2, lingerMs: 20 });
 *     await saves.add(row);
 */
export function createBatch<In, Out>(
  { keyOf = () => '', write, writeKey }: BatchWriters<In, Out>,
  { maxItems, concurrency = 1, lingerMs = 0 }: BatchLimits,
) {
  /** Items by key. Those of a busy key wait for the end of a batch. */
  const ready = new Map<string, Waiting<In, Out>[]>();
  const busy = new Map<string, { items: Waiting<In, Out>[]; due: boolean }>();
  let [readyItems, due, batches] = [0, false, 0];
  let isTimed = false;

  function add(item: In): Promise<Out> {
    const { promise, resolve, reject } = Promise.withResolvers<Out>();
    const key = keyOf(item);
    const waiting = busy.get(key)?.items ?? ready.get(key) ?? [];
    waiting.push({ item, resolve, reject });
    if (!busy.has(key)) {
      ready.set(key, waiting);
      readyItems += 1;
    }
    startTimer();
    if (readyItems >= maxItems) writeDue();
    return promise;
  }

  function startTimer() {
    if (isTimed) return;
    isTimed = true;
    const end = () => {
      isTimed = false;
      flush();
    };
    if (lingerMs > 0) setTimeout(end, lingerMs);
    else setImmediate(end);
  }

  /** Writes what is gathered without waiting for more. */
  function flush() {
    due = readyItems > 0;
    for (const line of busy.values()) line.due = line.items.length > 0;
    writeDue();
  }

  function writeDue() {
    while (batches < concurrency && readyItems > 0 && (due || readyItems >= maxItems)) {
      void writeBatch(take());
    }
  }

  /** Takes items of as many keys as there are. The keys are busy until they are released. */
  function take() {
    const batch = takeShares(ready, maxItems);
    for (const [key, items] of batch) {
      const rest = ready.get(key) ?? [];
      ready.delete(key);
      busy.set(key, { items: rest, due: rest.length > 0 });
      readyItems -= items.length + rest.length;
    }
    due &&= readyItems > 0;
    return batch;
  }

  function release(key: string) {
    const line = busy.get(key)!;
    busy.delete(key);
    if (line.items.length === 0) return;
    ready.set(key, line.items);
    readyItems += line.items.length;
    due ||= line.due;
  }

  async function writeBatch(batch: Map<string, Waiting<In, Out>[]>) {
    batches += 1;
    try {
      await writeAll([...batch.values()].flat(), write);
      for (const key of batch.keys()) release(key);
    } catch (error) {
      for (const [key, waiting] of batch) void retryKey(key, waiting, error);
    }
    batches -= 1;
    writeDue();
  }

  async function retryKey(key: string, waiting: Waiting<In, Out>[], failure: unknown) {
    try {
      if (!writeKey) throw failure;
      await writeAll(waiting, writeKey);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
    release(key);
    writeDue();
  }

  return { add, flush };
}

async function writeAll<In, Out>(
  waiting: Waiting<In, Out>[],
  write: (items: In[]) => Promise<Out[]>,
) {
  const written = await write(waiting.map(({ item }) => item));
  for (const [place, { resolve }] of waiting.entries()) resolve(written[place]!);
}

function takeShares<Item>(lines: Map<string, Item[]>, maxItems: number): Map<string, Item[]> {
  const taken = new Map<string, Item[]>();
  for (let left = maxItems; left > 0 && lines.size > 0; ) {
    const share = Math.max(1, Math.floor(left / lines.size));
    for (const [key, items] of lines) {
      const part = items.splice(0, Math.min(share, left));
      left -= part.length;
      if (part.length > 0) taken.set(key, [...(taken.get(key) ?? []), ...part]);
      if (items.length === 0) lines.delete(key);
    }
  }
  return taken;
}
