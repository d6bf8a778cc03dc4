import type { Sql } from '../../lib/db/db.ts';

export type MemberCodes = {
  /** Sealed; without `totp_since` it waits for its first code. */
  totp_secret: Buffer | null;
  totp_since: Date | null;
  totp_step: number | null;
  /** Recovery codes that have not been used. */
  recovery_codes: number;
};

export async function findCodes(sql: Sql, memberId: string): Promise<MemberCodes | undefined> {
  const [row] = await sql<MemberCodes[]>`
    select totp_secret, totp_since, totp_step::float8 as totp_step,
           (select count(*)::int
            from recovery_codes
            where member_id = m.id and used_at is null) as recovery_codes
    from members m
    where id = ${memberId}`;
  return row;
}

/** Keeps a secret that waits for its first code. Returns whether it was kept: one that counts stays. */
export async function savePendingSecret(
  sql: Sql,
  memberId: string,
  sealed: Buffer,
): Promise<boolean> {
  const { count } = await sql`
    update members
    set totp_secret = ${sealed}, totp_step = null
    where id = ${memberId} and totp_since is null`;
  return count > 0;
}

export type PendingSecret = { memberId: string; sealed: Buffer };

/** Lets the pending secret count from now on. Returns whether it was still the pending one. */
export async function confirmSecret(
  sql: Sql,
  { memberId, sealed }: PendingSecret,
  step: number,
): Promise<boolean> {
  const { count } = await sql`
    update members
    set totp_since = now(), totp_step = ${step}
    where id = ${memberId} and totp_since is null and totp_secret = ${sealed}`;
  return count > 0;
}

/** Uses the code of a step. Returns whether neither it nor a later one was used before. */
export async function useStep(sql: Sql, memberId: string, step: number): Promise<boolean> {
  const { count } = await sql`
    update members
    set totp_step = ${step}
    where id = ${memberId} and totp_since is not null and (totp_step is null or totp_step < ${step})`;
  return count > 0;
}

/** Returns whether the code was one of the member's that had not been used. */
export async function useRecoveryCode(sql: Sql, memberId: string, hash: Buffer): Promise<boolean> {
  const { count } = await sql`
    update recovery_codes
    set used_at = now()
    where member_id = ${memberId} and code_hash = ${hash} and used_at is null`;
  return count > 0;
}

export async function replaceRecoveryCodes(
  sql: Sql,
  memberId: string,
  hashes: readonly Buffer[],
): Promise<void> {
  await deleteRecoveryCodes(sql, memberId);
  const rows = hashes.map((code_hash) => ({ member_id: memberId, code_hash }));
  await sql`insert into recovery_codes ${sql(rows)}`;
}

async function deleteRecoveryCodes(sql: Sql, memberId: string) {
  await sql`delete from recovery_codes where member_id = ${memberId}`;
}

/** Returns whether codes were on. */
export async function clearCodes(sql: Sql, memberId: string): Promise<boolean> {
  await deleteRecoveryCodes(sql, memberId);
  const { count } = await sql`
    update members
    set totp_secret = null, totp_since = null, totp_step = null
    where id = ${memberId} and totp_secret is not null`;
  return count > 0;
}

export type SealedTotp = { id: string; totp_secret: Buffer };

const pageSize = 500;

/** Secrets that another key than this one sealed, in the order of their members. */
export async function listTotpOfOtherKey(
  sql: Sql,
  { keyId, after }: { keyId: Buffer; after: string | null },
): Promise<SealedTotp[]> {
  return await sql<SealedTotp[]>`
    select id, totp_secret
    from members
    where totp_secret is not null
      and substring(totp_secret from 1 for ${keyId.length}) <> ${keyId}
      and (${after}::uuid is null or id > ${after}::uuid)
    order by id
    limit ${pageSize}`;
}

/** Unless the member has another secret by now. */
export async function replaceTotpSecret(sql: Sql, { id, totp_secret }: SealedTotp, sealed: Buffer) {
  await sql`update members set totp_secret = ${sealed} where id = ${id} and totp_secret = ${totp_secret}`;
}
