import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { cleanUpAudit } from '../src/audit/queries.ts';
import type { Db } from '../src/lib/db/db.ts';
import { cleanUpMembers } from '../src/members/sign-in.ts';
import { cleanUpNotifications } from '../src/notifications/sweep.ts';
import { makeOrganization } from './support/make/rows.ts';
import { joinOrganization, makeMember } from './support/make/session.ts';
import { testDatabase } from './support/probe/database.ts';

const { db } = await testDatabase();
const org_id = await makeOrganization(db);
const member_id = await makeMember(db);
await joinOrganization(db, { org: org_id, member: member_id, role: 'owner' });
const someHash = () => createHash('sha256').update(randomUUID()).digest();

type Kept = {
  what: string;
  /** Hours to keep a row, counted from the time in the column. */
  hours: number;
  table: string;
  column: string;
  row: () => Record<string, unknown>;
  clean: (tools: { db: Db }) => Promise<unknown>;
};

const session = () => ({ token_hash: someHash(), member_id });
const link = (row: object) => ({ token_hash: someHash(), expires_at: new Date(), ...row });
const day = 24;
const keptRows: Kept[] = [
  {
    what: 'a session after its last use',
    hours: 30 * day,
    column: 'used_at',
    table: 'sessions',
    row: session,
    clean: cleanUpMembers,
  },
  {
    what: 'a session after its beginning',
    hours: 90 * day,
    column: 'created_at',
    table: 'sessions',
    row: session,
    clean: cleanUpMembers,
  },
  {
    what: 'a session without its second step',
    hours: 1,
    column: 'created_at',
    table: 'sessions',
    clean: cleanUpMembers,
    row: () => ({ ...session(), awaits_code: true }),
  },
  {
    what: 'a link after its end',
    hours: 30 * day,
    column: 'expires_at',
    table: 'member_links',
    clean: cleanUpMembers,
    row: () => link({ kind: 'reset', member_id }),
  },
  {
    what: 'wrong proofs after the newest',
    hours: 2 * day,
    column: 'newest_at',
    table: 'proof_attempts',
    clean: cleanUpMembers,
    row: () => ({ subject: randomUUID() }),
  },
  {
    what: 'a spent handshake after its end',
    hours: 1,
    column: 'expires_at',
    table: 'spent_handshakes',
    clean: cleanUpMembers,
    row: () => ({ hash: someHash() }),
  },
  {
    what: 'a notification',
    hours: 100 * day,
    column: 'created_at',
    table: 'notifications',
    clean: cleanUpNotifications,
    row: () => ({ org_id, member_id, kind: 'held', subject: randomUUID() }),
  },
  {
    what: 'an audit event',
    hours: 400 * day,
    column: 'at',
    table: 'audit_events',
    clean: cleanUpAudit,
    row: () => ({ org_id, act: 'key.created', actor_kind: 'key', actor: 'test' }),
  },
];

for (const { what, hours, table, column, row, clean } of keptRows) {
  test(`${what} is deleted after ${hours} h, unless it is locked`, async () => {
    const ago = (minutes: number) => new Date(Date.now() - (hours * 60 + minutes) * 60_000);
    for (const minutes of [-2, 2, 3, 4, 5]) {
      await db`insert into ${db(table)} ${db({ ...row(), [column]: ago(minutes) } as never)}`;
    }
    const left = async () => {
      const rows = await db<{ at: Date }[]>`select ${db(column)} as at from ${db(table)}`;
      return rows.map(({ at }) => at > ago(0)).toSorted();
    };
    await db.begin(async (other) => {
      await other`select from ${db(table)} where ${db(column)} < ${ago(0)} limit 1 for update`;
      await db.begin(async (tx) => {
        await tx`set local lock_timeout = '2s'`;
        await clean({ db: tx as unknown as Db });
      });
      assert.deepEqual(await left(), [false, true]);
    });
    await clean({ db });
    assert.deepEqual(await left(), [true]);
    await db`delete from ${db(table)}`;
  });
}
