import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import { assertWithout, importsOf, placeOf, readFiles } from './support/walls/sources.ts';

/**
 * The house has five storeys, and imports only go down: wiring, rooms, ground, libraries, errors. A room
 * is a first folder under `src`; in this list a room may import the rooms after it.
 */
const storeys: Record<string, string[]> = {
  wiring: [
    'main.ts',
    'cli.ts',
    'serve.ts',
    'serve-requests.ts',
    'app.ts',
    'api.ts',
    'examples',
    'work.ts',
    'job-work.ts',
    'tasks.ts',
    'text-thread.ts',
    'screens.ts',
  ],
  rooms: [
    'demo',
    'operations',
    'observations',
    'reporters',
    'mcp',
    'home',
    'notifications',
    'people',
    'moving',
    'mailbox',
    'campaigns',
    'sends',
    'summaries',
    'responses',
    'suppressions',
    'letters',
    'contacts',
    'surveys',
    'webhooks',
    'tags',
    'members',
    'keys',
    'organizations',
    'sessions',
    'audit',
    'web',
  ],
  ground: [
    'jobs-process.ts',
    'command-tools.ts',
    'text-reader.ts',
    'limits.ts',
    'log-fields.ts',
    'org-id.ts',
    'jobs.ts',
    'app-mailer.ts',
    'signals.ts',
    'scores.ts',
    'open-database.ts',
    'open-sessions.ts',
    'service-record.ts',
    'settings',
  ],
};
const order = Object.values(storeys).flat();

/** A library stands alone; these are all the libraries that one may import. */
const libraries: Record<string, string[]> = {
  async: [],
  backup: ['db', 'queue'],
  cli: ['smtp', 'validation'],
  crypto: [],
  db: ['async', 'process'],
  'embedded-postgres': [],
  export: ['db'],
  http: ['async', 'db', 'log', 'tracing', 'validation'],
  log: [],
  oidc: [],
  metrics: ['crypto', 'http', 'tracing'],
  openapi: [],
  outbound: ['async'],
  paging: ['db', 'validation'],
  pictures: [],
  process: ['async', 'log'],
  queue: ['async', 'db', 'log', 'tracing'],
  redact: [],
  smtp: ['async', 'validation'],
  tracing: ['async', 'log'],
  validation: ['async'],
  work: ['async', 'db', 'log'],
  worker: ['async'],
};

const files = readFiles('src/**/*.{ts,tsx}');

test('every file stands on a storey', () => {
  for (const { path } of files) {
    const place = placeOf(path);
    const known = place.startsWith('lib/')
      ? place.slice(4) in libraries
      : place === 'errors.ts' || order.includes(place);
    assert.ok(known, `${path}: put it into a room, or add the new place to this test's lists`);
  }
});

test('imports go down the storeys, never up', () => {
  const advice =
    'imports only go down. Move what both need into the lower room, take it as a parameter, or publish a signal';
  const upward = files
    .filter(({ path }) => !path.startsWith('src/lib/') && path !== 'src/errors.ts')
    .flatMap((file) => importsOf(file).map((target) => ({ path: file.path, target })))
    .filter(({ path, target }) => storeyOf(target) < storeyOf(path))
    .map(({ path, target }) => `${path} -> ${target}`);
  assert.ok(upward.length === 0, `${upward.join(', ')}: ${advice}`);
});

test('a library imports no room, and only the libraries that are declared for it', () => {
  for (const file of files.filter(({ path }) => path.startsWith('src/lib/'))) {
    const own = placeOf(file.path);
    for (const target of importsOf(file)) {
      const place = placeOf(target);
      if (place === own || place === 'errors.ts') continue;
      const advice = place.startsWith('lib/')
        ? 'a library stands alone: pass in what it needs, or declare the arrow in this test'
        : 'a library knows nothing of the product: pass in what it needs, or move the code into a room';
      const declared = libraries[own.slice(4)]!.map((name) => `lib/${name}`);
      assert.ok(declared.includes(place), `${file.path} -> ${target}: ${advice}`);
    }
  }
});

test('a library speaks of nothing that the product is about', () => {
  const product = /askback|\b(survey|respondent|suppression|nps\b|tally|org_?id\b)/i;
  for (const { path, text } of files) {
    if (!path.startsWith('src/lib/')) continue;
    const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    assertWithout(code, product, `${path}: take the word or the value as a parameter`);
  }
});

test('declared arrows between libraries exist', () => {
  for (const [name, targets] of Object.entries(libraries)) {
    const own = files.filter(({ path }) => placeOf(path) === `lib/${name}`);
    const places = new Set(own.flatMap((file) => importsOf(file)).map(placeOf));
    for (const target of targets) {
      assert.ok(places.has(`lib/${target}`), `lib/${name} no longer imports ${target}: remove it`);
    }
  }
});

test('no file imports itself by way of others', () => {
  const advice = 'move what two files need of each other into a third';
  const graph = new Map(files.map((file) => [file.path, importsOf(file)]));
  const circles = files
    .map(({ path }) => findPath(graph, path))
    .filter((circle) => circle !== undefined);
  assert.ok(circles.length === 0, `${circles.join('; ')}: ${advice}`);
});

test('a file is named for its one idea', () => {
  for (const { path } of files) {
    const advice = `${path}: name it for what it is about, or move each thing to where it is used`;
    assertWithout(basename(path), /^(utils?|helpers?|types|common|misc|index)\./, advice);
  }
});

test('the environment is read once, by main.ts, and the telemetry SDK is loaded in one place', () => {
  for (const { path, text } of files) {
    if (path !== 'src/main.ts') {
      assertWithout(text, /process\.env/, `${path}: take the setting as a parameter`);
    }
    if (path !== 'src/lib/tracing/telemetry.ts') {
      const advice = `${path}: use @opentelemetry/api; only lib/tracing/telemetry.ts loads the SDK`;
      assertWithout(text, /@opentelemetry\/(?!api)/, advice);
    }
  }
});

function storeyOf(path: string): number {
  const place = placeOf(path);
  if (place === 'errors.ts') return order.length + 1;
  return place.startsWith('lib/') ? order.length : order.indexOf(place);
}

/** The shortest way from a file back to itself. */
function findPath(graph: ReadonlyMap<string, string[]>, start: string): string | undefined {
  const seen = new Set<string>();
  let ways = [[start]];
  while (ways.length > 0) {
    const next: string[][] = [];
    for (const way of ways) {
      for (const target of graph.get(way.at(-1)!) ?? []) {
        if (target === start) return [...way, start].join(' -> ');
        if (!seen.has(target)) next.push([...way, target]);
        seen.add(target);
      }
    }
    ways = next;
  }
  return undefined;
}
