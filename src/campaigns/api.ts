import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { createReader, type ReplicaTools } from '../keys/read.ts';
import { parseBody } from '../lib/http/body.ts';
import type { ApiSection, Operation } from '../lib/openapi/openapi.ts';
import { Failure } from '../lib/openapi/operation.ts';
import {
  Count,
  described,
  Id,
  List,
  Moment,
  One,
  Page,
  parseList,
  parsePage,
} from '../lib/paging/page.ts';
import {
  BooleanParameter,
  idParam,
  isInCalendar,
  parseWriteQuery,
} from '../lib/validation/parse.ts';
import { refuseOverLimit } from '../organizations/queries.ts';
import { AudienceInput, AudienceItem } from '../people/audience.ts';
import { oneOf } from '../responses/schemas.ts';
import { SendLimitExceeded } from '../sends/api.ts';
import { Name } from '../surveys/schemas.ts';
import { type AdvanceTools, maxSkippedShown } from './advance.ts';
import {
  createCampaign,
  dryRunCampaign,
  type NewCampaign,
  pauseCampaign,
  resumeCampaign,
  stopCampaign,
} from './campaign.ts';
import { campaignJson, findCampaign, listCampaigns } from './queries.ts';
import { listResults, resultStatuses } from './results.ts';
import { scheduleOf } from './rounds.ts';

export function surveyCampaignReads(tools: ReplicaTools) {
  const { answer } = createReader(tools);
  return new Hono<ApiEnv>().get('/:id/campaigns', (c) =>
    answer(c, 'survey', (orgId) => {
      const page = parsePage(c.req.queries());
      return listCampaigns(tools.db, orgId, { surveyId: idParam(c, 'survey'), page });
    }),
  );
}

export function campaignReads(tools: ReplicaTools) {
  const { answer } = createReader(tools);
  return new Hono<ApiEnv>()
    .get('/:id', (c) =>
      answer(c, 'campaign', (orgId) => campaignJson(tools.db, orgId, idParam(c, 'campaign'))),
    )
    .get('/:id/results', (c) =>
      answer(c, 'campaign', (orgId) => {
        const { search, status, ...page } = parseList(ResultsQuery, c.req.queries());
        const campaignId = idParam(c, 'campaign');
        return listResults(tools.db, orgId, { campaignId, page, search, status });
      }),
    );
}

export const surveyCampaignRoutes = (tools: AdvanceTools) =>
  new Hono<ApiEnv>()
    .post('/:id/campaigns', async (c) => {
      const key = requireWrite(c.var.key);
      const { dry_run } = parseWriteQuery(CampaignQuery, c.req.queries());
      const body = await parseBody(c, CampaignInput, { optional: true, parameters: CampaignQuery });
      const surveyId = idParam(c, 'survey');
      if (dry_run) {
        return c.json({ data: await dryRun(tools, { ...body, surveyId }, key.orgId) });
      }
      const id = await createCampaign(tools, key, { ...body, surveyId });
      return c.json({ data: await findCampaign(tools.db, key.orgId, id) }, 202);
    })

    .get('/:id/schedule', async (c) => {
      const survey = { orgId: c.var.key.org_id, surveyId: idParam(c, 'survey') };
      return c.json({ data: { days: await scheduleOf(tools, survey) } });
    });

async function dryRun({ db, now }: AdvanceTools, input: NewCampaign, orgId: string) {
  const judged = await dryRunCampaign(
    { db },
    { orgId, surveyId: input.surveyId, audience: input.audience },
  );
  const at = now?.() ?? new Date();
  const isLater = input.send_at ? input.send_at > at : false;
  if (!isLater) refuseOverLimit(judged, judged.mailed);
  const skipped = [...judged.reasons.values()].flatMap(({ first }) => first);
  return {
    id: null,
    survey_id: input.surveyId,
    name: input.name ?? judged.surveyName,
    status: isLater ? 'scheduled' : 'running',
    send_at: input.send_at?.toISOString() ?? null,
    per_hour: input.per_hour ?? null,
    audience: input.audience ?? null,
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
    reasons: Object.fromEntries([...judged.reasons].map(([code, { count }]) => [code, count])),
    ...(input.audience && { skipped: skipped.slice(0, maxSkippedShown) }),
  };
}

