import type { Sql } from '../lib/db/db.ts';

export type MemberName = { id: string; name: string; email: string };

export type MemberCredentials = MemberName & {
  passwordHash: string | null;
  /** Whether a password alone does not sign in. */
  hasCodes: boolean;
  isOperator: boolean;
};

const credentials = (sql: Sql) => sql`
  id, name, email, password_hash as "passwordHash", totp_since is not null as "hasCodes",
  is_operator as "isOperator"`;

export async function findCredentials(
  sql: Sql,
  email: string,
): Promise<MemberCredentials | undefined> {
  const [row] = await sql<MemberCredentials[]>`
    select ${credentials(sql)} from members where email_key = lower(${email})`;
  return row;
}

export async function findCredentialsById(
  sql: Sql,
  id: string,
): Promise<MemberCredentials | undefined> {
  const [row] = await sql<
    MemberCredentials[]
  >`select ${credentials(sql)} from members where id = ${id}`;
  return row;
}

/** Whether the password is still the one that was checked; it stays so until the transaction ends. */
export async function lockPassword(
  sql: Sql,
  { id, passwordHash }: MemberCredentials,
): Promise<boolean> {
  const { count } = await sql`
    select from members where id = ${id} and password_hash = ${passwordHash} for share`;
  return count > 0;
}

export async function hasMembers(sql: Sql): Promise<boolean> {
  return (await sql`select from members limit 1`).length > 0;
}

export type NewMember = {
  email: string;
  name: string;
  passwordHash: string | null;
  isOperator: boolean;
};

/** Adds a member; returns nothing when the address has an account already. */
export async function insertMember(
  sql: Sql,
  { email, name, passwordHash, isOperator }: NewMember,
): Promise<MemberName | undefined> {
  const row = { email, name, password_hash: passwordHash, is_operator: isOperator };
  const [member] = await sql<MemberName[]>`
    insert into members ${sql(row)}
    on conflict on constraint members_have_distinct_addresses do nothing
    returning id, name, email`;
  return member;
}

export async function setPassword(sql: Sql, memberId: string, passwordHash: string) {
  await sql`update members set password_hash = ${passwordHash} where id = ${memberId}`;
}

/** Held until the transaction ends: changes of what a member signs in with wait for each other. */
export async function lockMember(sql: Sql, id: string) {
  await sql`select from members where id = ${id} for no key update`;
}

/** Notes that the person has proved that the address is theirs. */
export async function noteEmailProved(sql: Sql, memberId: string) {
  await sql`
    update members
    set email_proved_at = now()
    where id = ${memberId} and email_proved_at is null`;
}

/** Makes an operator of a member, or takes the role away; returns whether that changed anything. */
export async function setOperator(
  sql: Sql,
  memberId: string,
  isOperator: boolean,
): Promise<boolean> {
  const { count } = await sql`
    update members
    set is_operator = ${isOperator}
    where id = ${memberId} and is_operator <> ${isOperator}`;
  return count > 0;
}

/** The ids of all operators, who stay operators until the transaction ends. */
export async function lockOperators(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from members where is_operator order by id for update`;
  return rows.map(({ id }) => id);
}
