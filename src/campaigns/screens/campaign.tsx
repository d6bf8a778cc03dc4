import type { Context } from 'hono';
import { notFound, toSentence } from '../../errors.ts';
import { type Page, readList } from '../../lib/paging/page.ts';
import { listSegments } from '../../people/segments.ts';
import { ResponseRow } from '../../responses/response-row.tsx';
import type { ScreenEnv } from '../../sessions/session.ts';
import { percentage } from '../../survey-types.ts';
import { getOrgSurvey } from '../../surveys/queries.ts';
import { Breakable, Confirm, Part, State, Time, toneOf } from '../../web/app/badges.tsx';
import { Bar, Funnel } from '../../web/app/drawings.tsx';
import { Field, LinkButton, Select } from '../../web/app/forms.tsx';
import {
  count,
  counted,
  DataTable,
  EmptyState,
  Live,
  PagedList,
  withQuery,
} from '../../web/app/lists.tsx';
import { renderSurveyScreen } from '../../web/app/survey-screen.tsx';
import type { AdvanceTools } from '../advance.ts';
import type { CampaignRecord, CampaignResult } from '../api.ts';
import { type CampaignRun, findRun } from '../queries.ts';
import {
  countResults,
  type FirstResponse,
  firstResponses,
  listResults,
  type ResultCount,
  type ResultStatus,
  resultStatuses,
} from '../results.ts';
import { nextOpening } from '../rules.ts';
import { audienceText } from './audience.tsx';
import { Counts, reasonText, resultWords, runTitle, sendTitle, statusWords } from './send.tsx';

type CampaignIds = { surveyId: string; campaignId: string };

const liveSeconds = 2;

export async function showCampaign(
  c: Context<ScreenEnv>,
  { db, now }: AdvanceTools,
  { page, filter, ...ids }: CampaignIds & { page: Page; filter: OutcomeFilter },
) {
  const { orgId, survey, campaign, here } = await find(c, db, ids);
  const [results, counts, first] = await Promise.all([
    readList<CampaignResult>(
      db,
      listResults(db, orgId, { campaignId: campaign.id, page, ...filter }),
    ),
    countResults(db, orgId, campaign),
    firstResponses(db, orgId, campaign),
  ]);
  const { slug, timeZone, role } = c.var.organization;
  const isAutomatic = campaign.kind !== 'campaign';
  const isOn = campaign.status === 'scheduled' || campaign.status === 'running';
  const every = isOn && !isAutomatic ? liveSeconds : undefined;
  const addressAt = (number: number) =>
    withQuery(here, { ...filter, page: number > 1 ? String(number) : null });
  const at = now?.() ?? new Date();
  const canControl = role !== 'viewer';
  const audience =
    campaign.audience && audienceText(campaign.audience, await listSegments(db, orgId));
  const ownName = campaign.name === survey.name ? null : campaign.name;
  const name = isAutomatic ? runTitle(campaign) : ownName;
  const body = (
    <>
      <Live id="campaign" says="" every={every} path={addressAt(page.page)} also={outcomesId}>
        <Progress
          campaign={campaign}
          audience={audience}
          here={here}
          timeZone={timeZone}
          isAutomatic={isAutomatic}
          now={at}
          name={name}
          canControl={canControl}
          opensAt={nextOpening(survey.send_window, at)}
        />
        {campaign.sent === 0 ? null : (
          <div class={counts && first.length > 0 ? 'grid half level' : 'stack'}>
            {counts && <ResponseRate sent={campaign.sent} counts={counts} />}
            {first.length === 0 ? null : (
              <FirstResponses survey={survey} first={first} path={`/o/${slug}/responses`} />
            )}
          </div>
        )}
        {counts && <Reasons counts={counts} />}
      </Live>
      <Outcomes
        campaign={campaign}
        results={results}
        filter={filter}
        here={here}
        canControl={canControl}
        at={addressAt}
      />
    </>
  );
  return renderSurveyScreen(c, {
    survey,
    tab: 'send',
    title: name ?? sendTitle(survey.name),
    body,
  });
}

export async function showStop(c: Context<ScreenEnv>, { db }: AdvanceTools, ids: CampaignIds) {
  const { survey, campaign, here } = await find(c, db, ids);
  const title = `Stop ${campaign.name}`;
  const body = (
    <Confirm action={`${here}/stop`} button="Stop" cancel={here}>
      <p>
        This cancels {counted(campaign.remaining, 'unsent email')}
        {campaign.started_at === null ? '' : ' and returns them to your monthly limit'}. You can’t
        resume a stopped campaign, but you can start a new one.
      </p>
    </Confirm>
  );
  return renderSurveyScreen(c, { survey, tab: 'send', title, body });
}

async function find(
  c: Context<ScreenEnv>,
  db: AdvanceTools['db'],
  { surveyId, campaignId }: CampaignIds,
) {
  const { id: orgId, slug } = c.var.organization;
  const survey = await getOrgSurvey(db, orgId, surveyId);
  const campaign = await findRun(db, orgId, campaignId);
  if (campaign?.survey_id !== surveyId) throw notFound('campaign');
  return { orgId, survey, campaign, here: `/o/${slug}/surveys/${surveyId}/send/${campaignId}` };
}

