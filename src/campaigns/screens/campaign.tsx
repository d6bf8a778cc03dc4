import type { Context } from 'hono';
import { notFound, toSentence } from '../../errors.ts';
import { type Page, readList } from '../../lib/paging/page.ts';
import { getOrganization } from '../../organizations/queries.ts';
import type { ScreenEnv } from '../../sessions/session.ts';
import { getOrgSurvey } from '../../surveys/queries.ts';
import { Confirm, State, Time } from '../../web/app/badges.tsx';
import { Field, LinkButton, Select } from '../../web/app/forms.tsx';
import { count, counted, DataTable, EmptyState, Live, PagedList } from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import type { AdvanceTools } from '../advance.ts';
import type { CampaignRecord } from '../api.ts';
import { type CampaignRun, findRun } from '../queries.ts';
import { type CampaignResult, listResults, type ResultStatus, resultStatuses } from '../results.ts';
import { nextOpening } from '../rules.ts';
import {
  emptyStateOf,
  reasonText,
  resultWords,
  runTitle,
  Sum,
  sendTitle,
  trailOf,
} from './send.tsx';

type CampaignIds = { surveyId: string; campaignId: string };

const liveSeconds = 2;

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
  const isAutomatic = campaign.kind !== 'campaign';
  const every = isOn(campaign) && !isAutomatic ? liveSeconds : undefined;
  const addressAt = addressOf(here, filter);
  const at = now?.() ?? new Date();
  const body = (
    <>
      <Live id="campaign" says="" {...{ every, path: addressAt(page.page), also: outcomesId }}>
        <Progress
          {...{ campaign, here, timeZone, isAutomatic, now: at }}
          opensAt={nextOpening(survey.send_window, at)}
          canControl={c.var.organization.role !== 'viewer'}
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
        This cancels {counted(campaign.remaining, 'unsent email')}
        {campaign.started_at === null ? '' : ' and returns them to your monthly limit'}. You can’t
        resume a stopped campaign, but you can start a new one.
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
  const trail = [...trailOf(base, survey), { text: 'Send', href: sendPath }];
  return { orgId, survey, campaign, here: `${sendPath}/${campaignId}`, trail };
}

const outcomesId = 'outcomes';

type OutcomeFilter = { search: string; status: ResultStatus | undefined };

type OutcomesProps = {
  campaign: CampaignRun;
  results: readonly CampaignResult[];
  page: Page;
  total: number;
  filter: OutcomeFilter;
  here: string;
  at: (page: number) => string;
};

function Outcomes({ campaign, results, page, total, filter, here, at }: OutcomesProps) {
  // An empty column would take up space on a phone.
  const isFiltered = filter.search !== '' || filter.status !== undefined;
  const showsReason = results.some(({ reason_code }) => reason_code);
  return (
    <section class="card" aria-labelledby="results">
      <h2 id="results">Results</h2>
      {!isFiltered && total === 0 ? null : <Filter filter={filter} here={here} />}
      <div id={outcomesId}>
        <PagedList
          meta={{ page: page.page, limit: page.limit, total }}
          at={at}
          empty={<Empty campaign={campaign} isFiltered={isFiltered} />}
        >
          <DataTable
            caption="Contacts of the campaign"
            columns={[
              { head: 'Email' },
              { head: 'Outcome' },
              ...(showsReason ? [{ head: 'Reason' }] : []),
              { head: 'Time' },
            ]}
            rows={results.map((each) => ({ cells: cellsOf(each, showsReason) }))}
          />
        </PagedList>
      </div>
    </section>
  );
}

const Filter = ({ filter, here }: Pick<OutcomesProps, 'filter' | 'here'>) => (
  <form method="get" action={here} class="inline">
    <Field name="search" label="Search" type="search" value={filter.search} autocomplete="off" />
    <Select
      name="status"
      label="Outcome"
      value={filter.status ?? ''}
      options={[
        { value: '', text: 'Any' },
        ...resultStatuses.map((status) => ({ value: status, text: resultWords[status][1] })),
      ]}
    />
    <button type="submit">Search</button>
  </form>
);

function Empty({ campaign, isFiltered }: { campaign: CampaignRun; isFiltered: boolean }) {
  if (isFiltered) return <EmptyState title="No contacts match" />;
  const [title, means] = emptyStateOf(campaign);
  return (
    <EmptyState title={title}>
      <p>{means}</p>
    </EmptyState>
  );
}

