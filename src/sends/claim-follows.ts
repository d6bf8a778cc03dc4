import type { Actor } from '../audit/actor.ts';
import { enqueue } from '../jobs.ts';
import type { Sql } from '../lib/db/db.ts';
import { addUsage } from '../organizations/usage.queries.ts';
import { type OrgSurvey, reopenSurvey } from '../surveys/queries.ts';
import { saveBlocked } from './blocked.ts';
import type { ClaimRow } from './claim.queries.ts';
import { jobsOf } from './jobs.ts';
import { listMailWords } from './mail-job.queries.ts';
import { recordSend } from './request-act.ts';
import type { Judgement } from './rules.ts';

type Following = {
  request: { traceparent: string | null; submitted: readonly unknown[]; actor?: Actor };
  claims: readonly ClaimRow[];
  judgements: readonly Judgement[];
  month: string;
  /** Whether a completed survey is active again. */
  isActive: boolean;
};

/** What follows from the claims. No statement needs the result of another, so they travel together. */
export async function writeFollowing(
  tx: Sql,
  survey: OrgSurvey,
  { request, claims, judgements, month, isActive }: Following,
) {
  const { orgId, surveyId } = survey;
  const jobs = jobsOf(
    { orgId, traceparent: request.traceparent },
    claims.map(({ id }) => id),
  );
  const [words] = await Promise.all([
    claims.length > 0 ? listMailWords(tx, orgId, [surveyId]) : [],
    isActive && reopenSurvey(tx, orgId, surveyId),
    addUsage(tx, orgId, month, claims.length),
    saveBlocked(tx, survey, judgements),
    enqueue(tx, jobs),
    recordSend(tx, survey, { ...request, mails: claims.length }),
  ]);
  return { words };
}