export function campaignRoutes(tools: AdvanceTools) {
  const act = (control: typeof pauseCampaign) => async (c: Context<ApiEnv>) => {
    const key = requireWrite(c.var.key);
    const id = idParam(c, 'campaign');
    await control(tools, key, id);
    return c.json({ data: await findCampaign(tools.db, key.orgId, id) });
  };
  return new Hono<ApiEnv>()
    .post('/:id/pause', act(pauseCampaign))
    .post('/:id/resume', act(resumeCampaign))
    .post('/:id/stop', act(stopCampaign));
}

const act = (word: 'pause' | 'resume' | 'stop', summary: string, about: string): Operation => ({
  id: `${word}Campaign`,
  summary,
  about,
  answer: { about: 'the campaign', schema: One(Campaign) },
  refusals: { 409: ['campaign_over'] },
});

const maxSearchLength = 320;
const maxPerHour = 1_000_000;
const maxWaitMs = 366 * 24 * 60 * 60 * 1000;

const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)$/;

const SendAt = v.pipe(
  v.string('must be text'),
  v.regex(timeForm, 'must be an ISO 8601 time with its zone, such as 2027-01-31T12:00:00Z'),
  v.check(isInCalendar, 'must be a time that exists'),
  v.check((text) => Date.parse(text) < Date.now() + maxWaitMs, 'must be within a year'),
  v.metadata({ format: 'date-time' }),
  v.transform((text) => new Date(text)),
);

export const PerHour = v.pipe(
  v.number('must be a number'),
  v.integer('must be a whole number'),
  v.minValue(1, 'must be at least 1'),
  v.maxValue(maxPerHour, `must be at most ${maxPerHour}`),
);

export const ResultsQuery = v.object({
  ...Page.entries,
  search: described(
    v.optional(
      v.pipe(
        v.string(),
        v.trim(),
        v.maxLength(maxSearchLength, `must be at most ${maxSearchLength} characters`),
        v.check((text) => !text.includes('\u0000'), 'must not contain NUL'),
      ),
    ),
    'limit to contacts with this text in their email or name (case-insensitive)',
  ),
  status: described(v.optional(oneOf(resultStatuses)), 'limit to contacts with this status'),
});

export const CampaignInput = v.object({
  name: described(v.nullish(Name), 'defaults to the name of the survey'),
  send_at: described(v.nullish(SendAt), 'start time; starts immediately if omitted or in the past'),
  per_hour: described(
    v.nullish(PerHour),
    'maximum emails per hour, spread evenly; if omitted, as fast as possible',
  ),
  audience: described(
    v.nullish(AudienceInput),
    'people to add to the survey and to email: `"people"` for everybody, `{segment_id}` or `{filter}`; if omitted, the ' +
      'pending contacts of the survey',
  ),
});

const CampaignQuery = v.object({
  dry_run: described(
    v.optional(BooleanParameter),
    '`true` evaluates the contacts without writing or sending anything',
  ),
});

const counts = {
  total: described(Count, 'contacts that were evaluated: all that were pending or failed'),
  sent: Count,
  duplicates: described(Count, 'contacts that were skipped; the results have the reasons'),
  invalid: described(Count, 'contacts with an invalid address'),
  failed: Count,
  remaining: described(Count, 'emails that have not been sent yet'),
};

const Campaign = v.object({
  id: Id,
  survey_id: Id,
  name: v.string(),
  status: v.picklist(['scheduled', 'running', 'paused', 'finished', 'stopped', 'refused']),
  send_at: v.nullable(Moment),
  per_hour: v.nullable(Count),
  audience: described(v.nullable(AudienceItem), 'null: the pending contacts of the survey'),
  ...counts,
  reason: described(
    v.nullable(v.string()),
    'why the campaign was refused, stopped or paused automatically, or why its emails are delayed',
  ),
  created_at: Moment,
  started_at: v.nullable(Moment),
  finished_at: v.nullable(Moment),
});

export type CampaignRecord = v.InferOutput<typeof Campaign>;

