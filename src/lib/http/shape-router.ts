import type { ParamIndexMap, Params, Result, Router } from 'hono/router';
import { TrieRouter } from 'hono/router/trie-router';
import { createPlaces } from '../async/places.ts';

/** Routes for one shape of paths, with the place of each parameter in the path. */
type Found<T> = [T, ParamIndexMap][];

/** Paths with more parts are searched each time. */
const mostParts = 12;
/** A client can put the words of all routes together in any order. */
const mostPlaces = 10_000;
/** Stands for every part that is no word of a route. No part has this character in it: two of them would be two parts. */
const anyOther = '/';

/**
 * Searches routes once for each shape of a path. A part that no route spells out, such as an id, leads to the same
 * routes as any other, so the shape of a path is its words, in their places.
 */
export function createShapeRouter<T>(): Router<T> {
  const trie = new TrieRouter<T>();
  const words = new Set<string>();
  const { root, step, clear } = createPlaces<string, Found<T>>(mostPlaces);

  function add(method: string, path: string, handler: T) {
    if (/[{}]|[^/]\*/.test(path)) throw new Error(`${path} would match a part by its letters`);
    trie.add(method, path, handler);
    for (const part of path.split('/')) words.add(part).add(part.replace(/\?$/, ''));
    clear();
  }

  function match(method: string, path: string): Result<T> {
    const parts = path.split('/');
    if (parts.length > mostParts) return trie.match(method, path);
    let place = step(root(), method);
    for (const part of parts) {
      place = place.next.get(part) ?? step(place, words.has(part) ? part : anyOther);
    }
    place.known ??= search(method, parts);
    return [place.known, parts];
  }

  function search(method: string, parts: readonly string[]): Found<T> {
    const marked = parts.map((part, at) => (words.has(part) ? part : `\0${at}`));
    const [routes] = trie.match(method, marked.join('/')) as [[T, Params][]];
    return routes.map(([handler, params]) => {
      const named = Object.entries(params).map(([name, value]) => [name, marked.indexOf(value)]);
      return [handler, Object.fromEntries(named) as ParamIndexMap];
    });
  }

  return { name: 'ShapeRouter', add, match };
}
