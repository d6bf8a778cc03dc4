/** A place in an order of parts, and what is known of the order that ends there. */
export type PathPlace<Part, Known> = { next: Map<Part, PathPlace<Part, Known>>; known?: Known };

/** Places of orders of parts, to remember what each order comes to. With more than `most` all are discarded. */
export function createPlaces<Part, Known>(most: number) {
  let root: PathPlace<Part, Known> = { next: new Map() };
  let count = 0;

  function clear() {
    root = { next: new Map() };
    count = 0;
  }

  function step(from: PathPlace<Part, Known>, over: Part): PathPlace<Part, Known> {
    const there = from.next.get(over);
    if (there) return there;
    const place: PathPlace<Part, Known> = { next: new Map() };
    count += 1;
    if (count > most) clear();
    from.next.set(over, place);
    return place;
  }

  return { root: () => root, step, clear };
}
