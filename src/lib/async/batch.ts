type Waiting<In, Out> = {
  item: In;
  resolve: (out: Out) => void;
  reject: (error: unknown) => void;
};

type BatchLimits = {
  maxItems: number;
  /** Maximum number of batches with several keys that are written at the same time. */
  concurrency?: number;
  /** Time that the first item waits for others. 0 waits until the end of this turn of the event loop. */
  lingerMs?: number;
};

type BatchWriters<In, Out> = {
  /** By default, all items have the same key and batches are written one after the other. */
  keyOf?: (item: In) => string;
  /** Writes items of several keys, all or none. With `writeKey`, must fail soon if one key is blocked by a lock. */
  write: (items: In[]) => Promise<Out[]>;
  /** Writes the items of one key after `write` failed, and may take long. */
  writeKey?: (items: In[]) => Promise<Out[]>;
};

/**
 * Writes items of many keys, such as organizations, in shared batches with a fair share for each key. A batch is
 * written when it is full, when its first item has waited long enough, or at `flush`. A key is in one batch at a time,
 * so its items keep their order. A blocked key is retried alone and delays no other.
 *
 *     const saves = createBatch({ keyOf, write, writeKey }, { maxItems: 100, concurrency: 2, lingerMs: 20 });
 *     await saves.add(row);
 */
export function createBatch<In, Out>(
  { keyOf = () => '', write, writeKey }: BatchWriters<In, Out>,
  { maxItems, concurrency = 1, lingerMs = 0 }: BatchLimits,
) {
  const ready = new Map<string, Waiting<In, Out>[]>();
  /** Keys that are being written, with the items that came since. */
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

  function flush() {
    due = readyItems > 0;
    for (const queue of busy.values()) queue.due = queue.items.length > 0;
    writeDue();
  }

  function writeDue() {
    while (batches < concurrency && readyItems > 0 && (due || readyItems >= maxItems)) {
      void writeBatch(take());
    }
  }

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
    const queue = busy.get(key)!;
    busy.delete(key);
    if (queue.items.length === 0) return;
    ready.set(key, queue.items);
    readyItems += queue.items.length;
    due ||= queue.due;
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

function takeShares<Item>(queues: Map<string, Item[]>, maxItems: number): Map<string, Item[]> {
  const batch = new Map<string, Item[]>();
  for (let room = maxItems; room > 0 && queues.size > 0; ) {
    const share = Math.max(1, Math.floor(room / queues.size));
    for (const [key, items] of queues) {
      const part = items.splice(0, Math.min(share, room));
      room -= part.length;
      if (part.length > 0) batch.set(key, [...(batch.get(key) ?? []), ...part]);
      if (items.length === 0) queues.delete(key);
    }
  }
  return batch;
}

export async function* inBatches<Item>(items: AsyncIterable<Item>, maxItems: number) {
  let batch: Item[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < maxItems) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
