import type { OpenMail, SurveyWords } from './mail-job.queries.ts';

type ClaimedMailsOfRequest = { mails: readonly OpenMail[]; words: readonly SurveyWords[] };
type KeptMail = { mail: OpenMail; words: SurveyWords | undefined };
type TakenMails = { mails: OpenMail[]; words: SurveyWords[] };

export type ClaimedMails = ReturnType<typeof createClaimedMails>;

/**
 * The mails that requests of this process have claimed, until a job of this process loads them: it need
 * not read them again, nor what they are written from. Whether a mail may still go out is decided in the database when it begins.
 */
export function createClaimedMails() {
  const byId = new Map<string, KeptMail & { claimedAt: number }>();
  return {
    keep({ mails, words }: ClaimedMailsOfRequest) {
      const claimedAt = performance.now();
      const bySurvey = new Map(words.map((each) => [each.survey_id, each]));
      for (const mail of mails) {
        byId.set(mail.id, { mail, words: bySurvey.get(mail.survey_id), claimedAt });
      }
    },
    /** All of these mails, once; nothing if this process did not claim all of them. */
    take(ids: readonly string[]): TakenMails | undefined {
      const kept = ids.flatMap((id) => byId.get(id) ?? []);
      for (const id of ids) byId.delete(id);
      if (kept.length < ids.length) return undefined;
      const now = performance.now();
      return {
        mails: kept.map(({ mail, claimedAt }) => ({ ...mail, claimed_ms_ago: now - claimedAt })),
        words: [...new Set(kept.flatMap(({ words }) => words ?? []))],
      };
    },
    /** For the end of a request: another process may have had its job. */
    discard(mails: readonly OpenMail[]) {
      for (const { id } of mails) byId.delete(id);
    },
  };
}
