import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowedMethods } from '../../../src/lib/http/router.ts';

const routes = [
  { method: 'ALL', path: '/*' },
  { method: 'GET', path: '/hooks/:id' },
  { method: 'DELETE', path: '/hooks/:id' },
  { method: 'POST', path: '/hooks/events' },
  { method: 'GET', path: '/docs/*' },
];

const cases: [path: string, methods: string[]][] = [
  ['/hooks/1', ['DELETE', 'GET', 'HEAD', 'OPTIONS']],
  ['/hooks/events', ['OPTIONS', 'POST']],
  ['/hooks/', []],
  ['/hooks/1/2', []],
  ['/docs/a', ['GET', 'HEAD', 'OPTIONS']],
  ['/docs/a/b/c', ['GET', 'HEAD', 'OPTIONS']],
  ['/other', []],
];
for (const [path, methods] of cases) {
  test(`${path} takes ${methods.join(', ') || 'nothing'}`, () => {
    assert.deepEqual(allowedMethods(routes, path), methods);
  });
}
