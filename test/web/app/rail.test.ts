import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rail } from '../../../src/web/app/screen.tsx';

const organization = {
  name: 'Larkspur',
  slug: 'larkspur',
  color: '#0f766e',
  role: 'owner',
} as const;

for (const [count, shown] of [
  [0, undefined],
  [1, '1'],
  [99, '99'],
  [100, '99+'],
] as const) {
  test(`${count} open detractors and failing webhooks are shown as ${shown ?? 'nothing'}`, () => {
    const counts = { openDetractors: count, failingWebhooks: count };
    const reader = {
      member: { name: 'Lena', isOperator: false },
      otherOrganizations: [],
      organization: { ...organization, ...counts },
    };
    const html = String(Rail({ reader: reader as never, section: 'home' }));
    const numbers = [...html.matchAll(/<span class="count"[^>]*><span[^>]*>, <\/span>(.*?)</g)];
    assert.deepEqual(
      numbers.map(([, number]) => number),
      shown ? [shown, shown] : [],
    );
  });
}
