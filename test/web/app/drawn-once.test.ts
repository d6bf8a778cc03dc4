import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsx } from 'hono/jsx';
import { drawnOnce } from '../../../src/web/app/drawn-once.ts';

type Named = { name: string };

test('equal properties are drawn once, and others on their own', () => {
  let drawn = 0;
  const Greeting = drawnOnce(10, ({ name }: Named) => {
    drawn += 1;
    return jsx('p', {}, name);
  });
  const greet = (name: string) => jsx(Greeting, { name });
  const page = () => String(jsx('main', {}, greet('Ann'), greet('Ann'), greet('Bob')));
  assert.equal(page(), '<main><p>Ann</p><p>Ann</p><p>Bob</p></main>');
  assert.equal(page(), '<main><p>Ann</p><p>Ann</p><p>Bob</p></main>');
  assert.equal(drawn, 2);
});

test('what readers wrote is escaped in what is kept', () => {
  const Greeting = drawnOnce(10, ({ name }: Named) => jsx('p', { title: name }, name));
  const page = () => String(jsx(Greeting, { name: '"><script>' }));
  assert.equal(page(), '<p title="&quot;&gt;&lt;script&gt;">&quot;&gt;&lt;script&gt;</p>');
  assert.equal(page(), page());
});

test('only the latest drawings are kept', () => {
  let drawn = 0;
  const Greeting = drawnOnce(2, ({ name }: Named) => {
    drawn += 1;
    return jsx('b', {}, name);
  });
  for (const name of ['Ann', 'Bob', 'Ann', 'Eve', 'Ann', 'Bob']) String(jsx(Greeting, { name }));
  assert.equal(drawn, 4);
});
