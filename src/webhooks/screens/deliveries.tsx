import { count, DataTable, EmptyState } from '../../web/app/lists.tsx';
import { State, Time } from '../../web/app/marks.tsx';
import { PagedList } from '../../web/app/paged-list.tsx';
import { type ListedDelivery, mostCounted } from '../screen.queries.ts';
import { duration } from '../screen-texts.ts';
import { deliveryStates } from './delivery.rules.ts';

type DeliveryListProps = {
  deliveries: readonly ListedDelivery[];
  total: number;
  page: number;
  limit: number;
  status: string | null;
  /** The page of the webhook. */
  here: string;
  /** Whether the list is read again while the reader looks at it. */
  live: boolean;
};

/** Other parts of the page that depend on how the webhook stands. */
const swappedWith = ['#standing', '#act-on', '#act-off']
  .map((part) => `${part}:outerMorph`)
  .join(',');

const statuses = Object.entries(deliveryStates);

/**
 * The newest deliveries. With script the list is fetched again every few seconds, and how the webhook stands with it,
 * unless the reader stops that.
 */
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
        <p class="small soft">
          {followed ? 'Live. ' : ''}
          <a id="live" href={addressOf(here, { page: 1, status, live: !followed })}>
            {followed ? 'Stop updating' : 'Update by itself'}
          </a>
        </p>
      </div>
      <ul class="segments" aria-label="State">
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
        summary={
          total > mostCounted ? `page ${page}, of more than ${count(mostCounted)}` : undefined
        }
        empty={
          <EmptyState title={status ? 'No delivery in this state' : 'Nothing was delivered yet'}>
            {status ? null : <p>Send test event posts one now.</p>}
          </EmptyState>
        }
      >
        <DataTable
          caption="Deliveries, newest first"
          nowrap
          columns={[
            { head: 'Time' },
            { head: 'State' },
            { head: 'Event' },
            ...['Answer', 'Attempts', 'Took'].map((head) => ({ head, number: true })),
          ]}
          rows={deliveries.map((delivery) => ({ cells: cellsOf(delivery, here) }))}
        />
      </PagedList>
    </section>
  );
}

type ListAddress = { page: number; status: string | null; live: boolean };

function addressOf(here: string, { page, status, live }: ListAddress): string {
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
