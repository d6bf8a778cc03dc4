const groupedAtOnce = 200;

/** At most so many at once; the others wait in line. */
export function createSlots(most: number) {
  let free = most;
  const line: (() => void)[] = [];
  async function run<T>(work: () => Promise<T>): Promise<T> {
    if (free > 0) free -= 1;
    else await new Promise<void>((turn) => line.push(turn));
    try {
      return await work();
    } finally {
      const next = line.shift();
      if (next) next();
      else free += 1;
    }
  }
  return { run };
}

type Waiter<In, Out> = { item: In; resolve: (out: Out) => void; reject: (error: unknown) => void };

/**
 * Collects calls while one group is being written, and writes them as the next. The first group waits for
 * what else this turn of the event loop brings.
 */
export function batched<In, Out>(write: (items: In[]) => Promise<Out[]>) {
  const gathered: Waiter<In, Out>[] = [];
  let writing = false;

  async function writeAll() {
    writing = true;
    while (gathered.length > 0) {
      const group = gathered.splice(0, groupedAtOnce);
      try {
        const written = await write(group.map(({ item }) => item));
        for (const [place, { resolve }] of group.entries()) resolve(written[place]!);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    writing = false;
  }

  return (item: In) =>
    new Promise<Out>((resolve, reject) => {
      gathered.push({ item, resolve, reject });
      if (!writing) setImmediate(() => void (writing || writeAll()));
    });
}
