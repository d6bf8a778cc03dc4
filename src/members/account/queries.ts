import type { Sql } from '../../lib/db/db.ts';

/** What a member can prove itself with. */
export type AccountProofs = {
  hasPassword: boolean;
  ssoIssuer: string | null;
  passkeys: number;
  codesSince: Date | null;
  recoveryCodes: number;
};

export async function findProofs(sql: Sql, memberId: string): Promise<AccountProofs | undefined> {
  const [row] = await sql<AccountProofs[]>`
    select password_hash is not null as "hasPassword", sso_issuer as "ssoIssuer",
           totp_since as "codesSince",
           (select count(*)::int from passkeys where member_id = m.id) as passkeys,
           (select count(*)::int
            from recovery_codes
            where member_id = m.id and used_at is null) as "recoveryCodes"
    from members m
    where id = ${memberId}`;
  return row;
}

/** Returns whether it is another name than before. */
export async function saveName(sql: Sql, memberId: string, name: string): Promise<boolean> {
  const { count } = await sql`
    update members set name = ${name} where id = ${memberId} and name <> ${name}`;
  return count > 0;
}
