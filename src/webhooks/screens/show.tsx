import { counted, Facts } from '../../web/app/lists.tsx';
import { Breakable, Time } from '../../web/app/marks.tsx';
import type { WebhookRow } from '../queries.ts';
import type { DayOfDeliveries } from '../screen.queries.ts';
import { webhookTexts } from '../screen-texts.ts';
import { DayChart } from './day-chart.tsx';
import { standingOf } from './delivery.rules.ts';

/** How a webhook stands: a line, its numbers of the last days, and what it is. */
export function Standing({ webhook, days }: { webhook: WebhookRow; days: DayOfDeliveries[] }) {
  const { kind, text } = standingOf(webhook);
  const switchedOffBy = webhookTexts.switchedOffBy[webhook.retries];
  return (
    <section id="standing" class="columns even" aria-labelledby="state">
      <div>
        <h2 id="state" class={`state state-line is-${kind}`}>
          {text}
        </h2>
        <p>
          {webhook.deactivated_reason ? `It was switched off: ${webhook.deactivated_reason}. ` : ''}
          {shareOf(days)}
        </p>
        <Facts
          facts={[
            [
              'URL',
              <span class="mono">
                <Breakable text={webhook.url} />
              </span>,
            ],
            ['Events', webhook.events.join(', ')],
            ...(webhook.description
              ? [['Description', <bdi>{webhook.description}</bdi>] as const]
              : []),
            [
              'Last delivery',
              webhook.last_delivery_at ? (
                <Time at={webhook.last_delivery_at} show="ago" />
              ) : (
                'none yet'
              ),
            ],
            [
              'Failures',
              webhook.failure_count === 0
                ? `None in a row; ${switchedOffBy}`
                : `${webhook.failure_count} in a row; ${switchedOffBy}`,
            ],
            ['Retries', webhookTexts.retries[webhook.retries].text],
            ['Created', <Time at={webhook.created_at} show="day" />],
          ]}
        />
      </div>
      <div>
        <DayChart days={days} />
      </div>
    </section>
  );
}

function shareOf(days: readonly DayOfDeliveries[]): string {
  const delivered = days.reduce((sum, day) => sum + day.delivered, 0);
  const missed = days.reduce((sum, day) => sum + day.failed + day.skipped, 0);
  const all = delivered + missed;
  if (all === 0) return `No event happened in the last ${days.length} days.`;
  const noun = all === 1 ? 'event was' : 'events were';
  return `${delivered.toLocaleString('en-GB')} of ${all.toLocaleString('en-GB')} ${noun} delivered in the last ${days.length} days${missed > 0 ? `; ${counted(missed, 'was', 'were')} not` : ''}.`;
}

type WebhookActsProps = { webhook: WebhookRow; here: string };

/** What an editor can do with a webhook. What depends on its state is swapped with it. */
export function WebhookActs({ webhook, here }: WebhookActsProps) {
  return (
    <>
      <div id="act-on" hidden={webhook.active}>
        {webhook.active ? null : (
          <form method="post" action={`${here}/switch-on`}>
            <button type="submit" class="primary">
              {webhookTexts.switchOn}
            </button>
          </form>
        )}
      </div>
      <form method="post" action={`${here}/test`}>
        <button type="submit">{webhookTexts.test}</button>
      </form>
      <a class="button" href={`${here}/replay`}>
        {webhookTexts.replay}
      </a>
      <details class="menu">
        <summary class="button">More</summary>
        <ul class="list end">
          <li>
            <a href={`${here}/edit`}>Change</a>
          </li>
          <li>
            <a href={`${here}/rotate-secret`}>{webhookTexts.rotate}</a>
          </li>
          <li id="act-off" hidden={!webhook.active}>
            {webhook.active ? (
              <form method="post" action={`${here}/switch-off`}>
                <button type="submit">{webhookTexts.switchOff}</button>
              </form>
            ) : null}
          </li>
          <li>
            <a class="danger" href={`${here}/delete`}>
              {webhookTexts.remove}
            </a>
          </li>
        </ul>
      </details>
    </>
  );
}
