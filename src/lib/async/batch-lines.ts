/** Items of one key, in their order, and whether they are to be written without waiting for more. */
type BatchLine<Item> = { items: Item[]; due: boolean };

export type BatchLines<Item> = ReturnType<typeof createBatchLines<Item>>;

/** Items that wait to be written, by key. A key of which a batch is written is busy: its items wait for its end. */
export function createBatchLines<Item>() {
  const ready = new Map<string, Item[]>();
  const busy = new Map<string, BatchLine<Item>>();
  let [readyItems, due] = [0, false];

  function add(key: string, item: Item) {
    const waiting = busy.get(key)?.items ?? ready.get(key);
    if (waiting) waiting.push(item);
    else ready.set(key, [item]);
    if (!busy.has(key)) readyItems += 1;
  }

  /** What waits now is to be written as soon as it may be: of this key, or of all. */
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

  /** The batch of the key is written: what came meanwhile goes behind the other keys. */
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

/** Takes at most so many items out of the lines, in rounds in which each key has the same share. */
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
