import { count } from '../../web/app/lists.tsx';
import type { CampaignRecord } from '../list.queries.ts';
import { Standing } from './standing.tsx';

export type ProgressProps = {
  campaign: CampaignRecord;
  here: string;
  /** Of the organization. */
  timeZone: string;
  mayControl: boolean;
  /** When the window of its survey opens, if that is closed. */
  opensAt: Date | null;
  now: Date;
  /** Whether it is something that the survey does by itself: it has no end, and is changed with the survey. */
  isByItself?: boolean;
};

export const isOn = ({ status }: CampaignRecord) => status === 'scheduled' || status === 'running';

/** How far a campaign is. */
export function Progress(props: ProgressProps) {
  const { campaign, here, mayControl, isByItself = false } = props;
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