const outcomesId = 'outcomes';

type OutcomeFilter = { search: string; status: ResultStatus | undefined };

type OutcomesProps = {
  campaign: CampaignRun;
  results: Awaited<ReturnType<typeof readList<CampaignResult>>>;
  filter: OutcomeFilter;
  here: string;
  at: (page: number) => string;
  canControl: boolean;
};

function Outcomes({ campaign, results, filter, here, at, canControl }: OutcomesProps) {
  const { data, meta } = results;
  const isFiltered = filter.search !== '' || filter.status !== undefined;
  const download = (
    <LinkButton href={`${here}/results.csv`} text="Download results (CSV)" icon="download" mini />
  );
  return (
    <Part id="results" title="Outcome for each contact" act={canControl ? download : null}>
      {!isFiltered && meta.total === 0 ? null : <Filter filter={filter} here={here} />}
      <div id={outcomesId}>
        <PagedList
          meta={meta}
          at={at}
          empty={<Empty campaign={campaign} isFiltered={isFiltered} />}
        >
          <DataTable
            caption="Contacts of the campaign"
            columns={['Email', { head: 'Outcome', phone: 'beside' }, 'Time']}
            rows={data.map((each) => ({ cells: cellsOf(each) }))}
          />
        </PagedList>
      </div>
    </Part>
  );
}

const Filter = ({ filter, here }: Pick<OutcomesProps, 'filter' | 'here'>) => (
  <form method="get" action={here} class="toolbar opts">
    <Field
      name="search"
      label="Search"
      type="search"
      placeholder="Email or name"
      value={filter.search}
      autocomplete="off"
    />
    <Select
      name="status"
      label="Outcome"
      value={filter.status ?? ''}
      options={[
        { value: '', text: 'Any outcome' },
        ...resultStatuses.map((value) => ({ value, text: resultWords[value][1] })),
      ]}
    />
    <button type="submit">Search</button>
  </form>
);

function Empty({ campaign, isFiltered }: { campaign: CampaignRun; isFiltered: boolean }) {
  if (isFiltered) return <EmptyState title="No contacts match" />;
  if (campaign.kind !== 'campaign') return <EmptyState title="No contacts due yet" />;
  return (
    <EmptyState title="Not started yet">
      <p>Recipients are chosen when it starts.</p>
    </EmptyState>
  );
}

function cellsOf(result: CampaignResult) {
  const { email, status, at } = result;
  const [kind, word] = resultWords[status];
  return [
    <>
      <bdi>
        <Breakable text={email} />
      </bdi>
      <Reason {...result} />
    </>,
    <State kind={kind}>{word}</State>,
    at ? <Time at={at} /> : '',
  ];
}

function Reason({ status, reason, reason_code }: CampaignResult) {
  if (!reason_code) return null;
  return (
    <span class="sub block" title={reason_code}>
      {reasonText(reason_code).reason}
      {status === 'failed' && reason ? `: ${reason}` : null}
    </span>
  );
}

type ProgressProps = {
  campaign: CampaignRun;
  audience: string | null;
  /** Null if it is the name of the survey. */
  name: string | null;
  here: string;
  timeZone: string;
  canControl: boolean;
  /** Time when the send window opens, or the current time if it is open. */
  opensAt: Date;
  now: Date;
  /** Automatic sends never end and cannot be paused. */
  isAutomatic: boolean;
};

function Progress(props: ProgressProps) {
  const { campaign, audience, canControl, name } = props;
  const { duplicates, invalid, sent, failed, remaining, started_at } = campaign;
  const [kind, word] = statusWords[campaign.status];
  const title = (
    <>
      {name ?? 'Progress'} <State kind={kind}>{word}</State>
    </>
  );
  const started = started_at && (
    <span class="sub">
      Started <Time at={started_at} />
    </span>
  );
  return (
    <Part id="running" title={title} act={started}>
      <p role="status">
        <Standing {...props} />
      </p>
      {audience === null ? null : (
        <p class="sub">
          Audience: <bdi>{audience}</bdi>
        </p>
      )}
      <Counts
        counts={[
          { state: 'fine', name: 'Sent', value: sent },
          { state: 'failed', name: 'Failed', value: failed },
          { state: 'skipped', name: 'Skipped', value: duplicates + invalid },
          { state: 'waiting', name: isOver(campaign) ? 'Canceled' : 'Waiting', value: remaining },
        ]}
      />
      {canControl ? <Controls {...props} /> : null}
    </Part>
  );
}

