import type { OpenMail } from './mail-job.queries.ts';

export type ClaimedMails = ReturnType<typeof createClaimedMails>;

/**
 * The mails that requests of this process have claimed, until a job of this process loads them: it need
 * not read them again. Whether a mail may still go out is decided in the database when it begins.
 */
export function createClaimedMails() {
  const byId = new Map<string, { mail: OpenMail; claimedAt: number }>();
  return {
    keep(mails: readonly OpenMail[]) {
      const claimedAt = performance.now();
      for (const mail of mails) byId.set(mail.id, { mail, claimedAt });
    },
    /** All of these mails, once; nothing if this process did not claim all of them. */
    take(ids: readonly string[]): OpenMail[] | undefined {
      const kept = ids.flatMap((id) => byId.get(id) ?? []);
      for (const id of ids) byId.delete(id);
      if (kept.length < ids.length) return undefined;
      const now = performance.now();
      return kept.map(({ mail, claimedAt }) => ({ ...mail, claimed_ms_ago: now - claimedAt }));
    },
    /** For the end of a request: another process may have had its job. */
    discard(mails: readonly OpenMail[]) {
      for (const { id } of mails) byId.delete(id);
    },
  };
}
