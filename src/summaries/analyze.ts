import type { Db } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import type { AnalysisTarget } from '../responses/waiting-analyses.cte.ts';
import { endWaiting, postponeWaiting } from '../responses/waiting-analyses.queries.ts';
import type { Analyst } from './analyst.ts';
import { findUnanalyzed, listThemes, saveAnalysis } from './queries.ts';
import { analysisWaitMs } from './rules.ts';
import type { Redact } from './summarize.ts';
import { vocabulary } from './themes.ts';

export type AnalyzeTools = { db: Db; log: Log; analyst: Analyst; redact: Redact };

/** A comment to be analyzed, after so many tries; `asked_at` when it is asked for again. */
export type AnalysisRequest = {
  org_id: string;
  response_id: string;
  tries: number;
  asked_at?: string | null;
};

/**
 * Fills in what can be read out of one comment, once. An analyst that cannot answer now is asked again
 * later, twice as late each time; the answer itself waits for nothing.
 */
export async function analyze(tools: AnalyzeTools, request: AnalysisRequest) {
  const { db, analyst } = tools;
  const target = targetOf(request);
  const { orgId } = target;
  const remark = await findUnanalyzed(db, target);
  if (!remark) return await endWaiting(db, target);

  const known = { orgId, names: remark.known_names, emails: remark.known_addresses };
  const answer = await analyst.analyze({
    orgId,
    comment: await tools.redact(remark.comment, known),
    score: remark.score,
    type: remark.type,
    category: remark.category,
    language: remark.language,
    themes: vocabulary(await listThemes(db, orgId)),
  });

  if (answer.ok) return await saveAnalysis(db, target, { ...answer.value, provider: analyst.name });
  await tryLater(tools, request, { ...answer, waitMs: answer.later ? answer.waitMs : null });
}

/** Puts it off for at least so long, or gives it up: at once without a time, and after enough tries. */
export async function tryLater(
  { db, log }: Pick<AnalyzeTools, 'db' | 'log'>,
  request: AnalysisRequest,
  { why, waitMs: wishedMs }: { why: string; waitMs: number | null },
) {
  const waitMs = wishedMs === null ? null : analysisWaitMs(request.tries, wishedMs);
  if (waitMs !== null) return await postponeWaiting(db, targetOf(request), waitMs);
  log.warn({ response_id: request.response_id, why }, 'an answer stays without analysis');
  await endWaiting(db, targetOf(request));
}

const targetOf = ({ org_id, response_id, asked_at = null }: AnalysisRequest): AnalysisTarget => ({
  orgId: org_id,
  responseId: response_id,
  askedAt: asked_at,
});
