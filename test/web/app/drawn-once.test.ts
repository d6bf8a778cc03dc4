import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsx } from 'hono/jsx';
import { clearDrawings, drawnOnce } from '../../../src/web/app/drawn-once.ts';

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

/** A component that counts how often it is drawn. */
function counted() {
  let drawn = 0;
  const Greeting = drawnOnce(10, ({ name }: Named) => {
    drawn += 1;
    return jsx('b', {}, name);
  });
  return { greet: () => String(jsx(Greeting, { name: 'Ann' })), drawn: () => drawn };
}

test('a drawing is dropped after some minutes, used or not', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { greet, drawn } = counted();
  for (const minutes of [0, 4, 2, 4]) {
    t.mock.timers.tick(minutes * 60_000);
    greet();
  }
  assert.equal(drawn(), 2);
});

test('all drawings can be dropped at once, and later ones live as long as any', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const [one, other] = [counted(), counted()];
  const both = () => [one.greet(), other.greet()];
  both();
  t.mock.timers.tick(3 * 60_000);
  assert.deepEqual([one.drawn(), other.drawn()], [1, 1]);
  clearDrawings();
  both();
  assert.deepEqual([one.drawn(), other.drawn()], [2, 2]);
  t.mock.timers.tick(3 * 60_000);
  both();
  assert.deepEqual([one.drawn(), other.drawn()], [2, 2]);
});

test('properties that JSON leaves out do not compile', () => {
  const draw = () => jsx('b', {});
  // @ts-expect-error a function
  drawnOnce<{ name: () => string }>(10, draw);
  // @ts-expect-error a map, deep in them
  drawnOnce<{ members: readonly { names: Map<string, string> }[] }>(10, draw);
  drawnOnce<{ at: Date; names: readonly (string | null)[]; most?: number }>(10, draw);
});
