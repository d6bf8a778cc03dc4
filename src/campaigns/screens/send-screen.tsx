import type { Context } from 'hono';
import { getOrganization } from '../../organizations/queries.ts';
import type { ScreenEnv } from '../../sessions/session.ts';
import { getOrgSurvey } from '../../surveys/manage.queries.ts';
import { count, DataTable } from '../../web/app/lists.tsx';
import { State, Time } from '../../web/app/marks.tsx';
import type { FormState } from '../../web/app/read-form.ts';
import { renderScreen } from '../../web/app/screen.tsx';
import type { AdvanceTools } from '../advance.ts';
import { viewJudgement } from '../judgement.ts';
import {
  type CampaignRecord,
  type CampaignRun,
  latestCampaigns,
  listRunsByItself,
} from '../list.queries.ts';
import { runTitle, statusWord, WhoIsMailed, WhyNot } from './judgement.tsx';
import { SendForm } from './send-form.tsx';

export const sendTitle = (survey: string) => `Send ${survey}`;

const campaignsShown = 20;

type SendScreen = { surveyId: string; form: FormState };

/** The judgement before anything goes out, by the same code as a dry run, and the campaigns until now. */
export async function showSend(
  c: Context<ScreenEnv>,
  { db }: AdvanceTools,
  { surveyId, form }: SendScreen,
  status: 200 | 422 = 200,
) {
  const { id: orgId, slug, role } = c.var.organization;
  const survey = await getOrgSurvey(db, orgId, surveyId);
  const [judgement, organization, campaigns, runs] = await Promise.all([
    viewJudgement(db, { orgId, surveyId }),
    getOrganization(db, orgId),
    latestCampaigns(db, { orgId, surveyId }, campaignsShown),
    listRunsByItself(db, { orgId, surveyId }),
  ]);
  const base = `/o/${slug}/surveys`;
  const paths = { contacts: `${base}/${surveyId}/contacts`, edit: `${base}/${surveyId}/edit` };
  const here = `${base}/${surveyId}/send`;
  const body = (
    <>
      <section class="columns even" aria-labelledby="judgement">
        <WhoIsMailed judgement={judgement} />
        <SendForm
          {...{ survey, judgement, form, here, paths, timeZone: organization.time_zone }}
          maySend={role !== 'viewer'}
        />
      </section>
      <WhyNot judgement={judgement} csv={`${here}/judgement.csv`} />
      <Campaigns campaigns={campaigns} here={here} />
      <ByItself runs={runs} here={here} />
    </>
  );
  return renderScreen(c, {
    title: sendTitle(survey.name),
    section: 'surveys',
    body,
    status,
    trail: trailOf({ base, survey }),
  });
}

/** The way back to the list of surveys. */
export const trailOf = ({
  base,
  survey,
}: {
  base: string;
  survey: { id: string; name: string };
}) => [
  { text: 'Surveys', href: base },
  { text: survey.name, href: `${base}/${survey.id}` },
  { text: 'Contacts', href: `${base}/${survey.id}/contacts` },
];

type CampaignsProps = { campaigns: readonly CampaignRecord[]; here: string };

function Campaigns({ campaigns, here }: CampaignsProps) {
  if (campaigns.length === 0) return null;
  return (
    <section aria-labelledby="campaigns">
      <h2 id="campaigns">Campaigns</h2>
      <DataTable
        caption="Campaigns of this survey, newest first"
        nowrap
        columns={[{ head: 'Started' }, { head: 'State' }, ...countHeads]}
        rows={campaigns.map((each) => ({ cells: cellsOf(each, here) }))}
      />
    </section>
  );
}

const countHeads = [
  { head: 'Sent', number: true },
  { head: 'Failed', number: true },
  { head: 'Not mailed', number: true },
  { head: 'Waiting', number: true },
];

function ByItself({ runs, here }: { runs: readonly CampaignRun[]; here: string }) {
  if (runs.length === 0) return null;
  return (
    <section aria-labelledby="by-itself">
      <h2 id="by-itself">By itself</h2>
      <DataTable
        caption="Reminders, and contacts that were asked by themselves"
        nowrap
        columns={[{ head: 'What' }, ...countHeads]}
        rows={runs.map((run) => ({
          cells: [<a href={`${here}/${run.id}`}>{runTitle(run)}</a>, ...countsOf(run)],
        }))}
      />
    </section>
  );
}

const countsOf = ({ sent, failed, duplicates, invalid, remaining }: CampaignRecord) =>
  [sent, failed, duplicates + invalid, remaining].map((each) => count(each));

function cellsOf(campaign: CampaignRecord, here: string) {
  const [kind, word] = statusWord(campaign.status);
  return [
    <a href={`${here}/${campaign.id}`}>
      <Time at={campaign.started_at ?? campaign.send_at ?? campaign.created_at} />
      <span class="hidden">, {campaign.name}</span>
    </a>,
    <State kind={kind}>{word}</State>,
    ...countsOf(campaign),
  ];
}