function cellsOf(result: CampaignResult, showsReason: boolean) {
  const { email, status, at } = result;
  const [kind, word] = resultWords[status];
  return [
    <bdi>{email}</bdi>,
    <State kind={kind}>{word}</State>,
    ...(showsReason ? [<Reason {...result} />] : []),
    at ? <Time at={at} show="second" /> : '',
  ];
}

function Reason({ status, reason, reason_code }: CampaignResult) {
  if (!reason_code) return null;
  return (
    <>
      <span title={reason_code}>{reasonText(reason_code).reason}</span>
      {status === 'failed' ? <span class="sub block">{reason}</span> : null}
    </>
  );
}

type ProgressProps = {
  campaign: CampaignRecord;
  here: string;
  timeZone: string;
  canControl: boolean;
  /** When the send window opens. Now if it is open. */
  opensAt: Date;
  now: Date;
  /** Automatic sends never end and cannot be paused. */
  isAutomatic: boolean;
};

const isOn = ({ status }: CampaignRecord) => status === 'scheduled' || status === 'running';

function Progress(props: ProgressProps) {
  const { campaign, canControl } = props;
  const { total, duplicates, invalid, sent, failed, remaining } = campaign;
  const mails = total - duplicates - invalid;
  return (
    <section class="card" aria-labelledby="running">
      <h2 id="running">Progress</h2>
      <p role="status">
        <Standing {...props} mails={mails} />
      </p>
      <p class="hidden" id="bar-words">
        Processed
      </p>
      <progress aria-labelledby="bar-words" max={Math.max(mails, 1)} value={sent + failed}>
        {sent + failed} of {mails}
      </progress>
      <dl class="counts">
        <Sum state="fine" name="Sent" value={sent} />
        <Sum state="failed" name="Failed" value={failed} />
        <Sum state="skipped" name="Skipped" value={duplicates + invalid} />
        <Sum state="waiting" name={isOver(campaign) ? 'Canceled' : 'Waiting'} value={remaining} />
      </dl>
      {canControl ? <Controls {...props} /> : null}
    </section>
  );
}

const isOver = ({ status }: CampaignRecord) =>
  status === 'finished' || status === 'stopped' || status === 'refused';

function Controls({ campaign, here, isAutomatic }: ProgressProps) {
  const results = (
    <LinkButton href={`${here}/results.csv`} text="Download results (CSV)" kind="quiet" />
  );
  if (isAutomatic || isOver(campaign)) return <div class="acts">{results}</div>;
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
      {results}
    </div>
  );
}

function Standing(props: ProgressProps & { mails: number }) {
  const { campaign, mails, opensAt, now, isAutomatic } = props;
  const { status, sent, finished_at, reason } = campaign;
  if (status === 'scheduled') return <Scheduled {...props} />;
  const done = (
    <strong>
      {count(sent)} of {counted(mails, 'email')} sent.
    </strong>
  );
  if (status === 'running' && opensAt > now) {
    return (
      <>
        {done} Outside sending hours. Continues <Time at={opensAt} />.
      </>
    );
  }
  if (status === 'running' && reason) {
    return (
      <>
        {done} The mail server is not accepting emails right now. Retrying: {reason}
      </>
    );
  }
  if (status === 'running') {
    return (
      <>
        {done} {isAutomatic ? '' : timeLeft(campaign, now)}
      </>
    );
  }
  if (status === 'refused') return <strong>Refused: {reason}.</strong>;
  const labels = { paused: 'Paused', finished: 'Finished', stopped: 'Stopped' };
  return (
    <>
      {done} {labels[status]}
      {finished_at ? (
        <>
          {' '}
          <Time at={finished_at} />
        </>
      ) : null}
      .{reason ? ` ${toSentence(reason)}` : ''}
    </>
  );
}

/** Also shows the organization's time zone, in which the time was entered. */
function Scheduled({ campaign: { send_at, per_hour }, timeZone }: ProgressProps) {
  return (
    <>
      <strong>Scheduled.</strong>{' '}
      {send_at ? (
        <>
          Starts <Time at={send_at} />
          {`, at ${clockIn(timeZone, send_at)} in ${timeZone}`}
        </>
      ) : (
        'Starts soon'
      )}
      {per_hour === null ? '' : `, with ${counted(per_hour, 'email')} per hour`}.
    </>
  );
}

const clockIn = (timeZone: string, at: string) =>
  new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(
    new Date(at),
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
