import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiDocument } from '../src/api.ts';
import {
  makeClient,
  makeContact,
  makeResponse,
  makeSurvey,
  makeWebhook,
} from './support/make/rows.ts';
import { testSettings } from './support/make/settings.ts';
import { testApp } from './support/probe/app.ts';
import { testDatabase } from './support/probe/database.ts';

const { db } = await testDatabase();

const app = testApp(db);
const { id: org_id, write } = await makeClient(db, { ai_enabled: true });
const survey_id = await makeSurvey(db, org_id);
const [tag] = await db<{ id: string }[]>`
  insert into tags (org_id, name, color) values (${org_id}, 'vip', '#aabbcc') returning id`;
const ids: Readonly<Record<string, string>> = {
  surveys: survey_id,
  contacts: await makeContact(db, { org_id, survey_id }),
  responses: await makeResponse(db, { org_id, survey_id }),
  webhooks: await makeWebhook(db, org_id),
  tags: tag!.id,
};

/** Values at the edge of a type's range or beyond it. */
const words = [
  '',
  ' ',
  '0',
  '-1',
  '1e9',
  '9'.repeat(400),
  'null',
  'NaN',
  '\u0662',
  '%',
  '\\',
  "'",
  'x'.repeat(501),
  '2024-02-30',
  '0000-01-01',
  '9999-12-31',
  '+275760-09-13',
  '2024-01-01T24:00:00Z',
  'infinity',
  'now',
  '2024-01-01T00:00:00+23:59',
  '\u{1F600}',
  '\0',
  'a@b.co',
  org_id,
  'UTC',
  'Factory',
  'Etc/GMT+14',
  'MA',
  'MTk',
];
const values = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 63,
  [],
  [null],
  [[]],
  {},
  { a: null },
  [''],
  '\ud800',
  ...words,
];

type Content = Record<string, { schema: { properties?: object }; example?: object }>;

const { paths, components } = apiDocument(testSettings);

/** A part of the document, resolved if it is a reference. */
function resolved<T extends object>(part: T): T {
  const [kind, name] = ('$ref' in part ? String(part.$ref) : '').split('/').slice(2);
  const shared = components as Record<string, Record<string, unknown> | undefined>;
  return kind && name ? (shared[kind]![name] as T) : part;
}

/** Every operation on existing rows except deletions. Operations that send mail are tested alone. */
const operations = Object.entries(paths)
  .filter(([path]) => path.startsWith('/api/'))
  .flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== 'delete')
      .map(([method, { parameters = [], requestBody }]) => {
        const room = path.split('/').find((part) => part in ids) ?? '';
        const content = (requestBody?.content as Content | undefined)?.['application/json'];
        const named = (parameters as { in?: string; name?: string }[]).map(resolved);
        return {
          method: method.toUpperCase(),
          path: path.replace(/\{\w+\}/g, ids[room] ?? org_id),
          names: named.filter((each) => each.in === 'query').map(({ name = '' }) => name),
          fields: Object.keys(content ? (resolved(content.schema).properties ?? {}) : {}),
          example: content?.example,
        };
      }),
  );

async function statusOf(method: string, path: string, body?: object) {
  const init = { method, headers: write, ...(body && { body: JSON.stringify(body) }) };
  return (await app.request(path, init)).status;
}

for (const { method, path, names, fields, example } of operations) {
  const shown = path.replace(/[0-9a-f-]{36}/g, 'ID');
  if (names.length + fields.length === 0) continue;

  test(`${method} ${shown} accepts or refuses odd values without an error`, async () => {
    const broken: string[] = [];
    for (const name of names) {
      for (const word of words) {
        const query = new URLSearchParams({ [name.replace('NAME', 'plan')]: word });
        const status = await statusOf(method, `${path}?${query}`, example && {});
        if (status >= 500) broken.push(`${name}=${word}: ${status}`);
      }
    }
    const tried = names.includes('dry_run') ? `${path}?dry_run=true` : path;
    for (const field of fields) {
      for (const value of values) {
        const status = await statusOf(method, tried, { ...example, survey_id, [field]: value });
        if (status >= 500) broken.push(`${field}: ${JSON.stringify(value)}: ${status}`);
      }
    }
    assert.deepEqual(broken, []);
  });
}

test('the document has operations for this test', () => {
  assert.ok(operations.length > 40);
  assert.ok(operations.filter(({ fields }) => fields.length > 0).length >= 10);
});
