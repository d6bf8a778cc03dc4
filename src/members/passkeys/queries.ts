import type { Sql } from '../../lib/db/db.ts';

export type ListedPasskey = {
  id: string;
  name: string;
  transports: string[];
  used_at: Date | null;
  created_at: Date;
};

/** The passkeys of a member, in the order in which they were added. */
export async function listPasskeys(sql: Sql, memberId: string): Promise<ListedPasskey[]> {
  return await sql<ListedPasskey[]>`
    select id, name, transports, used_at, created_at
    from passkeys
    where member_id = ${memberId}
    order by created_at, id`;
}

export type StoredPasskey = {
  id: string;
  member_id: string;
  member_name: string;
  public_key: Buffer;
  counter: number;
  transports: string[];
};

export async function findPasskey(sql: Sql, id: string): Promise<StoredPasskey | undefined> {
  const [row] = await sql<StoredPasskey[]>`
    select p.id, p.member_id, m.name as member_name, p.public_key, p.counter::float8 as counter,
           p.transports
    from passkeys p
    join members m on m.id = p.member_id
    where p.id = ${id}`;
  return row;
}

export type NewPasskey = Pick<
  StoredPasskey,
  'id' | 'member_id' | 'public_key' | 'counter' | 'transports'
> & {
  name: string;
};

/** Returns whether it was added: a credential belongs to one member. */
export async function insertPasskey(sql: Sql, passkey: NewPasskey): Promise<boolean> {
  const { count } = await sql`insert into passkeys ${sql(passkey)} on conflict do nothing`;
  return count > 0;
}

/** Returns whether its counter went on: authenticators that count never show a number twice. */
export async function usePasskey(sql: Sql, id: string, counter: number): Promise<boolean> {
  const { count } = await sql`
    update passkeys
    set counter = ${counter}, used_at = now()
    where id = ${id} and (counter < ${counter} or (counter = 0 and ${counter} = 0))`;
  return count > 0;
}

type PasskeyOf = { memberId: string; id: string };

export async function renamePasskey(sql: Sql, { memberId, id }: PasskeyOf, name: string) {
  const { count } = await sql`
    update passkeys set name = ${name} where id = ${id} and member_id = ${memberId}`;
  return count > 0;
}

export async function deletePasskey(sql: Sql, { memberId, id }: PasskeyOf): Promise<boolean> {
  const { count } = await sql`delete from passkeys where id = ${id} and member_id = ${memberId}`;
  return count > 0;
}
