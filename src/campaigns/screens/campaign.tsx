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
import { notJudged, reasonText, resultWords, runTitle, Sum, sendTitle, trailOf } from './send.tsx';

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
  const isByItself = campaign.kind !== 'campaign';
  // While it runs, script asks for these parts again; without script a reload shows the same.
  const every = isOn(campaign) && !isByItself ? liveSeconds : undefined;
  const addressAt = addressOf(here, filter);
  const at = now?.() ?? new Date();
  const body = (
    <>
      <Live id="campaign" says="" {...{ every, path: addressAt(page.page), also: outcomesId }}>
        <Progress
          {...{ campaign, here, timeZone, isByItself, now: at }}
          opensAt={nextOpening(survey.send_window, at)}
          mayControl={c.var.organization.role !== 'viewer'}
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
        {counted(campaign.remaining, 'mail')} will not go out
        {campaign.started_at === null
          ? ''
          : `, and ${campaign.remaining === 1 ? 'goes' : 'go'} back to the month. What was sent stays sent`}
        . A stopped campaign cannot go on; its contacts can be mailed by another one.
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

/** What became of each person. What is searched for stays as it is while the rows below it change. */
function Outcomes({ campaign, results, page, total, filter, here, at }: OutcomesProps) {
  // A column that is empty on the whole page would take the room of the others on a phone.
  const isFiltered = filter.search !== '' || filter.status !== undefined;
  const saysWhy = results.some(({ reason_code }) => reason_code);
  return (
    <section aria-labelledby="results">
      <h2 id="results">Outcome per person</h2>
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
              ...(saysWhy ? [{ head: 'Why' }] : []),
              { head: 'When' },
            ]}
            rows={results.map((each) => ({ cells: cellsOf(each, saysWhy) }))}
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
  if (isFiltered) return <EmptyState title="No contact matches." />;
  const [title, means] = notJudged(campaign);
  return (
    <EmptyState title={title}>
      <p>{means}</p>
    </EmptyState>
  );
}

function cellsOf(result: CampaignResult, saysWhy: boolean) {
  const { email, status, at } = result;
  const [kind, word] = resultWords[status];
  return [
    <bdi>{email}</bdi>,
    <State kind={kind}>{word}</State>,
    ...(saysWhy ? [<Why {...result} />] : []),
    at ? <Time at={at} show="second" /> : '',
  ];
}

function Why({ status, reason, reason_code }: CampaignResult) {
  if (!reason_code) return null;
  return (
    <>
      <span title={reason_code}>{reasonText(reason_code).reason}</span>
      {status === 'failed' ? <span class="small soft block">{reason}</span> : null}
    </>
  );
}

type ProgressProps = {
  campaign: CampaignRecord;
  here: string;
  timeZone: string;
  mayControl: boolean;
  /** When its hours begin: now, while they last. */
  opensAt: Date;
  now: Date;
  /** Whether it is something that the survey does by itself: it has no end, and is changed with the survey. */
  isByItself: boolean;
};

const isOn = ({ status }: CampaignRecord) => status === 'scheduled' || status === 'running';

function Progress(props: ProgressProps) {
  const { campaign, mayControl } = props;
  const { total, duplicates, invalid, sent, failed, remaining } = campaign;
  const mails = total - duplicates - invalid;
  return (
    <section aria-labelledby="running">
      <h2 id="running">Progress</h2>
      <p role="status">
        <Standing {...props} mails={mails} />
      </p>
      <p class="hidden" id="bar-words">
        Mails with an outcome
      </p>
      <progress aria-labelledby="bar-words" max={Math.max(mails, 1)} value={sent + failed}>
        {sent + failed} of {mails}
      </progress>
      <dl class="sums">
        <Sum state="fine" name="Sent" value={sent} />
        <Sum state="failed" name="Failed" value={failed} />
        <Sum state="skipped" name="Not mailed" value={duplicates + invalid} />
        <Sum state="waiting" name={isOver(campaign) ? 'Left out' : 'Waiting'} value={remaining} />
      </dl>
      {mayControl ? <Controls {...props} /> : null}
    </section>
  );
}

const isOver = ({ status }: CampaignRecord) =>
  status === 'finished' || status === 'stopped' || status === 'refused';

function Controls({ campaign, here, isByItself }: ProgressProps) {
  const results = (
    <LinkButton href={`${here}/results.csv`} text="Outcome per person as CSV" kind="more" />
  );
  if (isByItself || isOver(campaign)) return <div class="actions">{results}</div>;
  const isPaused = campaign.status === 'paused';
  return (
    <div class="actions">
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

/** One sentence on how a campaign stands. */
function Standing(props: ProgressProps & { mails: number }) {
  const { campaign, mails, opensAt, now, isByItself } = props;
  const { status, sent, finished_at, reason } = campaign;
  if (status === 'scheduled') return <Scheduled {...props} />;
  const done = (
    <strong>
      {count(sent)} of {counted(mails, 'mail')} sent.
    </strong>
  );
  if (status === 'running' && opensAt > now) {
    return (
      <>
        {done} Outside of its hours: it goes on <Time at={opensAt} />.
      </>
    );
  }
  if (status === 'running' && reason) {
    return (
      <>
        {done} The mail server takes none at the moment, and they are tried again: {reason}
      </>
    );
  }
  if (status === 'running') {
    return (
      <>
        {done} {isByItself ? '' : timeLeft(campaign, now)}
      </>
    );
  }
  if (status === 'refused') return <strong>Refused: {reason}.</strong>;
  const words = { paused: 'Paused', finished: 'Finished', stopped: 'Stopped' };
  return (
    <>
      {done} {words[status]}
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

/** The time was chosen by the clock of the organization, which may not be that of the reader. */
function Scheduled({ campaign: { send_at, per_hour }, timeZone }: ProgressProps) {
  return (
    <>
      <strong>Scheduled.</strong>{' '}
      {send_at ? (
        <>
          It starts <Time at={send_at} />
          {`, at ${clockIn(timeZone, send_at)} in ${timeZone}`}
        </>
      ) : (
        'It starts soon'
      )}
      {per_hour === null ? '' : `, with ${counted(per_hour, 'mail')} an hour`}.
    </>
  );
}

const clockIn = (timeZone: string, at: string) =>
  new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(
    new Date(at),
  );

/** By its pace, or by how fast it was until now. */
function timeLeft({ remaining, sent, per_hour, started_at }: CampaignRecord, now: Date): string {
  const ranForMs = now.getTime() - new Date(started_at ?? now).getTime();
  const perMs = per_hour === null ? sent / Math.max(ranForMs, 1) : per_hour / 3_600_000;
  if (remaining === 0) return '';
  if (perMs === 0) return 'It has just begun.';
  const minutes = Math.ceil(remaining / perMs / 60_000);
  if (minutes === 1) return 'Less than a minute to go.';
  if (minutes < 60) return `About ${counted(minutes, 'minute')} to go.`;
  const hours = Math.round(minutes / 60);
  return hours < 48
    ? `About ${counted(hours, 'hour')} to go.`
    : `About ${counted(Math.round(hours / 24), 'day')} to go.`;
}
