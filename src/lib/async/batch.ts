type Waiting<In, Out> = {
  item: In;
  resolve: (out: Out) => void;
  reject: (error: unknown) => void;
};

type BatchLimits = {
  most: number;
  /** How long the first item of a batch waits for others; 0 is until the end of this turn of the loop. */
  lingerMs?: number;
};

/**
 * Collects items and writes them in batches, one after the other. A batch is written when it is full, when
 * its first item has waited long enough, or at `flush`; the next one fills meanwhile.
 *
 *     const saves = createBatch(saveRows, { most: 100, lingerMs: 20 });
 *     await saves.add(row);
 */
export function createBatch<In, Out>(
  write: (items: In[]) => Promise<Out[]>,
  { most, lingerMs = 0 }: BatchLimits,
) {
  const gathered: Waiting<In, Out>[] = [];
  let [writing, due] = [false, false];
  let timer: NodeJS.Timeout | NodeJS.Immediate | undefined;

  async function writeDue() {
    if (writing) return;
    writing = true;
    while (gathered.length >= most || (due && gathered.length > 0)) {
      await writeOne(gathered.splice(0, most));
    }
    due = false;
    writing = false;
  }

  async function writeOne(batch: Waiting<In, Out>[]) {
    if (gathered.length === 0) due = false;
    try {
      const written = await write(batch.map(({ item }) => item));
      for (const [place, { resolve }] of batch.entries()) resolve(written[place]!);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  /** Writes what is gathered without waiting for more. */
  function flush() {
    if (lingerMs > 0) clearTimeout(timer as NodeJS.Timeout | undefined);
    timer = undefined;
    due = gathered.length > 0;
    void writeDue();
  }

  /** Resolves with what was written of the item. */
  function add(item: In): Promise<Out> {
    const { promise, resolve, reject } = Promise.withResolvers<Out>();
    gathered.push({ item, resolve, reject });
    if (gathered.length >= most) void writeDue();
    timer ??= lingerMs > 0 ? setTimeout(flush, lingerMs) : setImmediate(flush);
    return promise;
  }

  return { add, flush };
}
