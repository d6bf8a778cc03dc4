import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseErasures } from '../../src/people/receipts-file.ts';

const receipt = {
  id: '0a8e4c1e-6f6e-4a34-9f35-3d4a1f3f8f10',
  org_id: '5b1c7d52-3f0e-4f0c-8f53-0b0d8d5f2a11',
  erased_at: '2026-03-04T05:06:07.000Z',
  address_hash: 'a'.repeat(64),
  counts: { contacts: 1 },
  scores: 'kept',
  allowed_at: null as string | null,
};
const line = (over: Record<string, unknown> = {}) => JSON.stringify({ ...receipt, ...over });
const complaint = (text: string) => {
  try {
    parseErasures(text);
  } catch (error) {
    return (error as Error).message;
  }
  return null;
};

test('last line of a receipt counts, and blank lines are ignored', () => {
  const allowedAt = '2026-03-05T00:00:00.000Z';
  const other = '11111111-6f6e-4a34-9f35-3d4a1f3f8f10';
  const read = parseErasures(
    [line(), '', line({ id: other }), ' ', line({ allowed_at: allowedAt }), ''].join('\n'),
  );
  const expected = { ...receipt, erased_at: new Date(receipt.erased_at) };
  assert.deepEqual(read, [
    { ...expected, allowed_at: new Date(allowedAt) },
    { ...expected, id: other },
  ]);
});

test('receipt file names each invalid field', () => {
  const wrong: [Record<string, unknown>, string][] = [
    [{ id: 'x' }, 'id must be a UUID'],
    [{ org_id: undefined }, 'org_id is missing'],
    [{ erased_at: 'yesterday' }, 'erased_at must be an ISO 8601 time'],
    [{ address_hash: 'a'.repeat(63) }, 'address_hash must be 64 hexadecimal digits'],
    [{ address_hash: 'a'.repeat(65) }, 'address_hash must be 64 hexadecimal digits'],
    [{ address_hash: `g${'a'.repeat(63)}` }, 'address_hash must be 64 hexadecimal digits'],
    [{ scores: 'lost' }, 'scores must be kept or deleted'],
    [{ allowed_at: 'never' }, 'allowed_at must be an ISO 8601 time'],
    [{ allowed_at: undefined }, 'allowed_at is missing'],
  ];
  for (const [over, said] of wrong) {
    assert.equal(
      complaint(`${line()}\n${line(over)}`),
      `nothing was done, because these lines are invalid:\n  line 2: ${said}`,
    );
  }
  assert.match(complaint(line({ counts: { contacts: -1 } })) ?? '', /line 1: counts\.contacts /);
  assert.match(complaint(line({ counts: { contacts: 0.5 } })) ?? '', /line 1: counts\.contacts /);
  assert.equal(complaint(line({ counts: { contacts: 0 }, scores: 'deleted' })), null);
  assert.match(complaint('{"id": ') ?? '', /line 1: it is not valid JSON$/);
  assert.match(complaint('7') ?? '', /line 1: it /);
});
