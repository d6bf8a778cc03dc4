import { type Context, Hono } from 'hono';
import type { Writer } from '../audit/actor.ts';
import { notFound } from '../errors.ts';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { createReader, type ReaderTools } from '../keys/read.ts';
import { parseBody } from '../lib/http/body.ts';
import { parseList, parsePage } from '../lib/paging/page.ts';
import { isUuid, parseWriteQuery } from '../lib/validation/parse.ts';
import { refuseOverLimit } from '../organizations/usage.queries.ts';
import type { AdvanceTools } from './advance.ts';
import { pauseCampaign, resumeCampaign, stopCampaign } from './control.ts';
import { type CampaignWish, createCampaign, tryCampaign } from './create.ts';
import { campaignJson, findCampaign, listCampaigns } from './list.queries.ts';
import { listResults } from './results.queries.ts';
import { CampaignInput, CampaignQuery, ResultsQuery } from './schemas.ts';

/** Mounted next to the surveys' own routes. */
export function surveyCampaignReads(tools: ReaderTools) {
  const { answer } = createReader(tools);
  return new Hono<ApiEnv>().get('/:id/campaigns', (c) =>
    answer(c, 'survey', (orgId) => {
      const surveyId = c.req.param('id');
      const page = parsePage(c.req.queries());
      return isUuid(surveyId) ? listCampaigns(tools.db, orgId, { surveyId, page }) : undefined;
    }),
  );
}

export function campaignReads(tools: ReaderTools) {
  const { answer } = createReader(tools);
  return new Hono<ApiEnv>()
    .get('/:id', (c) =>
      answer(c, 'campaign', (orgId) => {
        const id = c.req.param('id');
        return isUuid(id) ? campaignJson(tools.db, orgId, id) : undefined;
      }),
    )
    .get('/:id/results', (c) =>
      answer(c, 'campaign', (orgId) => {
        const campaignId = c.req.param('id');
        const { search, status, ...page } = parseList(ResultsQuery, c.req.queries());
        const wish = { campaignId, page, search, status };
        return isUuid(campaignId) ? listResults(tools.db, orgId, wish) : undefined;
      }),
    );
}

export const surveyCampaignRoutes = (tools: AdvanceTools) =>
  new Hono<ApiEnv>().post('/:id/campaigns', async (c) => {
    const key = requireWrite(c.var.key);
    const surveyId = c.req.param('id');
    const { dry_run } = parseWriteQuery(CampaignQuery, c.req.queries());
    const wish = await parseBody(c, CampaignInput, { optional: true, parameters: CampaignQuery });
    if (!isUuid(surveyId)) throw notFound('survey');
    if (dry_run) {
      return c.json({ data: await tried(tools, { ...wish, surveyId }, key.orgId) });
    }
    const id = await createCampaign(tools, key, { ...wish, surveyId });
    return c.json({ data: await findCampaign(tools.db, key.orgId, id) }, 202);
  });

/** As the campaign itself would be answered. */
async function tried({ db, now }: AdvanceTools, wish: CampaignWish, orgId: string) {
  const judged = await tryCampaign({ db }, { orgId, surveyId: wish.surveyId });
  const at = now?.() ?? new Date();
  const isLater = wish.send_at ? wish.send_at > at : false;
  if (!isLater) refuseOverLimit(judged, judged.mailed);
  return {
    id: null,
    survey_id: wish.surveyId,
    name: wish.name ?? judged.surveyName,
    status: isLater ? 'scheduled' : 'running',
    send_at: wish.send_at?.toISOString() ?? null,
    per_hour: wish.per_hour ?? null,
    total: judged.total,
    sent: 0,
    duplicates: judged.total - judged.mailed,
    invalid: 0,
    failed: 0,
    remaining: judged.mailed,
    reason: null,
    created_at: null,
    started_at: null,
    finished_at: null,
    reasons: Object.fromEntries(judged.reasons),
  };
}

type Verb = (tools: AdvanceTools, by: Writer, id: string) => Promise<void>;

export function campaignRoutes(tools: AdvanceTools) {
  const act = (verb: Verb) => async (c: Context<ApiEnv>) => {
    const key = requireWrite(c.var.key);
    const id = c.req.param('id') ?? '';
    if (!isUuid(id)) throw notFound('campaign');
    await verb(tools, key, id);
    return c.json({ data: await findCampaign(tools.db, key.orgId, id) });
  };
  return new Hono<ApiEnv>()
    .post('/:id/pause', act(pauseCampaign))
    .post('/:id/resume', act(resumeCampaign))
    .post('/:id/stop', act(stopCampaign));
}
