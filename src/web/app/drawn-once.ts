import { raw } from 'hono/html';
import type { Child } from 'hono/jsx';
import { memoize } from '../../lib/async/memoize.ts';
import type { PlainData } from '../../lib/async/plain-data.ts';

/** Drawings hold what persons wrote: they are kept no longer than this, also in a process that erases no person itself. */
const longestMs = 5 * 60_000;
const stores = new Set<() => void>();

/**
 * A component that is drawn once for equal properties: drawing costs ten times what comparing does, and most of a page
 * is what it was for the reader before. The properties must be plain data that say everything that is drawn: a function
 * or a map among them would be taken for equal to any other, and does not compile. As many drawings are kept as `most`
 * says, the latest, for some minutes.
 *
 *     export const Rail = drawnOnce(500, ({ reader, section }: RailProps) => <header>...</header>);
 */
export function drawnOnce<Props extends object>(
  most: number,
  draw: (props: Props) => Child,
  ..._plain: Props extends PlainData<Props> ? [] : [notPlainData: never]
) {
  const drawn = memoize(most, (props: Props) => drawNow(draw(props)));
  let timer: NodeJS.Timeout | undefined;
  const clear = () => {
    clearTimeout(timer);
    timer = undefined;
    drawn.clear();
  };
  stores.add(clear);
  return (props: Props) => {
    timer ??= setTimeout(clear, longestMs).unref();
    return drawn(props);
  };
}

/** Drawn when it is made, not when it is shown: many pages may show it. */
export const drawNow = (child: Child) => raw(String(child));

/** Drops all drawings of this process: an erased person may be in them. */
export function clearDrawings() {
  for (const clear of stores) clear();
}
