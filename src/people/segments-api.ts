import { Hono } from 'hono';
import * as v from 'valibot';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { createReader, type ReplicaTools } from '../keys/read.ts';
import type { Db } from '../lib/db/db.ts';
import { parseBody } from '../lib/http/body.ts';
import { answerRead } from '../lib/http/read-answer.ts';
import { readIfMatch } from '../lib/http/version.ts';
import type { ApiSection } from '../lib/openapi/openapi.ts';
import { Count, Id, List, Moment, One, Page, parsePage } from '../lib/paging/page.ts';
import { idParam, Line } from '../lib/validation/parse.ts';
import { maxNameLength } from '../limits.ts';
import { PersonItem } from './api.ts';
import { previewPeople } from './directory.ts';
import { Filter, FilterInput } from './filter.ts';
import {
  changeSegment,
  createSegment,
  deleteSegment,
  getSegment,
  segmentsJson,
  versionOfSegment,
} from './segments.ts';

export function segmentReads(tools: ReplicaTools) {
  const { answer } = createReader(tools);
  return new Hono<ApiEnv>()
    .get('/', (c) =>
      answer(c, 'list', (orgId) => segmentsJson(tools.db, orgId, parsePage(c.req.queries()))),
    )
    .get('/:id', async (c) => {
      const data = await getSegment(tools.db, c.var.key.org_id, idParam(c, 'segment'));
      return await answerRead(c, JSON.stringify({ data }), versionOfSegment(data));
    });
}

export const segmentRoutes = ({ db }: { db: Db }) =>
  new Hono<ApiEnv>()
    .get('/:id/preview', async (c) => {
      const { org_id: orgId } = c.var.key;
      const { filter } = await getSegment(db, orgId, idParam(c, 'segment'));
      return await answerRead(c, JSON.stringify({ data: await previewPeople(db, orgId, filter) }));
    })

    .post('/', async (c) => {
      const by = requireWrite(c.var.key);
      return c.json({ data: await createSegment(db, by, await parseBody(c, SegmentInput)) }, 201);
    })

    .patch('/:id', async (c) => {
      const by = requireWrite(c.var.key);
      const id = idParam(c, 'segment');
      const change = await parseBody(c, SegmentChange);
      return c.json({
        data: await changeSegment(db, by, { id, ...change, ifMatch: readIfMatch(c) }),
      });
    })

    .delete('/:id', async (c) => {
      const by = requireWrite(c.var.key);
      await deleteSegment(db, by, idParam(c, 'segment'));
      return c.body(null, 204);
    });

export const SegmentName = Line(maxNameLength);

const SegmentInput = v.object({ name: SegmentName, filter: FilterInput });
const SegmentChange = v.object({ name: v.optional(SegmentName), filter: v.optional(FilterInput) });

const Segment = v.object({
  id: Id,
  name: v.string(),
  filter: Filter,
  created_at: Moment,
  updated_at: Moment,
});

export const segmentSection: ApiSection = {
  name: 'Segments',
  about:
    'A segment is a named filter. It contains the people who match all conditions. Fields: `property.NAME`, `language`, ' +
    '`last_asked_days` (whole days since the last survey email), `last_score`, `last_category`, `tag` (id of a tag on a ' +
    'response) and `survey_id`. Operators: `is`, `is_not` (includes people without the value), `contains`, `gt` and ' +
    '`lt` (compare numbers), `exists`.',
  schemas: { Segment },
  bodies: { NewSegment: SegmentInput, SegmentChange },
  operations: {
    'get /api/v1/segments': {
      id: 'listSegments',
      summary: 'List segments, newest first',
      about: 'Returns names and filters, but no people.',
      query: Page,
      answer: { about: 'a page of segments', schema: List(Segment) },
    },
    'post /api/v1/segments': {
      id: 'createSegment',
      summary: 'Create a segment',
      about: 'Its people are selected each time it is used.',
      body: SegmentInput,
      answer: { status: 201, about: 'the segment', schema: One(Segment) },
      refusals: { 400: ['too_many_segments'] },
    },
    'get /api/v1/segments/{id}': {
      id: 'getSegment',
      summary: 'Get a segment',
      about: 'Send the `ETag` as `If-Match` when you change the segment.',
      answer: { about: 'the segment', schema: One(Segment) },
    },
    'get /api/v1/segments/{id}/preview': {
      id: 'previewSegment',
      summary: 'Count the people of a segment',
      about: 'Also returns the 10 newest people.',
      answer: {
        about: 'the count and 10 people',
        schema: One(v.object({ count: Count, people: v.array(PersonItem) })),
      },
    },
    'patch /api/v1/segments/{id}': {
      id: 'changeSegment',
      summary: 'Change a segment',
      about: 'Applies to campaigns and rounds that start later.',
      ifMatch: true,
      body: SegmentChange,
      answer: { about: 'the segment', schema: One(Segment) },
    },
    'delete /api/v1/segments/{id}': {
      id: 'deleteSegment',
      summary: 'Delete a segment',
      about:
        'Deletes no people. Refused while a campaign that has not ended or the rounds of a survey use it.',
      answer: { status: 204, about: 'deleted' },
      refusals: { 409: ['segment_in_use'] },
    },
  },
};
