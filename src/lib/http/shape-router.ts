import type { ParamIndexMap, Params, Result, Router } from 'hono/router';
import { TrieRouter } from 'hono/router/trie-router';

/** Routes for one shape of paths, with the place of each parameter in the path. */
type Found<T> = [T, ParamIndexMap][];
/** A place in the order of parts. At the end of a path it knows the routes of all paths of this shape. */
type Place<T> = { next: Map<string, Place<T>>; found?: Found<T> };

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
  let begin: Place<T> = { next: new Map() };
  let places = 0;

  function add(method: string, path: string, handler: T) {
    if (/[{}]|[^/]\*/.test(path)) throw new Error(`${path} would match a part by its letters`);
    trie.add(method, path, handler);
    for (const part of path.split('/')) words.add(part).add(part.replace(/\?$/, ''));
    begin = { next: new Map() };
  }

  function match(method: string, path: string): Result<T> {
    const parts = path.split('/');
    if (parts.length > mostParts) return trie.match(method, path);
    let place = step(begin, method);
    for (const part of parts) {
      place = place.next.get(part) ?? step(place, words.has(part) ? part : anyOther);
    }
    place.found ??= search(method, parts);
    return [place.found, parts];
  }

  function step(from: Place<T>, over: string): Place<T> {
    const known = from.next.get(over);
    if (known) return known;
    const place: Place<T> = { next: new Map() };
    places += 1;
    if (places > mostPlaces) {
      begin = { next: new Map() };
      places = 0;
    }
    from.next.set(over, place);
    return place;
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
