import { raw } from 'hono/html';
import type { Child } from 'hono/jsx';
import { memoize } from '../../lib/async/memoize.ts';

/**
 * A component that is drawn once for equal properties: drawing costs ten times what comparing does, and most of a page
 * is what it was for the reader before. The properties must be plain data that say everything that is drawn: a function
 * or a map among them would be taken for equal to any other. As many drawings are kept as `most` says, the latest.
 *
 *     export const Rail = drawnOnce(500, ({ reader, section }: RailProps) => <header>...</header>);
 */
export const drawnOnce = <Props extends object>(most: number, draw: (props: Props) => Child) =>
  memoize(most, (props: Props) => raw(String(draw(props))));
