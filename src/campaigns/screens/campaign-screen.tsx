import type { Context } from 'hono';
import { notFound } from '../../errors.ts';
import type { Page } from '../../lib/paging/page.ts';
import { readList } from '../../lib/paging/paged-json.ts';
import { getOrganization } from '../../organizations/queries.ts';
import type { ScreenEnv } from '../../sessions/session.ts';
import { getOrgSurvey, type ManagedSurvey } from '../../surveys/manage.queries.ts';
import { Confirm } from '../../web/app/acts.tsx';
import { counted } from '../../web/app/lists.tsx';
import { Live } from '../../web/app/live.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import type { AdvanceTools } from '../advance.ts';
import { findRun } from '../list.queries.ts';
import { type CampaignResult, listResults } from '../results.queries.ts';
import { nextOpening } from '../window.rules.ts';
import { runTitle } from './judgement.tsx';
import { type OutcomeFilter, Outcomes, outcomesId } from './outcomes.tsx';
import { isOn, Progress } from './progress.tsx';
import { sendTitle, trailOf } from './send-screen.tsx';

type CampaignIds = { surveyId: string; campaignId: string };

const liveSeconds = 2;

/** How far a campaign is, and what became of each person. */
export async function showCampaign(
  c: Context<ScreenEnv>,
  { db, now }: AdvanceTools,
  { page, filter, ...ids }: CampaignIds & { page: Page; filter: OutcomeFilter },
) {
  const { orgId, survey, campaign, here, trail } = await find(c, db, ids);
  const results = await readList<CampaignResult>(
    db,
    listResults(db, orgId, { campaignId: campaign.id, page, ...filter }),
  );
  const total = (results as { meta?: { total: number } }).meta?.total ?? 0;
  const { time_zone: timeZone } = await getOrganization(db, orgId);
  const isByItself = campaign.kind !== 'campaign';
  // While it runs, script asks for these parts again; without script a reload shows the same.
  const every = isOn(campaign) && !isByItself ? liveSeconds : undefined;
  const addressAt = addressOf(here, filter);
  const at = now?.() ?? new Date();
  const body = (
    <>
      <Live id="campaign" says="" {...{ every, path: addressAt(page.page), also: outcomesId }}>
        <Progress
          {...{ campaign, here, timeZone, opensAt: opening(survey, at), now: at }}
          mayControl={c.var.organization.role !== 'viewer'}
          isByItself={isByItself}
        />
      </Live>
      <Outcomes
        {...{ campaign, results: results.data, page, total, filter, here }}
        at={addressAt}
      />
    </>
  );
  const named = campaign.name === survey.name ? sendTitle(survey.name) : campaign.name;
  const title = campaign.kind === 'campaign' ? named : runTitle(campaign);
  return renderScreen(c, { title, section: 'surveys', body, trail });
}

/** When the window of a survey opens, if that is closed. */
function opening({ send_window }: ManagedSurvey, now: Date): Date | null {
  const opensAt = nextOpening(send_window, now);
  return opensAt > now ? opensAt : null;
}

/** The address of a page of the outcomes. */
const addressOf =
  (here: string, { search, status }: OutcomeFilter) =>
  (page: number) => {
    const query = new URLSearchParams({
      ...(search && { search }),
      ...(status && { status }),
      ...(page > 1 && { page: String(page) }),
    });
    return query.size === 0 ? here : `${here}?${query}`;
  };

export async function showStop(c: Context<ScreenEnv>, { db }: AdvanceTools, ids: CampaignIds) {
  const { campaign, here, trail } = await find(c, db, ids);
  const title = `Stop ${campaign.name}`;
  const body = (
    <Confirm action={`${here}/stop`} button="Stop" cancel={here}>
      <p>
        {counted(campaign.remaining, 'mail')} will not go out, and{' '}
        {campaign.remaining === 1 ? 'goes' : 'go'} back to the month. What was sent stays sent. A
        stopped campaign cannot go on; its contacts can be mailed by another one.
      </p>
    </Confirm>
  );
  return renderScreen(c, { title, section: 'surveys', body, trail });
}

async function find(
  c: Context<ScreenEnv>,
  db: AdvanceTools['db'],
  { surveyId, campaignId }: CampaignIds,
) {
  const { id: orgId, slug } = c.var.organization;
  const base = `/o/${slug}/surveys`;
  const survey = await getOrgSurvey(db, orgId, surveyId);
  const campaign = await findRun(db, orgId, campaignId);
  if (campaign?.survey_id !== surveyId) throw notFound('campaign');
  const sendPath = `${base}/${surveyId}/send`;
  const trail = [...trailOf({ base, survey }), { text: 'Send', href: sendPath }];
  return { orgId, survey, campaign, here: `${sendPath}/${campaignId}`, trail };
}
