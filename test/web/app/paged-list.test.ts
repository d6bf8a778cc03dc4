import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PagedList } from '../../../src/web/app/lists.tsx';

const pages: [page: number, total: number, links: string[]][] = [
  [1, 0, []],
  [1, 10, []],
  [1, 11, ['/2']],
  [2, 11, ['/1']],
  [2, 20, ['/1']],
  [2, 21, ['/1', '/3']],
  [3, 21, ['/2']],
  [4, 21, ['/1', '/3']],
  [9, 21, ['/1', '/3']],
];
for (const [page, total, links] of pages) {
  test(`page ${page} of ${total} rows, ten on each, leads to ${links.join(' and ') || 'no other'}`, () => {
    const meta = { page, limit: 10, total };
    const at = (number: number) => `/${number}`;
    const html = String(PagedList({ meta, at, empty: 'none', children: 'rows' }));
    const found = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!);
    assert.deepEqual(found, links);
  });
}
