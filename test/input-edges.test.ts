import assert from 'node:assert/strict';
import { test } from 'node:test';
import type * as v from 'valibot';
import { CampaignInput, ResultsQuery } from '../src/campaigns/api.ts';
import { ContactInput } from '../src/contacts/api.ts';
import { parse } from '../src/lib/validation/parse.ts';
import { FollowUpInput, NoteInput, ResponseQuery, TagsInput } from '../src/responses/schemas.ts';
import { NewTagInput, TagChangeInput } from '../src/tags/api.ts';

const long = (length: number) => 'x'.repeat(length);
const id = '0a8e4c1e-6f6e-4a34-9f35-3d4a1f3f8f10';
const ids = (many: number) => Array.from({ length: many }, () => id);
const dayMs = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * dayMs).toISOString();

/** A field with a limit, with the last accepted value and the first rejected one. */
const edges: [schema: v.GenericSchema, field: string, taken: unknown, refused: unknown][] = [
  [CampaignInput, 'name', long(200), long(201)],
  [CampaignInput, 'name', ' a ', ' '],
  [CampaignInput, 'name', 'a', 'a\nb'],
  [CampaignInput, 'per_hour', 1, 0],
  [CampaignInput, 'per_hour', 1_000_000, 1_000_001],
  [CampaignInput, 'per_hour', null, 1.5],
  [CampaignInput, 'send_at', inDays(365.9), inDays(366.1)],
  [CampaignInput, 'send_at', '2026-01-31T12:00Z', '2026-01-31T12:00'],
  [CampaignInput, 'send_at', null, '2026-13-31T12:00Z'],
  [ResultsQuery, 'search', long(320), long(321)],
  [ResultsQuery, 'search', 'a', 'a\0'],
  [ResponseQuery, 'search', long(500), long(501)],
  [ResponseQuery, 'owner', long(254), long(255)],
  [ResponseQuery, 'language', long(35), long(36)],
  [FollowUpInput, 'owner', long(254), long(255)],
  [FollowUpInput, 'state', null, 'gone'],
  [TagsInput, 'tags', ids(50), ids(51)],
  [NoteInput, 'text', long(5000), long(5001)],
  [NoteInput, 'text', ' a ', ' '],
  [NewTagInput, 'name', long(200), long(201)],
  [TagChangeInput, 'color', '#1f6FEB', '#00000g'],
  [ContactInput, 'name', long(200), long(201)],
  [ContactInput, 'email', 'ann@people.test', 'ann'],
  [ContactInput, 'properties', null, []],
];
const required = new Map<v.GenericSchema, object>([
  [ContactInput, { survey_id: id, email: 'ann@people.test' }],
]);
for (const [place, [schema, field, taken, refused]] of edges.entries()) {
  test(`input ${place + 1} keeps to the limits of ${field}`, () => {
    const withField = (value: unknown) => ({ ...required.get(schema), [field]: value });
    parse(schema, withField(taken));
    assert.throws(
      () => parse(schema, withField(refused)),
      (error: Error) => error.message.startsWith(`${field}: `),
    );
  });
}
