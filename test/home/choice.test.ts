import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseKind, type HomeScope, kindScopes, scopeQuery } from '../../src/home/rules.ts';

const kinds = [
  { type: 'ces', audience: 'customer' },
  { type: 'nps', audience: 'customer' },
  { type: 'nps', audience: 'employee' },
] as Parameters<typeof kindScopes>[0]['kinds'];
const properties = { 'property.plan': 'pro' } as const;
const scopes = kindScopes({ kinds }, properties);
const scope = (over: Partial<HomeScope>) => ({ survey: null, properties, audience: null, ...over });

test('employees and customers are apart where both are asked alike', () => {
  assert.deepEqual(scopes, [
    scope({ type: 'ces' }),
    scope({ type: 'nps', audience: 'customer' }),
    scope({ type: 'nps', audience: 'employee' }),
  ]);
});

test('links ask for a survey, or for a kind with its audience where that is said', () => {
  const survey = { id: 'a', type: 'nps' } as NonNullable<HomeScope['survey']>;
  assert.deepEqual(scopeQuery({ ...scopes[0]!, survey }), { survey_id: 'a', ...properties });
  assert.deepEqual(scopeQuery(scopes[0]!), { type: 'ces', ...properties });
  assert.deepEqual(scopeQuery(scopes[2]!), { type: 'nps', audience: 'employee', ...properties });
});

const asked: [asked: Parameters<typeof chooseKind>[1], place: number][] = [
  [{}, 0],
  [{ type: 'star5' }, 0],
  [{ type: 'nps' }, 1],
  [{ type: 'nps', audience: 'employee' }, 2],
  [{ type: 'nps', audience: 'partner' }, 1],
  [{ audience: 'employee' }, 0],
];
for (const [wish, place] of asked) {
  test(`${JSON.stringify(wish)} chooses kind ${place}`, () =>
    assert.equal(chooseKind(scopes, wish), scopes[place]));
}

test('without any kind there is none to choose', () => {
  assert.equal(chooseKind([], { type: 'nps' }), undefined);
});
