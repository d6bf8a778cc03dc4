import { changesOf, recordAct, type Writer } from '../audit/acts.ts';
import { orNotFound, Refusal } from '../errors.ts';
import { type Db, inTransaction, json, one, type Part, type Sql } from '../lib/db/db.ts';
import { type IfMatch, refuseOtherVersion, versionOf } from '../lib/http/version.ts';
import { type Page, pagedJson } from '../lib/paging/page.ts';
import { maxSegments, type OrgId } from '../limits.ts';
import { refuseAtLimit } from '../organizations/queries.ts';
import type { PeopleFilter } from './filter.ts';

type SegmentInput = { name: string; filter: PeopleFilter };
export type Segment = SegmentInput & { id: string; created_at: Date; updated_at: Date };

const columns = (sql: Sql) => sql`id, name, filter, created_at, updated_at`;

export async function createSegment(db: Db, writer: Writer, { name, filter }: SegmentInput) {
  const { orgId } = writer;
  return await inTransaction(db, async (tx) => {
    await refuseAtLimit(tx, orgId, 'segments', maxSegments);
    const segment = one(
      await tx<Segment[]>`
        insert into segments (org_id, name, filter)
        values (${orgId}, ${name}, ${json(tx, filter)})
        returning ${columns(tx)}`,
    );
    await recordSegment(tx, writer, 'segment.created', segment);
    return segment;
  });
}

type SegmentChange = {
  id: string;
  name?: string | undefined;
  filter?: PeopleFilter | undefined;
  ifMatch?: IfMatch;
};

export async function changeSegment(db: Db, writer: Writer, wanted: SegmentChange) {
  const { id, name, filter, ifMatch } = wanted;
  const { orgId } = writer;
  return await inTransaction(db, async (tx) => {
    const before = await getSegment(tx, orgId, id, { lock: true });
    refuseOtherVersion(versionOfSegment(before), ifMatch);
    const change = { name: name ?? before.name, filter: filter ?? before.filter };
    const changes = changesOf(before, change);
    if (Object.keys(changes).length === 0) return before;
    const segment = one(
      await tx<Segment[]>`
        update segments
        set name = ${change.name}, filter = ${json(tx, change.filter)}, updated_at = now()
        where org_id = ${orgId} and id = ${id}
        returning ${columns(tx)}`,
    );
    await recordSegment(tx, writer, 'segment.changed', segment);
    return segment;
  });
}

/** Refuses to delete a segment in use. The lock keeps new uses away until the transaction ends. */
export async function deleteSegment(db: Db, writer: Writer, id: string) {
  await inTransaction(db, async (tx) => {
    const segment = await getSegment(tx, writer.orgId, id, { lock: true });
    const [use] = await listSegmentUses(tx, writer.orgId, id);
    if (use) {
      const text = use.campaign_id ? 'the campaign' : 'the rounds of the survey';
      const message = `the segment is in use by ${text} ${use.name}`;
      throw new Refusal('conflict', message, { code: 'segment_in_use' });
    }
    await tx`delete from segments where org_id = ${writer.orgId} and id = ${id}`;
    await recordSegment(tx, writer, 'segment.deleted', segment);
  });
}

export type SegmentUse = {
  survey_id: string;
  /** Null for the rounds of the survey. */
  campaign_id: string | null;
  name: string;
};

/** Lists the campaigns that have not ended and the rounds that use a segment. */
export const listSegmentUses = (sql: Sql, orgId: string, id: string) => sql<SegmentUse[]>`
  select survey_id, id as campaign_id, name
  from campaigns
  where org_id = ${orgId} and audience ->> 'segment_id' = ${id}::text and status in ('scheduled', 'running', 'paused')
  union all
  select id, null, name
  from surveys
  where org_id = ${orgId} and repeat -> 'audience' ->> 'segment_id' = ${id}::text`;

export const versionOfSegment = (segment: Segment) => versionOf(segment, ['name', 'filter']);

type SegmentAct = 'segment.created' | 'segment.changed' | 'segment.deleted';

const recordSegment = (tx: Sql, { orgId, actor }: Writer, act: SegmentAct, { id, name }: Segment) =>
  recordAct(tx, { orgId, actor, act, target: { kind: 'segment', id }, details: { name } });

/** `lock` waits for transactions that start using the segment, and blocks new ones. */
export async function getSegment(
  sql: Sql,
  orgId: string,
  id: string,
  { lock = false } = {},
): Promise<Segment> {
  const [segment] = await sql<Segment[]>`
    select ${columns(sql)}
    from segments
    where org_id = ${orgId} and id = ${id} ${lock ? sql`for update` : sql``}`;
  return orNotFound(segment, 'segment');
}

/** Keeps a segment from being deleted until the transaction that uses it ends. */
export async function lockSegmentForUse(sql: Sql, orgId: string, id: string): Promise<Segment> {
  const [segment] = await sql<Segment[]>`
    select ${columns(sql)}
    from segments
    where org_id = ${orgId} and id = ${id}
    for key share`;
  if (!segment) {
    throw new Refusal('invalid', 'audience.segment_id: the organization has no such segment');
  }
  return segment;
}

/** Sorts by code points, the same in every database. */
export async function listSegments(sql: Sql, orgId: string): Promise<Segment[]> {
  return await sql<Segment[]>`
    select ${columns(sql)}
    from segments
    where org_id = ${orgId}
    order by lower(name) collate "C", name collate "C", id`;
}

const maxSurveyNames = 500;

export const listSurveyNames = (sql: Sql, orgId: string) => sql<
  { id: string; name: string; open: boolean }[]
>`
  select id, name, status = 'active' as open
  from surveys
  where org_id = ${orgId}
  order by created_at desc, id desc
  limit ${maxSurveyNames}`;

export const segmentsJson = (sql: Sql, orgId: OrgId, page: Page): Part =>
  pagedJson(sql, page, {
    rows: sql`segments where org_id = ${orgId}`,
    item: sql`
      cross join lateral (
        select p.id, p.name, p.filter, iso(p.created_at) as created_at, iso(p.updated_at) as updated_at
      ) item`,
  });
