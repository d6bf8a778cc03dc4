import { lazily } from '../../lib/async/lazily.ts';
import { counted, DataTable } from '../../web/app/lists.tsx';
import type { DayOfDeliveries } from '../screen.queries.ts';

const width = 10;
const lineAt = 100;

/** Deliveries by day as columns. Failures have marks of their own below the line, so that two in fifty are seen. */
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
        <figcaption class="small soft">
          Delivered by day, UTC. A mark below the line is a day with failures.
        </figcaption>
      </figure>
      <details class="reveal">
        <summary>The numbers as a table</summary>
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

/** The next of 1, 2, 5, 10, 20, 50 and so on. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value)!;
}

const dayForm = lazily(
  () => new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }),
);
const shortDay = (day: string) => dayForm().format(new Date(day));
