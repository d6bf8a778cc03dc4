import { count, counted } from '../../web/app/lists.tsx';
import { Time } from '../../web/app/marks.tsx';
import type { CampaignRecord } from '../list.queries.ts';

type StandingProps = {
  campaign: CampaignRecord;
  mails: number;
  timeZone: string;
  opensAt: Date | null;
  now: Date;
  isByItself?: boolean;
};

/** One sentence on how a campaign stands. */
export function Standing(props: StandingProps) {
  const { campaign, mails, timeZone, opensAt, now, isByItself = false } = props;
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
    const left = isByItself ? '' : timeLeft(campaign, now);
    return (
      <>
        {done} {opensAt ? <Closed opensAt={opensAt} /> : left}
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

const Closed = ({ opensAt }: { opensAt: Date }) => (
  <>
    Outside of its hours: it goes on <Time at={opensAt} />.
  </>
);

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
