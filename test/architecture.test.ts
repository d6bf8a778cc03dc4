import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importsOf, readFiles, statementsIn, withoutComments } from './support/sources.ts';

/**
 * Layers: `src/lib` <- the files directly under `src` that import no feature <- features (the other folders) <- entry
 * points (the files directly under `src` that import features).
 */
const files = readFiles('src/**/*.{ts,tsx}');
const byPath = new Map(files.map((file) => [file.path, file]));

const isLib = (path: string) => path.startsWith('src/lib/');
const featureOf = (path: string) => (isLib(path) ? undefined : /^src\/([\w-]+)\//.exec(path)?.[1]);
/** Files directly under `src` that reach a feature. */
const entries = new Set<string>();
for (let size = -1; size < entries.size; ) {
  size = entries.size;
  for (const file of files) {
    const reaches = importsOf(file).some((target) => featureOf(target) || entries.has(target));
    if (/^src\/[^/]+$/.test(file.path) && reaches) entries.add(file.path);
  }
}

test('imports follow the layers', () => {
  const wrong = files.flatMap((file) =>
    importsOf(file)
      .filter((target) =>
        isLib(file.path)
          ? !isLib(target) && target !== 'src/errors.ts'
          : !entries.has(file.path) && entries.has(target),
      )
      .map((target) => `${file.path} -> ${target}`),
  );
  assert.deepEqual(wrong, [], 'lib <- features <- entry points');
});

test('features never import screens of other features', () => {
  const wrong = files
    .filter(({ path }) => featureOf(path))
    .flatMap((file) => importsOf(file).map((target) => ({ path: file.path, target })))
    .filter(
      ({ path, target }) => /\/screens[./]/.test(target) && featureOf(target) !== featureOf(path),
    )
    .map(({ path, target }) => `${path} -> ${target}`);
  assert.deepEqual(wrong, []);
});

test('no file imports itself through others', () => {
  const state = new Map<string, 'open' | 'done'>();
  const cycles: string[] = [];
  const visit = (path: string, way: string[]) => {
    if (state.get(path) === 'open')
      cycles.push([...way.slice(way.indexOf(path)), path].join(' -> '));
    if (state.has(path)) return;
    state.set(path, 'open');
    for (const target of importsOf(byPath.get(path)!, 'values')) visit(target, [...way, path]);
    state.set(path, 'done');
  };
  for (const { path } of files) visit(path, []);
  assert.deepEqual(cycles, []);
});

const impure =
  /\basync\b(?!\/)|\bawait\b|\bPromise\b|Date\.now|performance\.now|new Date\(\)|randomUUID|randomBytes|Math\.random|\bprocess\.|\bsql`/;

test('rules are pure', () => {
  const rules = files.filter(({ path }) => /(^|[/.])(rules|scores)\.ts$/.test(path));
  assert.ok(rules.length > 5);
  for (const rule of rules) {
    const reached = new Set([rule]);
    for (const file of reached) {
      const match = impure.exec(withoutComments(file.text))?.[0];
      assert.equal(
        match,
        undefined,
        `${rule.path} reaches ${file.path}: pass in time, chance and rows`,
      );
      for (const target of importsOf(file, 'values')) reached.add(byPath.get(target)!);
    }
  }
});

test('each table is written by one feature', () => {
  const tables = new Set(
    [
      ...readFiles('sql/schema.sql')[0]!.text.matchAll(
        /create (?:unlogged )?table (?:\w+\.)?(\w+)/gi,
      ),
    ].map(([, table]) => table!),
  );
  const writers = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    const place = isLib(path) ? path.split('/').slice(0, 3).join('/') : (featureOf(path) ?? path);
    for (const statement of statementsIn(text)) {
      for (const [, table] of statement.matchAll(
        /\b(?:insert into|(?<!for |do )update|delete from)\s+(\w+)/g,
      )) {
        if (tables.has(table!)) writers.set(table!, (writers.get(table!) ?? new Set()).add(place));
      }
    }
  }
  const shared = [...writers].filter(([, places]) => places.size > 1);
  assert.deepEqual(
    shared.map(([table, places]) => `${table}: ${[...places].join(', ')}`),
    [],
    'call a function of the owner',
  );
});
