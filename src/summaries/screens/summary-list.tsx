import { signedNps } from '../../scores.ts';
import { count, counted, DataTable, EmptyState } from '../../web/app/lists.tsx';
import { Time } from '../../web/app/marks.tsx';
import { PagedList } from '../../web/app/paged-list.tsx';
import { summaryTexts } from '../screen-texts.ts';
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
          <EmptyState title={summaryTexts.none}>
            <p>{summaryTexts.noneMeans}</p>
          </EmptyState>
        }
      >
        <p class="small soft">
          {counted(total, 'summary', 'summaries')}. {summaryTexts.about}
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
              summary.nps === null ? summaryTexts.noScore : signedNps(summary.nps),
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