const TriedCampaign = v.object({
  ...Campaign.entries,
  id: v.null(),
  created_at: v.null(),
  reasons: described(v.record(v.string(), Count), 'number of skipped contacts by `reason_code`'),
  skipped: described(
    v.optional(
      v.array(
        v.object({
          email: v.string(),
          name: v.nullable(v.string()),
          reason_code: v.string(),
          reason: v.string(),
        }),
      ),
    ),
    'people of the audience who get no email, at most 1,000',
  ),
});

const CampaignResultItem = v.object({
  contact_id: Id,
  email: v.string(),
  status: v.picklist(resultStatuses),
  reason: v.nullable(v.string()),
  reason_code: v.nullable(v.string()),
  at: described(v.nullable(Moment), 'time of the outcome; null while waiting'),
});

export type CampaignResult = v.InferOutput<typeof CampaignResultItem>;

const Schedule = v.object({
  days: v.array(
    v.object({
      date: described(
        v.string(),
        'a day in the time zone of the send window, or of the organization',
      ),
      count: described(Count, 'contacts whose next round begins on this day, as currently planned'),
    }),
  ),
});

export const campaignSection: ApiSection = {
  name: 'Campaigns',
  about:
    'Email a survey to all contacts that have not received it. Campaigns can be scheduled, paced, paused and stopped.',
  schemas: { Campaign, CampaignResult: CampaignResultItem, Schedule },
  bodies: { NewCampaign: CampaignInput },
  operations: {
    'post /api/v1/surveys/{id}/campaigns': {
      id: 'createCampaign',
      summary: 'Create a campaign',
      about:
        'Emails every contact that is `pending` or `failed` at the start, or the people of `audience`, with the same rules as a send. The response comes ' +
        'once all contacts are evaluated; the emails follow. All emails are reserved from the monthly limit at the start, or nothing ' +
        'is sent. A dry run returns 200.',
      query: CampaignQuery,
      body: CampaignInput,
      bodyOptional: true,
      answer: { status: 202, about: 'the campaign', schema: One(Campaign) },
      refusals: { 400: ['survey_draft', 'survey_closed'], 403: ['SEND_LIMIT_EXCEEDED'] },
      refusalSchemas: { 403: v.union([Failure, SendLimitExceeded]) },
      also: { about: 'the result of a dry run', schema: One(TriedCampaign) },
    },
    'get /api/v1/surveys/{id}/campaigns': {
      id: 'listCampaigns',
      summary: 'List the campaigns of a survey, newest first',
      about: 'Includes current counts.',
      query: Page,
      answer: { about: 'a page of campaigns', schema: List(Campaign) },
    },
    'get /api/v1/campaigns/{id}': {
      id: 'getCampaign',
      summary: 'Get a campaign and its progress',
      about:
        '`total` is the sum of `sent`, `duplicates`, `invalid`, `failed` and `remaining`. Before a scheduled campaign ' +
        'starts, they are estimates from the time of scheduling; contacts are evaluated again at the start.',
      answer: { about: 'the campaign', schema: One(Campaign) },
    },
    'get /api/v1/campaigns/{id}/results': {
      id: 'listCampaignResults',
      summary: 'List the outcome for each contact',
      about: 'One row per evaluated contact, also while the campaign runs.',
      query: ResultsQuery,
      answer: { about: 'a page of results', schema: List(CampaignResultItem) },
    },
    'get /api/v1/surveys/{id}/schedule': {
      id: 'getSchedule',
      summary: 'Get the schedule of the next rounds',
      about:
        'How many contacts `repeat` asks on each of the next 30 days, from today. A contact counts in each of its rounds. ' +
        'All counts are 0 without `repeat`, and for drafts and closed surveys.',
      answer: { about: '30 days', schema: One(Schedule) },
      notFound: 'survey',
    },
    'post /api/v1/campaigns/{id}/pause': act(
      'pause',
      'Pause a campaign',
      'No more emails are sent until you resume it.',
    ),
    'post /api/v1/campaigns/{id}/resume': act(
      'resume',
      'Resume a paused campaign',
      'Continues at the pace of `per_hour`.',
    ),
    'post /api/v1/campaigns/{id}/stop': act(
      'stop',
      'Stop a campaign for good',
      'Unsent emails no longer count against the monthly limit.',
    ),
  },
};
