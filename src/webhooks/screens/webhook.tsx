import { Breakable, State, Time } from '../../web/app/badges.tsx';
import { LinkButton, Submit } from '../../web/app/forms.tsx';
import { count, counted, DataTable, EmptyState, Facts, PagedList } from '../../web/app/lists.tsx';
import type { WebhookRow } from '../queries.ts';
import { describeRetries, maxFailures } from '../rules.ts';
import { type DayOfDeliveries, type ListedDelivery, maxCounted } from '../screen.queries.ts';
import { deliveryStates, duration, standingOf } from './delivery.tsx';

export function Standing({ webhook, days }: { webhook: WebhookRow; days: DayOfDeliveries[] }) {
  const { kind, text } = standingOf(webhook);
  return (
    <section id="standing" class="card grid half" aria-labelledby="state">
      <div>
        <h2 id="state">
          <State kind={kind}>{text}</State>
        </h2>
        <p>
          {webhook.deactivated_reason ? `Turned off: ${webhook.deactivated_reason}. ` : ''}
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
                'None yet'
              ),
            ],
            ['Failures', `${webhook.failure_count} in a row (limit ${maxFailures})`],
            ['Retries', describeRetries(webhook.retries)],
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
  if (delivered + missed === 0) return `No events in the last ${days.length} days.`;
  const all = counted(delivered + missed, 'event');
  return `${count(delivered)} of ${all} delivered in the last ${days.length} days.`;
}

/** Live updates replace the buttons that depend on the status. */
export function WebhookActs({ webhook, here }: { webhook: WebhookRow; here: string }) {
  return (
    <>
      <div id="act-on" hidden={webhook.active}>
        {webhook.active ? null : (
          <form method="post" action={`${here}/switch-on`}>
            <Submit>Turn on</Submit>
          </form>
        )}
      </div>
      <form method="post" action={`${here}/test`}>
        <button type="submit">Send test event</button>
      </form>
      <LinkButton href={`${here}/replay`} text="Replay" />
      <details class="menu">
        <summary class="button">More</summary>
        <ul class="list end">
          <li>
            <a href={`${here}/edit`}>Edit</a>
          </li>
          <li>
            <a href={`${here}/rotate-secret`}>Rotate secret</a>
          </li>
          <li id="act-off" hidden={!webhook.active}>
            {webhook.active ? (
              <form method="post" action={`${here}/switch-off`}>
                <button type="submit">Turn off</button>
              </form>
            ) : null}
          </li>
          <li>
            <a class="danger" href={`${here}/delete`}>
              Delete
            </a>
          </li>
        </ul>
      </details>
    </>
  );
}

const width = 10;
const lineAt = 100;

/** Failures are drawn below the line, so that two in fifty are visible. */
export function DayChart({ days }: { days: readonly DayOfDeliveries[] }) {
  const top = roundUp(Math.max(1, ...days.map(({ delivered }) => delivered)));
  const failed = days.reduce((sum, day) => sum + day.failed, 0);
  const delivered = days.reduce((sum, day) => sum + day.delivered, 0);
  const middle = days[Math.floor(days.length / 2)]!;
  return (
    <>
      <figure>
        <div class="chart low">
          <div class="up" aria-hidden="true">
            <span>{top}</span>
            <span>0</span>
          </div>
          <svg
            viewBox={`0 0 ${days.length * width} 120`}
            preserveAspectRatio="none"
            role="img"
            aria-labelledby="days-title days-words"
          >
            <title id="days-title">Deliveries by day, last {days.length} days</title>
            <desc id="days-words">
              {counted(delivered, 'event was', 'events were')} delivered, {failed} failed.
            </desc>
            <path class="grid" d={`M0 0H${days.length * width}`} />
            <path class="grid zero" d={`M0 ${lineAt}H${days.length * width}`} />
            {days.map((day, at) => (
              <DayColumn day={day} at={at} top={top} />
            ))}
          </svg>
          <div class="along" aria-hidden="true">
            <span>{shortDay(days[0]!.day)}</span>
            <span>{shortDay(middle.day)}</span>
            <span>{shortDay(days.at(-1)!.day)}</span>
          </div>
        </div>
        <figcaption class="sub">Deliveries by day (UTC). Red: days with failures.</figcaption>
      </figure>
      <details class="reveal">
        <summary>Show as table</summary>
        <DataTable
          caption="Deliveries by day, newest first"
          columns={[
            { head: 'Day' },
            ...['Delivered', 'Failed', 'Skipped'].map((head) => ({ head, number: true })),
          ]}
          rows={days.toReversed().map(({ day, delivered, failed, skipped }) => ({
            cells: [shortDay(day), delivered, failed, skipped],
          }))}
        />
      </details>
    </>
  );
}

