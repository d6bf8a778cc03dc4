import assert from 'node:assert/strict';
import { test } from 'node:test';
import type * as v from 'valibot';
import { CampaignInput, ResultsQuery } from '../src/campaigns/api.ts';
import { ContactInput } from '../src/contacts/api.ts';
import { parse } from '../src/lib/validation/parse.ts';
import {
  FollowUpFields,
  FollowUpInput,
  NoteInput,
  ResponseQuery,
  TagsInput,
} from '../src/responses/schemas.ts';
import { NewTagInput, TagChangeInput } from '../src/tags/api.ts';

const long = (length: number) => 'x'.repeat(length);
const id = '0a8e4c1e-6f6e-4a34-9f35-3d4a1f3f8f10';
const ids = (many: number) => Array.from({ length: many }, () => id);
const dayMs = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * dayMs).toISOString();
const survey = { survey_id: id, email: 'ann@people.test' };
const tooLate = 'send_at: must be within a year';
const notTime = 'send_at: must be an ISO 8601 time with its zone, such as 2027-01-31T12:00:00Z';
const color = 'color: must be a hex color such as #1F6FEB';

/** What is just taken, what is not, and what is said of it: of each input that has a limit. */
const edges: [schema: v.GenericSchema, taken: object, refused: object, complaint: string][] = [
  [CampaignInput, { name: long(200) }, { name: long(201) }, 'name: must be at most 200 characters'],
  [CampaignInput, { name: ' a ' }, { name: ' ' }, 'name: must not be empty'],
  [
    CampaignInput,
    { name: 'a' },
    { name: 'a\nb' },
    'name: must be one line without control characters',
  ],
  [CampaignInput, { per_hour: 1 }, { per_hour: 0 }, 'per_hour: must be at least 1'],
  [
    CampaignInput,
    { per_hour: 1_000_000 },
    { per_hour: 1_000_001 },
    'per_hour: must be at most 1000000',
  ],
  [CampaignInput, { per_hour: null }, { per_hour: 1.5 }, 'per_hour: must be a whole number'],
  [CampaignInput, { send_at: inDays(365.9) }, { send_at: inDays(366.1) }, tooLate],
  [CampaignInput, { send_at: '2026-01-31T12:00Z' }, { send_at: '2026-01-31T12:00' }, notTime],
  [
    CampaignInput,
    { send_at: '2026-01-31T12:00:00.123456+05:30' },
    { send_at: '2026-01-31' },
    notTime,
  ],
  [
    CampaignInput,
    { send_at: null },
    { send_at: '2026-13-31T12:00Z' },
    'send_at: must be a time that exists',
  ],
  [
    ResultsQuery,
    { search: long(320) },
    { search: long(321) },
    'search: must be at most 320 characters',
  ],
  [ResultsQuery, { search: 'a' }, { search: 'a\0' }, 'search: must not contain NUL'],
  [
    ResponseQuery,
    { search: long(500) },
    { search: long(501) },
    'search: must be at most 500 characters',
  ],
  [ResponseQuery, { search: 'a' }, { search: 'a\0' }, 'search: must not contain NUL'],
  [
    ResponseQuery,
    { owner: long(254) },
    { owner: long(255) },
    'owner: must be the address of a member',
  ],
  [
    ResponseQuery,
    { language: long(35) },
    { language: long(36) },
    'language: must be the tag of a language',
  ],
  [FollowUpInput, { owner: long(254) }, { owner: long(255) }, 'owner: is too long'],
  [FollowUpFields, { owner: long(254) }, { owner: long(255) }, 'owner: is too long'],
  [FollowUpInput, { state: null }, { state: 'gone' }, 'state: must be open, done or null'],
  [TagsInput, { tags: ids(50) }, { tags: ids(51) }, 'tags: must be at most 50'],
  [TagsInput, { tags: [] }, { tags: 'a' }, 'tags: must be a list of ids'],
  [
    NoteInput,
    { text: long(5000) },
    { text: long(5001) },
    'text: must have at most 5000 characters',
  ],
  [NoteInput, { text: ' a ' }, { text: ' ' }, 'text: must not be empty'],
  [NewTagInput, { name: long(200) }, { name: long(201) }, 'name: must have at most 200 characters'],
  [NewTagInput, { name: 'a', color: '#1f6FEB' }, { name: 'a', color: '#1f6FE' }, color],
  [TagChangeInput, { color: '#000000' }, { color: '#00000g' }, color],
  [TagChangeInput, { name: 'a' }, { name: ' ' }, 'name: must not be empty'],
  [
    ContactInput,
    { ...survey, name: long(200) },
    { ...survey, name: long(201) },
    'name: must be at most 200 characters',
  ],
  [ContactInput, survey, { ...survey, email: 'ann' }, 'email: is not an email address'],
  [
    ContactInput,
    { ...survey, properties: null },
    { ...survey, properties: [] },
    'properties: must be an object',
  ],
];
for (const [place, [schema, taken, refused, complaint]] of edges.entries()) {
  test(`input ${place + 1} at its limit: ${complaint}`, () => {
    parse(schema, taken);
    assert.throws(() => parse(schema, refused), { kind: 'invalid', message: complaint });
  });
}
