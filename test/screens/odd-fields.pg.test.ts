import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keptForms } from './forms.ts';
import { cookieOf } from './scene/organizations.ts';
import { makeStillScene } from './scene/scene.ts';

const { app } = await makeStillScene();

/** Values that no form of ours offers, and that are at the edge of what a field may hold. */
const values = [
  ...['', 'x', '-1', '9'.repeat(30), '0000-01-01', '9999-12-31T23:59', '2024-02-30', 'infinity'],
  ...['en-x-a', '{{name|', '[]', '\u{1F600}', 'Factory', '00000000-0000-0000-0000-000000000000'],
];

const places = Map.groupBy(
  Object.values(keptForms).flat(),
  ({ path, as = 'owner' }) => `${as} ${path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')}`,
);

for (const [place, forms] of places) {
  const { path, as = 'owner' } = forms[0]!;
  const fields = Object.assign({}, ...forms.map(({ form }) => form)) as Record<string, string>;
  if (Object.keys(fields).length === 0) continue;

  test(`the form of ${place} is taken or refused, whatever its fields hold`, async () => {
    const broken: string[] = [];
    for (const name of Object.keys(fields)) {
      for (const value of values) {
        const pairs = Object.entries({ ...fields, [name]: value });
        const answer = await app.request(`https://askback.test${path}`, {
          method: 'POST',
          headers: { Accept: 'text/html', ...(as && cookieOf(as)) },
          body: new URLSearchParams(
            pairs.flatMap(([field, held]) =>
              [held].flat().map((one): [string, string] => [field, one]),
            ),
          ),
        });
        if (answer.status >= 500) broken.push(`${name}=${value}: ${answer.status}`);
        await answer.body?.cancel();
      }
    }
    assert.deepEqual(broken, []);
  });
}
