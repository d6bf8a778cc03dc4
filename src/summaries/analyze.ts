import type { Db } from '../platform/db.ts';
import type { Log } from '../platform/log.ts';
import { enqueue } from '../platform/outbox.ts';
import type { Analyst } from './analyst.ts';
import { findUnanalyzed, forgetAnalyses, listThemes, saveAnalysis } from './queries.ts';
import type { Redact } from './summarize.ts';
import { vocabulary } from './themes.ts';

const triesAllowed = 6;
const firstWaitMs = 60_000;
const jobsAtOnce = 1000;

export type AnalyzeTools = { db: Db; log: Log; analyst: Analyst; redact: Redact; pump: () => void };
export type AnalyzeJob = { org_id: string; response_id: string; tries: number };

/**
 * Fills in what can be read out of one comment, once. An analyst that cannot answer now is asked again
 * later, twice as late each time, by a job of its own; the answer itself waits for nothing.
 */
export async function analyze(tools: AnalyzeTools, job: AnalyzeJob) {
  const { db, log, analyst } = tools;
  const { org_id: orgId, response_id: responseId, tries } = job;
  const remark = await findUnanalyzed(db, orgId, responseId);
  if (!remark) return;

  const known = { names: remark.known_names, emails: remark.known_addresses };
  const answer = await analyst.analyze({
    comment: await tools.redact(remark.comment, known),
    score: remark.score,
    type: remark.type,
    category: remark.category,
    language: remark.language,
    themes: vocabulary(await listThemes(db, orgId)),
  });

  if (answer.ok) {
    await saveAnalysis(db, { orgId, responseId }, { ...answer.value, provider: analyst.name });
  } else if (answer.later && tries + 1 < triesAllowed) {
    const runAt = new Date(Date.now() + firstWaitMs * 2 ** tries);
    const payload = { ...job, tries: tries + 1 };
    await enqueue(db, [{ task: 'summaries.analyze', payload, runAt }]);
  } else {
    log.warn({ response_id: responseId, why: answer.why }, 'an answer stays without analysis');
  }
}

/** Has all answers since a time analyzed again. */
export async function analyzeAgain({ db }: { db: Db }, orgId: string, since: Date) {
  return await db.begin(async (tx) => {
    const ids = await forgetAnalyses(tx, orgId, since);
    for (let from = 0; from < ids.length; from += jobsAtOnce) {
      const some = ids.slice(from, from + jobsAtOnce);
      await enqueue(
        tx,
        some.map((response_id) => ({
          task: 'summaries.analyze',
          payload: { org_id: orgId, response_id, tries: 0 },
        })),
      );
    }
    return ids.length;
  });
}
