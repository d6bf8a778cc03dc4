import { count, counted } from '../../web/app/lists.tsx';
import { Time } from '../../web/app/marks.tsx';
import type { CampaignRecord } from '../list.queries.ts';
import { campaignTexts } from '../screen-texts.ts';

type ProgressProps = {
  campaign: CampaignRecord;
  here: string;
  /** Of the organization. */
  timeZone: string;
  mayControl: boolean;
  now: Date;
  /** Whether it is something that the survey does by itself: it has no end, and is changed with the survey. */
  isByItself?: boolean;
};

export const isOn = ({ status }: CampaignRecord) => status === 'scheduled' || status === 'running';

/** How far a campaign is. */
export function Progress(props: ProgressProps) {
  const { campaign, here, timeZone, mayControl, now, isByItself = false } = props;
  const { total, duplicates, invalid, sent, failed, remaining } = campaign;
  const mails = total - duplicates - invalid;
  return (
    <section aria-labelledby="running">
      <h2 id="running">Progress</h2>
      <p role="status">
        {isByItself ? (
          <strong>
            {count(sent)} of {counted(mails, 'mail')} sent.
          </strong>
        ) : (
          <Standing {...{ campaign, mails, timeZone, now }} />
        )}
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
      {mayControl ? <Controls {...{ campaign, here, isByItself }} /> : null}
    </section>
  );
}

const isOver = ({ status }: CampaignRecord) =>
  status === 'finished' || status === 'stopped' || status === 'refused';

function Sum({ state, name, value }: { state: string; name: string; value: number }) {
  return (
    <div>
      <dt class={`is-${state}`}>{name}</dt>
      <dd>{count(value)}</dd>
    </div>
  );
}

type StandingProps = Pick<ProgressProps, 'campaign' | 'timeZone' | 'now'> & { mails: number };

/** One sentence on how it stands. */
function Standing({ campaign, mails, timeZone, now }: StandingProps) {
  const { status, sent, finished_at, reason } = campaign;
  if (status === 'scheduled') {
    return <Scheduled campaign={campaign} timeZone={timeZone} />;
  }
  const done = (
    <strong>
      {count(sent)} of {counted(mails, 'mail')} sent.
    </strong>
  );
  if (status === 'running') {
    return (
      <>
        {done} {timeLeft(campaign, now)}
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
      .{reason ? ` ${reason.charAt(0).toUpperCase()}${reason.slice(1)}.` : ''}
    </>
  );
}

type ScheduledProps = Pick<StandingProps, 'campaign' | 'timeZone'>;

/** The time was chosen by the clock of the organization, which may not be that of the reader. */
function Scheduled({ campaign: { send_at, per_hour }, timeZone }: ScheduledProps) {
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
  if (minutes < 60) return `About ${counted(minutes, 'minute')} to go.`;
  const hours = Math.round(minutes / 60);
  return hours < 48
    ? `About ${counted(hours, 'hour')} to go.`
    : `About ${counted(Math.round(hours / 24), 'day')} to go.`;
}

type ControlsProps = { campaign: CampaignRecord; here: string; isByItself: boolean };

function Controls({ campaign, here, isByItself }: ControlsProps) {
  const results = (
    <a class="more" href={`${here}/results.csv`}>
      Outcome per person as CSV
    </a>
  );
  if (isByItself || isOver(campaign)) return <div class="actions">{results}</div>;
  const isPaused = campaign.status === 'paused';
  return (
    <div class="actions">
      <form method="post" action={`${here}/${isPaused ? 'resume' : 'pause'}`}>
        <button type="submit">{isPaused ? campaignTexts.resume : campaignTexts.pause}</button>
      </form>
      <form method="get" action={`${here}/stop`}>
        <button type="submit" class="danger">
          {campaignTexts.stop}
        </button>
      </form>
      {results}
    </div>
  );
}
