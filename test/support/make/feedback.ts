import type { Db } from '../../../src/lib/db/db.ts';
import { createLog } from '../../../src/lib/log/log.ts';
import { redact } from '../../../src/lib/redact/redact.ts';
import { type Analyst, createBuiltinAnalyst } from '../../../src/summaries/analyst.ts';
import { readComment } from '../../../src/summaries/builtin.ts';
import { analyze } from '../../../src/summaries/comment-reader.ts';
import { answerThrough, linkOf } from './answers.ts';
import { makeOrganization, makeSurvey, makeWebhook } from './rows.ts';

/** Shared by all tests of a file, because each instance loads a language model. */
const builtin = createBuiltinAnalyst(readComment);

export const readingTools = (db: Db, analyst: Analyst = builtin) => ({
  db,
  analyst,
  redact,
  log: createLog({ level: 'silent' }),
});

/** An organization with a survey and a webhook. Analysis is on by default. */
export async function makeFeedback(db: Db, over: Record<string, unknown> = {}) {
  const settings = { name: 'Acme', time_zone: 'UTC', ai_enabled: true, ...over };
  const id = await makeOrganization(db, settings);
  const survey = await makeSurvey(db, id);
  const webhook = await makeWebhook(db, id);
  const answer = async (score: number, comment: string | null, at: string) => {
    const link = linkOf({ orgId: id, surveyId: survey, contactId: null }, { now: new Date(at) });
    const recorded = await answerThrough(db, link, { score, comment });
    return recorded!.id;
  };
  return {
    organization: { id, ...settings },
    id,
    survey,
    webhook,
    answer,
    jobs: (task: string) => db<{ payload: { response_id: string; tries: number } }[]>`
      select payload from test.jobs where task = ${task} and payload ->> 'org_id' = ${id} order by id`,
    waiting: () => db<
      { org_id: string; response_id: string; tries: number; asked_at: string | null }[]
    >`
      select org_id, response_id, tries, asked_at::text as asked_at
      from waiting_analyses
      where org_id = ${id}
      order by is_history, due_at`,
    events: () => db<{ body: string }[]>`
      select body from deliveries where webhook_id = ${webhook} and event = 'summary.generated'`,
    analyses: () => db<
      { sentiment: string; themes: string[]; summary: string; provider: string }[]
    >`
      select sentiment, themes, churn_risk, summary, provider
      from analyses
      where org_id = ${id}
      order by analyzed_at`,
    /** Adds an answer and analyzes its comment. Returns the id of the response. */
    async analyzed(score: number, comment: string, at: string, analyst?: Analyst) {
      const response_id = await answer(score, comment, at);
      await analyze(readingTools(db, analyst), { org_id: id, response_id, tries: 0 });
      return response_id;
    },
  };
}
