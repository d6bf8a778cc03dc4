import { enqueue } from '../jobs.ts';
import type { Db } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import type { Analyst } from './analyst.ts';
import { findUnanalyzed, listThemes, saveAnalysis } from './queries.ts';
import { analysisWaitMs } from './rules.ts';
import type { Redact } from './summarize.ts';
import { vocabulary } from './themes.ts';

export type AnalyzeTools = { db: Db; log: Log; analyst: Analyst; redact: Redact; pump: () => void };

/** `asked_at` when it is asked for again: an analysis from before then is made again. */
export type AnalyzeJob = {
  org_id: string;
  response_id: string;
  tries: number;
  asked_at?: string | undefined;
};

/**
 * Fills in what can be read out of one comment, once. An analyst that cannot answer now is asked again
 * later, twice as late each time, by a job of its own; the answer itself waits for nothing.
 */
export async function analyze(
  tools: AnalyzeTools,
  job: AnalyzeJob,
  traceparent: string | null = null,
) {
  const { db, log, analyst } = tools;
  const { org_id: orgId, response_id: responseId, tries, asked_at: askedAt = null } = job;
  const which = { orgId, responseId, askedAt };
  const remark = await findUnanalyzed(db, which);
  if (!remark) return;

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

  if (answer.ok) return await saveAnalysis(db, which, { ...answer.value, provider: analyst.name });
  const waitMs = answer.later ? analysisWaitMs(tries, answer.waitMs) : null;
  if (waitMs === null) {
    log.warn({ response_id: responseId, why: answer.why }, 'an answer stays without analysis');
    return;
  }
  const payload = { ...job, tries: tries + 1 };
  const runAt = new Date(Date.now() + waitMs);
  await enqueue(db, [{ task: 'summaries.analyze', payload, runAt, traceparent }]);
}
