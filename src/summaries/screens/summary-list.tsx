import { signedNps } from '../../scores.ts';
import { count, counted, DataTable, EmptyState } from '../../web/app/lists.tsx';
import { Time } from '../../web/app/marks.tsx';
import { PagedList } from '../../web/app/paged-list.tsx';
import { periodText } from './period-text.ts';
import type { ShownSummary } from './summary-page.tsx';

type SummaryListProps = {
  summaries: readonly ShownSummary[];
  total: number;
  here: string;
  time_zone: string;
  page: number;
  limit: number;
};

/** With script the list is fetched again: a summary that was asked for appears by itself. */
export function SummaryList({ summaries, total, here, time_zone, page, limit }: SummaryListProps) {
  return (
    <div
      id="summaries"
      {...(page === 1 && {
        'hx-get': here,
        'hx-trigger': 'every 5s',
        'hx-select': '#summaries',
        'hx-target': 'this',
        'hx-swap': 'outerMorph',
      })}
    >
      <PagedList
        meta={{ page, limit, total }}
        at={(other) => `${here}?page=${other}`}
        empty={
          <EmptyState title="No summary yet">
            <p>
              A summary of each calendar month is written by itself once analysis is on under
              Settings. New summary makes one of any period.
            </p>
          </EmptyState>
        }
      >
        <p class="small soft">
          {counted(total, 'summary', 'summaries')}. What customers said in a period: the score, what
          they speak of, and their words in short.
        </p>
        <DataTable
          caption="Summaries, the latest period first"
          columns={[
            { head: 'Period' },
            ...['Score', 'Answers'].map((head) => ({ head, number: true })),
            { head: 'Themes' },
            { head: 'Written' },
          ]}
          rows={summaries.toSorted(laterFirst).map((summary) => ({
            cells: [
              <a id={`summary-${summary.id}`} href={`${here}/${summary.id}`}>
                {periodText(summary, time_zone)}
              </a>,
              summary.nps === null ? 'none' : signedNps(summary.nps),
              count(summary.responses),
              summary.top_themes.join(', '),
              <Time at={summary.created_at} show="day" />,
            ],
          }))}
        />
      </PagedList>
    </div>
  );
}

/** Those of several months may be written at the same time, in any order. */
const laterFirst = (one: ShownSummary, other: ShownSummary) =>
  other.period_end.localeCompare(one.period_end);
