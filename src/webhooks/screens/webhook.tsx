import type { Child } from 'hono/jsx';
import { Breakable, dayText, Notice, State, Time } from '../../web/app/badges.tsx';
import { LinkButton, Submit } from '../../web/app/forms.tsx';
import {
  ActMenu,
  count,
  counted,
  DataTable,
  EmptyState,
  Facts,
  LinkSegments,
  PagedList,
  withQuery,
} from '../../web/app/lists.tsx';
import type { WebhookRow } from '../queries.ts';
import { describeRetries, maxFailures } from '../rules.ts';
import {
  type DayOfDeliveries,
  type ListedDelivery,
  maxCounted,
} from '../shown-deliveries.queries.ts';
import { deliveryStates, duration, standingOf } from './delivery.tsx';

export function Standing({ webhook, days }: { webhook: WebhookRow; days: DayOfDeliveries[] }) {
  const { kind, text } = standingOf(webhook);
  return (
    <div id="standing" class="stack">
      {webhook.deactivated_reason ? (
        <Notice
          kind={kind === 'failed' ? kind : 'warning'}
          text={`Turned off: ${webhook.deactivated_reason}. New events are skipped. Turn it on and replay them.`}
        />
      ) : null}
      <div class="grid main-side level">
        <section class="card" aria-labelledby="days">
          <div class="title">
            <h2 id="days">Last {days.length} days</h2>
            <span id="state">
              <State kind={kind}>{text}</State>
            </span>
          </div>
          <Uptime days={days} />
          <details class="reveal">
            <summary>Show as table</summary>
            <DataTable
              caption="Deliveries by day, newest first"
              columns={[
                { head: 'Day' },
                ...['Delivered', 'Failed', 'Skipped'].map((head) => ({ head, number: true })),
              ]}
              rows={days.toReversed().map(({ day, delivered, failed, skipped }) => ({
                cells: [dayText(day), delivered, failed, skipped],
              }))}
            />
          </details>
        </section>
        <section class="card" aria-labelledby="about">
          <h2 id="about">Settings</h2>
          <Facts facts={factsOf(webhook)} />
        </section>
      </div>
    </div>
  );
}

const factsOf = (webhook: WebhookRow): [string, Child][] => [
  [
    'URL',
    <span class="mono">
      <Breakable text={webhook.url} />
    </span>,
  ],
  ['Events', webhook.events.join(', ')],
  ...(webhook.description
    ? ([['Description', <bdi>{webhook.description}</bdi>]] satisfies [string, Child][])
    : []),
  [
    'Last delivery',
    webhook.last_delivery_at ? <Time at={webhook.last_delivery_at} show="ago" /> : 'None yet',
  ],
  ['Failures', `${webhook.failure_count} in a row (limit ${maxFailures})`],
  ['Retries', describeRetries(webhook.retries)],
  ['Created', <Time at={webhook.created_at} show="day" />],
];

export function Uptime({ days }: { days: readonly DayOfDeliveries[] }) {
  const sumOf = (kind: 'delivered' | 'failed' | 'skipped') =>
    days.reduce((sum, day) => sum + day[kind], 0);
  const [delivered, failed, skipped] = [sumOf('delivered'), sumOf('failed'), sumOf('skipped')];
  const ended = delivered + failed + skipped;
  const step = 100 / days.length;
  const width = `${(step * 0.75).toFixed(2)}%`;
  return (
    <>
      <svg
        class="uptime"
        role="img"
        aria-label={`${counted(delivered, 'event')} delivered, ${failed} failed and ${skipped} skipped in ${days.length} days`}
      >
        {days.map((day, at) => {
          const bar = { x: `${(at * step).toFixed(2)}%`, width, rx: '2' };
          const share = (100 * day.delivered) / (day.delivered + day.failed + day.skipped);
          return (
            <g>
              <title>
                {`${dayText(day.day)}: ${day.delivered} delivered, ${day.failed} failed, ${day.skipped} skipped`}
              </title>
              <rect class={toneOfDay(day)} {...bar} height="100%" />
              {share > 0 && share < 100 && (
                <rect class="is-good" {...bar} height={`${Math.min(share, 91).toFixed(1)}%`} />
              )}
            </g>
          );
        })}
      </svg>
      <p class="spread sub">
        <span>{dayText(days[0]!.day)}</span>
        <span>today (UTC)</span>
      </p>
      <p class="legend">
        <span class="key is-good">Delivered</span>
        <span class="key is-warn">Some skipped</span>
        <span class="key is-poor">Some failed</span>
        <span class="key is-even">No events</span>
      </p>
      <dl class="counts">
        {Object.entries({
          Delivered: count(delivered),
          'Success rate': ended === 0 ? '–' : `${((delivered / ended) * 100).toFixed(1)}%`,
          Failed: count(failed),
          Skipped: count(skipped),
        }).map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

const toneOfDay = ({ delivered, failed, skipped }: DayOfDeliveries) => {
  if (failed > 0) return 'is-poor';
  if (skipped > 0) return 'is-warn';
  return delivered > 0 ? 'is-good' : 'is-even';
};

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
      <ActMenu>
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
      </ActMenu>
    </>
  );
}

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
      <div class="title">
        <LinkSegments
          label="Status"
          links={[['', { text: 'All' }] as const, ...statuses].map(([name, { text }]) => ({
            id: `state-${name}`,
            text,
            href: addressOf(here, { page: 1, status: name || null, live }),
            current: name === (status ?? ''),
          }))}
        />
      </div>
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
            'Time',
            { head: 'Status', phone: 'beside' },
            'Event',
            { head: 'Response', number: true, after: '' },
            { head: 'Attempts', number: true, phone: 'absent' },
            { head: 'Duration', number: true, after: '' },
          ]}
          rows={deliveries.map((delivery) => ({ cells: cellsOf(delivery, here) }))}
        />
      </PagedList>
    </section>
  );
}

type Address = Pick<DeliveryListProps, 'page' | 'status' | 'live'>;

const addressOf = (here: string, { page, status, live }: Address) =>
  withQuery(here, { status, page: page > 1 ? String(page) : null, live: live ? null : 'false' });

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
