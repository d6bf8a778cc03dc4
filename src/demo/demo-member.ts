import { randomInt } from 'node:crypto';
import { type Actor, commandActor } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import type { Sql } from '../lib/db/db.ts';
import { hashPassword } from '../members/password.ts';
import { hasMembers, insertMember } from '../members/queries.ts';
import { saveRole } from '../members/roles.queries.ts';

/** How the reader of the demo signs in. */
export type DemoSignIn = { email: string; password: string };

type DemoPassword = { password: string; passwordHash: string };

const email = 'demo@example.com';
/** Without letters and digits that look alike: it is read from a terminal. */
const letters = 'abcdefghjkmnpqrstuvwxyz23456789';
const groups = 4;
const groupLength = 4;

/** A password made up for this demo. Hashing it takes a while, which no transaction should wait for. */
export async function makeDemoPassword(): Promise<DemoPassword> {
  const letter = () => letters[randomInt(letters.length)];
  const group = () => Array.from({ length: groupLength }, letter).join('');
  const password = Array.from({ length: groups }, group).join('-');
  return { password, passwordHash: await hashPassword(password, { address: 'demo' }) };
}

/** An owner for the demo, who runs the deployment too where there is no other member. */
export async function addDemoMember(
  tx: Sql,
  orgId: string,
  { password, passwordHash }: DemoPassword,
): Promise<DemoSignIn | null> {
  const isOperator = !(await hasMembers(tx));
  const member = await insertMember(tx, { email, name: 'Demo', passwordHash, isOperator });
  if (!member) return null;
  await saveRole(tx, { orgId, memberId: member.id, role: 'owner' });
  const actor: Actor = commandActor();
  const target = { kind: 'member', id: member.id };
  await recordAct(tx, { orgId, actor, act: 'member.joined', target, details: { role: 'owner' } });
  return { email, password };
}