function ResponseRate({ sent, counts }: { sent: number; counts: readonly ResultCount[] }) {
  const mailed = counts.filter(({ status }) => status === 'sent');
  const sum = (of: 'bounced' | 'responded') => mailed.reduce((all, each) => all + each[of], 0);
  const responded = sum('responded');
  const step = (name: string, part: number) => ({
    name: <span class="soft">{name}</span>,
    count: count(part),
    share: part === sent ? null : `${percentage(part, sent)}%`,
    bar: <Bar part={part} whole={sent} />,
  });
  return (
    <section class="card" aria-labelledby="rate">
      <h2 id="rate">Response rate</h2>
      <p class="figure">{percentage(responded, sent)}%</p>
      <Funnel
        steps={[
          step('Sent', sent),
          step('Delivered', sent - sum('bounced')),
          step('Responded', responded),
        ]}
      />
    </section>
  );
}

type FirstResponsesProps = {
  survey: Awaited<ReturnType<typeof getOrgSurvey>>;
  first: readonly FirstResponse[];
  path: string;
};

function FirstResponses({ survey, first, path }: FirstResponsesProps) {
  return (
    <Part
      id="first"
      title="First responses"
      act={<a href={`${path}?survey_id=${survey.id}`}>All responses</a>}
    >
      <ul class="rows">
        {first.map(({ id, contact_name, contact_email, ...response }) => (
          <li>
            <ResponseRow
              response={{ ...response, type: survey.type }}
              href={`${path}/${id}`}
              title={contact_name ?? contact_email}
              person={contact_name ?? contact_email}
            />
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Reasons({ counts }: { counts: readonly ResultCount[] }) {
  const rows = counts.filter(({ reason_code }) => reason_code !== null);
  if (rows.length === 0) return null;
  const whole = rows.reduce((all, { people }) => all + people, 0);
  return (
    <Part id="reasons" title="Not sent, by reason" sub={counted(whole, 'contact')}>
      <Funnel
        steps={rows.map(({ status, reason_code, people }) => ({
          name: <span title={reason_code!}>{reasonText(reason_code!).reason}</span>,
          count: count(people),
          share: resultWords[status][1],
          bar: <Bar part={people} whole={whole} tone={toneOf[resultWords[status][0]]} />,
        }))}
      />
    </Part>
  );
}

const isOver = ({ status }: CampaignRecord) =>
  status === 'finished' || status === 'stopped' || status === 'refused';

function Controls({ campaign, here, isAutomatic }: ProgressProps) {
  if (isAutomatic || isOver(campaign)) return null;
  const isPaused = campaign.status === 'paused';
  return (
    <div class="acts">
      <form method="post" action={`${here}/${isPaused ? 'resume' : 'pause'}`}>
        <button type="submit">{isPaused ? 'Resume' : 'Pause'}</button>
      </form>
      <form method="get" action={`${here}/stop`}>
        <button type="submit" class="danger">
          Stop
        </button>
      </form>
    </div>
  );
}

function Standing({ campaign, timeZone, opensAt, now, isAutomatic }: ProgressProps) {
  const { status, total, duplicates, invalid, sent, send_at, per_hour, reason } = campaign;
  if (status === 'refused') return <strong>Refused: {reason}.</strong>;
  if (status === 'scheduled') {
    return (
      <>
        <strong>Scheduled.</strong> Starts {send_at ? <Time at={send_at} /> : 'soon'}
        {send_at && `, at ${clockIn(timeZone, send_at)} in ${timeZone}`}
        {per_hour === null ? '' : `, with ${counted(per_hour, 'email')} per hour`}.
      </>
    );
  }
  const next = () => {
    if (status !== 'running') return <Ended {...campaign} />;
    if (opensAt > now) {
      return (
        <>
          Outside sending hours. Continues <Time at={opensAt} />.
        </>
      );
    }
    if (reason) return `The mail server is not accepting emails right now. Retrying: ${reason}`;
    return isAutomatic ? '' : timeLeft(campaign, now);
  };
  return (
    <>
      <span class="figure block">
        {count(sent)} <small>of {counted(total - duplicates - invalid, 'email')} sent</small>
      </span>{' '}
      {next()}
    </>
  );
}

/** The time in the organization's time zone, in which it was entered. */
const clockIn = (timeZone: string, at: string) =>
  new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(
    new Date(at),
  );

const Ended = ({ status, finished_at, reason }: CampaignRun) => (
  <>
    {finished_at ? (
      <>
        {status === 'stopped' ? 'Stopped' : 'Finished'} <Time at={finished_at} />.{' '}
      </>
    ) : null}
    {reason ? toSentence(reason) : null}
  </>
);

/** Estimated from the pace, or from the speed so far. */
function timeLeft({ remaining, sent, per_hour, started_at }: CampaignRecord, now: Date): string {
  const ranForMs = now.getTime() - new Date(started_at ?? now).getTime();
  const perMs = per_hour === null ? sent / Math.max(ranForMs, 1) : per_hour / 3_600_000;
  if (remaining === 0) return '';
  if (perMs === 0) return 'Just started.';
  const minutes = Math.ceil(remaining / perMs / 60_000);
  if (minutes === 1) return 'Less than a minute left.';
  if (minutes < 60) return `About ${counted(minutes, 'minute')} left.`;
  const hours = Math.round(minutes / 60);
  return hours < 48
    ? `About ${counted(hours, 'hour')} left.`
    : `About ${counted(Math.round(hours / 24), 'day')} left.`;
}
