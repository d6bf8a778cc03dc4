import type { Context } from 'hono';
import { notFound } from '../../errors.ts';
import type { Page } from '../../lib/paging/page.ts';
import { readList } from '../../lib/paging/paged-json.ts';
import type { ScreenEnv } from '../../sessions/session.ts';
import { getOrgSurvey } from '../../surveys/manage.queries.ts';
import { Confirm } from '../../web/app/acts.tsx';
import { DataTable, EmptyState } from '../../web/app/lists.tsx';
import { Live } from '../../web/app/live.tsx';
import { State, Time } from '../../web/app/marks.tsx';
import { PagedList } from '../../web/app/paged-list.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import type { AdvanceTools } from '../advance.ts';
import { findRun } from '../list.queries.ts';
import { type CampaignResult, listResults } from '../results.queries.ts';
import { campaignTexts, reasonText, resultWord, runTitle } from '../screen-texts.ts';
import { isOn, Progress } from './progress.tsx';
import { trailOf } from './send-screen.tsx';

type CampaignIds = { surveyId: string; campaignId: string };

const liveSeconds = 2;

/** How far a campaign is, and what became of each person. */
export async function showCampaign(
  c: Context<ScreenEnv>,
  { db, now }: AdvanceTools,
  { page, ...ids }: CampaignIds & { page: Page },
) {
  const { orgId, survey, campaign, here, trail } = await find(c, db, ids);
  const results = await readList<CampaignResult>(
    db,
    listResults(db, orgId, { campaignId: campaign.id, page }),
  );
  const total = (results as { meta?: { total: number } }).meta?.total ?? 0;
  const isByItself = campaign.kind !== 'campaign';
  // While it runs, script asks for this part again; without script a reload shows the same.
  const every = isOn(campaign) && !isByItself ? liveSeconds : undefined;
  const path = page.page === 1 ? here : `${here}?page=${page.page}`;
  const body = (
    <Live id="campaign" says="" {...{ every, path }}>
      <Progress
        {...{ campaign, here, now: now?.() ?? new Date() }}
        mayControl={c.var.organization.role !== 'viewer'}
        isByItself={isByItself}
      />
      <Results results={results.data} page={page} total={total} here={here} />
    </Live>
  );
  const named =
    campaign.name === survey.name ? campaignTexts.sendTitle(survey.name) : campaign.name;
  const title = campaign.kind === 'campaign' ? named : runTitle(campaign);
  return renderScreen(c, { title, section: 'surveys', body, trail });
}

export async function showStop(c: Context<ScreenEnv>, { db }: AdvanceTools, ids: CampaignIds) {
  const { campaign, here, trail } = await find(c, db, ids);
  const title = campaignTexts.stopTitle(campaign.name);
  const body = (
    <Confirm action={`${here}/stop`} button={campaignTexts.stop} cancel={here}>
      <p>{campaignTexts.stopMeans(campaign.remaining)}</p>
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

type ResultsProps = {
  results: readonly CampaignResult[];
  page: Page;
  total: number;
  here: string;
};

function Results({ results, page, total, here }: ResultsProps) {
  return (
    <section aria-labelledby="results">
      <h2 id="results">Outcome per person</h2>
      <PagedList
        meta={{ page: page.page, limit: page.limit, total }}
        at={(other) => `${here}?page=${other}`}
        words={{ newer: 'Back', older: 'On' }}
        empty={
          <EmptyState title="No contact was judged yet.">
            <p>Contacts are listed here once the campaign has started.</p>
          </EmptyState>
        }
      >
        <DataTable
          caption="Contacts of the campaign"
          columns={[{ head: 'Email' }, { head: 'Outcome' }, { head: 'Why' }, { head: 'When' }]}
          rows={results.map((each) => ({ cells: cellsOf(each) }))}
        />
      </PagedList>
    </section>
  );
}

function cellsOf({ email, status, reason, reason_code, at }: CampaignResult) {
  const [kind, word] = resultWord(status);
  return [
    <bdi>{email}</bdi>,
    <State kind={kind}>{word}</State>,
    reason_code ? (
      <>
        <span title={reason_code}>{reasonText(reason_code).reason}</span>
        {status === 'failed' ? <span class="small soft block">{reason}</span> : null}
      </>
    ) : (
      ''
    ),
    at ? <Time at={at} show="second" /> : '',
  ];
}
