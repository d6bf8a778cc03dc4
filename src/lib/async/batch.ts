type Waiting<In, Out> = {
  item: In;
  resolve: (out: Out) => void;
  reject: (error: unknown) => void;
};

type BatchLimits = {
  most: number;
  /** How many batches of several keys are written at once. */
  atOnce?: number;
  /** How long the first item of a batch waits for others; 0 is until the end of this turn of the loop. */
  lingerMs?: number;
};

type BatchWriters<In, Out> = {
  /** Without it all items have the same key: one batch is written after the other. */
  keyOf?: (item: In) => string;
  /**
   * Writes items of several keys, all or none. With `writeOwn` it must fail soon when one of them is held up, since the
   * others wait with it.
   */
  write: (items: In[]) => Promise<Out[]>;
  /** Writes items of one key after a failure of `write`, however long that takes. */
  writeOwn?: (items: In[]) => Promise<Out[]>;
};

/**
 * Collects items and writes those of all keys, such as organizations, in common batches, in which each key has its
 * share. A batch is written when it is full, when its first item has waited long enough, or at `flush`. The keys of a
 * batch wait until it is written, so that their items keep their order; items of other keys go into another batch next
 * to it. A key that is held up leaves the common batches until it goes on.
 *
 *     const saves = createBatch({ keyOf, write, writeOwn }, { most: 100, atOnce: 2, lingerMs: 20 });
 *     await saves.add(row);
 */
export function createBatch<In, Out>(
  { keyOf = () => '', write, writeOwn }: BatchWriters<In, Out>,
  { most, atOnce = 1, lingerMs = 0 }: BatchLimits,
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
      await writeAll([...batch.values()].flat(), write);
      for (const key of batch.keys()) lines.release(key);
    } catch (error) {
      for (const [key, waiting] of batch) {
        if (writeOwn) void writeKey(key, waiting, writeOwn);
        else fail(key, waiting, error);
      }
    }
    batches -= 1;
    writeDue();
  }

  async function writeKey(
    key: string,
    waiting: Waiting<In, Out>[],
    writeOwn: (items: In[]) => Promise<Out[]>,
  ) {
    try {
      await writeAll(waiting, writeOwn);
      lines.release(key);
    } catch (error) {
      fail(key, waiting, error);
    }
    writeDue();
  }

  function fail(key: string, waiting: Waiting<In, Out>[], error: unknown) {
    for (const { reject } of waiting) reject(error);
    lines.release(key);
  }

  return {
    add(item: In): Promise<Out> {
      const { promise, resolve, reject } = Promise.withResolvers<Out>();
      lines.add(keyOf(item), { item, resolve, reject });
      timer.start();
      if (lines.isDue(most)) writeDue();
      return promise;
    },
    /** Writes what is gathered of a key without waiting for more. */
    flush(key = '') {
      lines.setDue(key);
      writeDue();
      if (lines.isEmpty()) timer.stop();
    },
  };
}

async function writeAll<In, Out>(
  waiting: Waiting<In, Out>[],
  write: (items: In[]) => Promise<Out[]>,
) {
  const written = await write(waiting.map(({ item }) => item));
  for (const [place, { resolve }] of waiting.entries()) resolve(written[place]!);
}

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

type BatchLine<Item> = { items: Item[]; due: boolean };

/** Items that wait to be written, by key. A key of which a batch is written is busy: its items wait for its end. */
function createBatchLines<Item>() {
  const ready = new Map<string, Item[]>();
  const busy = new Map<string, BatchLine<Item>>();
  let [readyItems, due] = [0, false];

  function add(key: string, item: Item) {
    const waiting = busy.get(key)?.items ?? ready.get(key);
    if (waiting) waiting.push(item);
    else ready.set(key, [item]);
    if (!busy.has(key)) readyItems += 1;
  }

  function setDue(key?: string) {
    due ||= key === undefined ? readyItems > 0 : ready.has(key);
    const lines = key === undefined ? busy.values() : [busy.get(key)];
    for (const line of lines) if (line && line.items.length > 0) line.due = true;
  }

  /** Takes items of as many keys as there are, each with its share. The keys are busy until they are released. */
  function take(most: number): Map<string, Item[]> {
    const batch = takeShares(ready, most);
    for (const [key, items] of batch) {
      const rest = ready.get(key) ?? [];
      ready.delete(key);
      busy.set(key, { items: rest, due: rest.length > 0 });
      readyItems -= items.length + rest.length;
    }
    if (readyItems === 0) due = false;
    return batch;
  }

  function release(key: string) {
    const { items, due: isDue } = busy.get(key)!;
    busy.delete(key);
    if (items.length === 0) return;
    ready.set(key, items);
    readyItems += items.length;
    due ||= isDue;
  }

  return {
    add,
    setDue,
    take,
    release,
    isDue: (most: number) => (due && readyItems > 0) || readyItems >= most,
    isEmpty: () => readyItems === 0 && [...busy.values()].every(({ items }) => items.length === 0),
  };
}

function takeShares<Item>(lines: Map<string, Item[]>, most: number): Map<string, Item[]> {
  const taken = new Map<string, Item[]>();
  for (let left = most; left > 0 && lines.size > 0; ) {
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
