import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Params, Result } from 'hono/router';
import { TrieRouter } from 'hono/router/trie-router';
import { createShapeRouter } from '../../../src/lib/http/shape-router.ts';

type Route = [method: string, path: string];

/** The routes that a router found, each with what its parameters stand for. */
function found([routes, parts]: Result<string>): [string, Params][] {
  return (routes as [string, Record<string, string | number>][]).map(([route, params]) => [
    route,
    Object.fromEntries(
      Object.entries(params).map(([name, at]) => [name, parts ? parts[at as number]! : `${at}`]),
    ),
  ]);
}

function routers(routes: readonly Route[]) {
  const [shapes, trie] = [createShapeRouter<string>(), new TrieRouter<string>()];
  for (const [at, [method, path]] of routes.entries()) {
    for (const router of [shapes, trie]) router.add(method, path, `${at} ${method} ${path}`);
  }
  return { shapes, trie };
}

const word = fc.constantFrom('a', 'b', 'new', '', '*', ':id', '/');
const route = fc.tuple(
  fc.constantFrom('GET', 'POST', 'ALL'),
  fc
    .array(fc.constantFrom('a', 'b', 'new', ':id', ':other', '*'), { maxLength: 5 })
    .map((parts) => `/${parts.join('/')}`),
);
const asked = fc.tuple(
  fc.constantFrom('GET', 'POST', 'PUT'),
  fc
    .array(fc.oneof(word, fc.string({ maxLength: 3 })), { maxLength: 15 })
    .map((parts) => `/${parts.join('/')}`),
);

test('any path leads to the routes that a search without memory finds, with the same parameters', () => {
  fc.assert(
    fc.property(
      fc.array(route, { maxLength: 12 }),
      fc.array(asked, { maxLength: 30 }),
      (routes, paths) => {
        const { shapes, trie } = routers(routes);
        for (const [method, path] of [...paths, ...paths]) {
          assert.deepEqual(
            found(shapes.match(method, path)),
            found(trie.match(method, path)),
            `${method} ${path}`,
          );
        }
      },
    ),
  );
});

test('paths that differ in their ids share what was found', () => {
  const { shapes } = routers([['GET', '/things/:id']]);
  const [one] = shapes.match('GET', '/things/1');
  const [other] = shapes.match('GET', '/things/2');
  assert.equal(one, other);
});

test('more shapes of paths than are remembered lead to the same routes', () => {
  const words = Array.from({ length: 110 }, (_, at) => `w${at}`);
  const { shapes } = routers([
    ['GET', '/:one/:other'],
    ...words.map((each): Route => ['GET', `/${each}`]),
  ]);
  const ask = (one: string, other: string) => found(shapes.match('GET', `/${one}/${other}`));
  const first = shapes.match('GET', '/w1/w2')[0];
  for (const one of words) {
    for (const other of words) {
      assert.deepEqual(ask(one, other), [['0 GET /:one/:other', { one, other }]]);
    }
  }
  assert.notEqual(shapes.match('GET', '/w1/w2')[0], first);
});

test('a route that is added later is found too', () => {
  const { shapes } = routers([['GET', '/:id']]);
  assert.equal(shapes.match('GET', '/new')[0].length, 1);
  shapes.add('GET', '/:other', 'other');
  assert.equal(shapes.match('GET', '/new')[0].length, 2);
});

test('a route that would match a part by its letters is refused', () => {
  for (const path of ['/:id{[0-9]+}', '/files-*']) {
    assert.throws(() => createShapeRouter<string>().add('GET', path, ''), /by its letters/);
  }
});
