import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { one } from '../../src/lib/db/db.ts';
import { takeBounce } from '../../src/suppressions/bounces.ts';
import { findSubscriber } from '../../src/suppressions/queries.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

async function scene() {
  const orgId = await makeOrganization(db);
  const of = { org_id: orgId, survey_id: await makeSurvey(db, orgId) };
  const mail = async (contact_id: string, over = {}) =>
    one(
      await db<{ id: string }[]>`
        insert into mails ${db({
          ...of,
          contact_id,
          email: `${randomUUID()}@people.test`,
          status: 'sent',
          request_id: randomUUID(),
          month: '2026-01-01',
          ...over,
        })} returning id`,
    ).id;
  return { orgId, of, mail };
}

const hard = { action: 'failed', status: '5.1.1', recipients: [], diagnostic: '' };
type Named = { returnPaths?: string[]; messageIds?: string[] };

/** References to a mail in a report, and the expected match. */
const named: Record<string, [name: (id: string) => Named, matched: boolean]> = {
  'a return path in capitals': [
    (id) => ({ returnPaths: [`BOUNCE+${id.toUpperCase()}@BOUNCES.example`] }),
    true,
  ],
  'a return path of another domain': [
    (id) => ({ returnPaths: [`bounce+${id}@bounces.test`] }),
    false,
  ],
  'the id of a message in capitals': [
    (id) => ({ messageIds: [`${id.toUpperCase()}@askback.test`] }),
    true,
  ],
  'the id of a message with two signs': [(id) => ({ messageIds: [`${id}@a@b.test`] }), true],
  nothing: [() => ({}), false],
};
for (const [what, [name, matched]] of Object.entries(named)) {
  test(`report with ${what} is ${matched ? '' : 'not '}matched`, async () => {
    const { orgId, of, mail } = await scene();
    const id = await mail(await makeContact(db, of));
    const report = { kind: 'delivery' as const, statuses: [hard], feedback: '' };
    const tools = {
      db,
      settings: { bounceDomain: 'Bounces.Example' },
      readReport: async () => ({ ...report, returnPaths: [], messageIds: [], ...name(id) }),
    };
    const taken = await takeBounce(tools, commandWriter(orgId), new Uint8Array());
    assert.deepEqual(taken, { matched, action: matched ? 'bounced' : 'none' });
  });
}

test('unsubscribe is linked to the trace of the last mail', async () => {
  const { of, mail } = await scene();
  const token = randomUUID();
  const contact = await makeContact(db, of, { token });
  const traced = (day: number) => ({
    claimed_at: `2026-05-0${day}T00:00:00Z`,
    traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(15)}${day}-01`,
  });
  for (const day of [2, 3, 1]) await mail(contact, traced(day));
  await mail(await makeContact(db, of), traced(4));
  const subscriber = await findSubscriber(db, token);
  assert.equal(subscriber?.mail_traceparent, traced(3).traceparent);
});