function DayColumn({ day, at, top }: { day: DayOfDeliveries; at: number; top: number }) {
  const height = (day.delivered / top) * lineAt;
  return (
    <>
      <rect
        class="column"
        x={at * width + 1.5}
        y={lineAt - height}
        width={width - 3}
        height={height}
      />
      {day.failed > 0 ? (
        <rect class="column bad" x={at * width + 1.5} y={106} width={width - 3} height={14} />
      ) : null}
      <rect class="hit" x={at * width} y={0} width={width} height={120}>
        <title>
          {shortDay(day.day)}: {day.delivered} delivered, {day.failed || 'none'} failed
        </title>
      </rect>
    </>
  );
}

function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value)!;
}

const dayForm = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
});
const shortDay = (day: string) => dayForm.format(new Date(day));

type DeliveryListProps = {
  deliveries: readonly ListedDelivery[];
  total: number;
  page: number;
  limit: number;
  status: string | null;
  here: string;
  live: boolean;
};

/** Other parts of the page that depend on the status of the webhook. */
const swappedWith = ['#standing', '#act-on', '#act-off']
  .map((part) => `${part}:outerMorph`)
  .join(',');

const statuses = Object.entries(deliveryStates);

export function DeliveryList(props: DeliveryListProps) {
  const { deliveries, total, page, limit, status, here, live } = props;
  const self = addressOf(here, { page, status, live });
  const followed = live && page === 1;
  return (
    <section
      id="deliveries"
      aria-labelledby="deliveries-title"
      {...(followed && {
        'hx-get': self,
        'hx-trigger': 'every 3s',
        'hx-select': '#deliveries',
        'hx-target': 'this',
        'hx-swap': 'outerMorph',
        'hx-select-oob': swappedWith,
      })}
    >
      <div class="title">
        <h2 id="deliveries-title">Deliveries</h2>
        <p class="sub">
          {followed ? 'Live. ' : ''}
          <a id="live" href={addressOf(here, { page: 1, status, live: !followed })}>
            {followed ? 'Pause live updates' : 'Resume live updates'}
          </a>
        </p>
      </div>
      <ul class="segments" aria-label="Status">
        {[['', { text: 'All' }] as const, ...statuses].map(([name, { text }]) => (
          <li>
            <a
              id={`state-${name}`}
              href={addressOf(here, { page: 1, status: name || null, live })}
              aria-current={name === (status ?? '') ? 'page' : undefined}
            >
              {text}
            </a>
          </li>
        ))}
      </ul>
      <PagedList
        meta={{ page, limit, total }}
        at={(other) => addressOf(here, { page: other, status, live })}
        summary={total > maxCounted ? `page ${page}, of more than ${count(maxCounted)}` : undefined}
        empty={
          <EmptyState title={status ? 'No deliveries with this status' : 'No deliveries yet'}>
            {status ? null : <p>Use Send test event to try it.</p>}
          </EmptyState>
        }
      >
        <DataTable
          caption="Deliveries, newest first"
          nowrap
          columns={[
            ...['Time', 'Status', 'Event'].map((head) => ({ head })),
            ...['Response', 'Attempts', 'Duration'].map((head) => ({ head, number: true })),
          ]}
          rows={deliveries.map((delivery) => ({ cells: cellsOf(delivery, here) }))}
        />
      </PagedList>
    </section>
  );
}

function addressOf(
  here: string,
  { page, status, live }: Pick<DeliveryListProps, 'page' | 'status' | 'live'>,
): string {
  const query = new URLSearchParams({
    ...(status && { status }),
    ...(page > 1 && { page: String(page) }),
    ...(!live && { live: 'false' }),
  });
  return query.size > 0 ? `${here}?${query}` : here;
}

function cellsOf(delivery: ListedDelivery, here: string) {
  const { kind, text } = deliveryStates[delivery.status];
  return [
    <a id={`at-${delivery.id}`} href={`${here}/deliveries/${delivery.id}`}>
      <Time at={delivery.created_at} show="second" />
    </a>,
    <State kind={kind} code={delivery.status}>
      {text}
    </State>,
    delivery.event,
    delivery.status_code ?? '',
    delivery.attempts,
    delivery.duration_ms === null ? '' : duration(delivery.duration_ms),
  ];
}
