import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AuditedAct, commandActor, recordAct } from '../../src/audit/acts.ts';
import { exportEvents } from '../../src/audit/export.ts';
import {
  type AuditEventRow,
  type AuditFilter,
  cleanUpAudit,
  listEvents,
} from '../../src/audit/queries.ts';
import { inTransaction } from '../../src/lib/db/db.ts';
import { readList } from '../../src/lib/paging/page.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

const everything: AuditFilter = { from: null, to: null, actor: null, act: null };

async function audited() {
  const orgId = await makeOrganization(db);
  const act = (over: Partial<AuditedAct> = {}) =>
    recordAct(db, { orgId, actor: commandActor(), act: 'key.created', ...over });
  const list = async (filter: Partial<AuditFilter> = {}, page = 1, limit = 50) =>
    (await readList<AuditEventRow>(
      db,
      listEvents(db, orgId, {
        filter: { ...everything, ...filter },
        page: { page, limit, ignored: [] },
      }),
    )) as { data: AuditEventRow[]; meta?: { total: number } };
  return { orgId, act, list };
}

test('an event has actor, act, target and request id', async () => {
  const { act, list } = await audited();
  const actor = { kind: 'key', id: null, name: 'website', requestId: 'r-1' } as const;
  const target = { kind: 'survey', id: 's-1' };
  await act({ actor, act: 'survey.closed', target, details: { name: 'Onboarding' } });
  const { at, id, ...event } = (await list()).data[0]!;
  assert.match(at, /Z$/);
  assert.ok(id);
  assert.deepEqual(event, {
    act: 'survey.closed',
    actor_kind: 'key',
    actor: 'website',
    target: 'survey',
    target_id: 's-1',
    details: { name: 'Onboarding' },
    request_id: 'r-1',
  });
});

test('a rolled-back act leaves no event', async () => {
  const { orgId, list } = await audited();
  const act = { orgId, actor: commandActor(), act: 'key.created' } as const;
  await inTransaction(db, async (tx) => {
    await recordAct(tx, act);
    throw new Error('the act failed');
  }).catch(() => {});
  assert.deepEqual((await list()).data, []);
});

test("listEvents pages one organization's events, newest first", async () => {
  const [mine, theirs] = [await audited(), await audited()];
  await theirs.act();
  for (const name of ['a', 'b', 'c']) await mine.act({ details: { name } });
  const names = async (page: number) => {
    const { data, meta } = await mine.list({}, page, 2);
    assert.equal(meta!.total, 3);
    return data.map(({ details }) => details['name']);
  };
  assert.deepEqual([await names(1), await names(2), await names(3)], [['c', 'b'], ['a'], []]);
});

test('an export has every event once and escapes formulas', async () => {
  const { orgId, act } = await audited();
  await act({ actor: { kind: 'key', id: null, name: '=1+1' } });
  await db`
    insert into audit_events (org_id, act, actor_kind, actor)
    select ${orgId}, 'tag.created', 'job', 'n' || n from generate_series(1, 2500) n`;
  let text = '';
  for await (const lines of exportEvents(db, orgId, everything)) text += lines;
  const lines = text.split('\r\n').slice(1, -1);
  assert.equal(lines.length, 2501);
  assert.equal(new Set(lines.map((line) => line.split(',')[2])).size, 2501);
  assert.ok(lines.some((line) => line.includes(",'=1+1,")));
});

test('cleanUpAudit deletes events after 400 days', async () => {
  const { orgId, act, list } = await audited();
  for (const age of ['400 days 1 minute', '399 days 23 hours 59 minutes']) {
    await act({ details: { name: age } });
    await db`
      update audit_events set at = now() - ${age}::interval
      where org_id = ${orgId} and details ->> 'name' = ${age}`;
  }
  await cleanUpAudit({ db });
  assert.deepEqual(
    (await list()).data.map(({ details }) => details['name']),
    ['399 days 23 hours 59 minutes'],
  );
});
