import type { Page } from '../../lib/paging/page.ts';
import { Field, Select } from '../../web/app/fields.tsx';
import { DataTable, EmptyState } from '../../web/app/lists.tsx';
import { State, Time } from '../../web/app/marks.tsx';
import { PagedList } from '../../web/app/paged-list.tsx';
import type { CampaignRun } from '../list.queries.ts';
import { type CampaignResult, type ResultStatus, resultStatuses } from '../results.queries.ts';
import { notJudged, reasonText, resultWord } from './judgement.tsx';

export const outcomesId = 'outcomes';

export type OutcomeFilter = { search: string; status: ResultStatus | undefined };

type OutcomesProps = {
  campaign: CampaignRun;
  results: readonly CampaignResult[];
  page: Page;
  total: number;
  filter: OutcomeFilter;
  here: string;
  /** The address of one of its pages. */
  at: (page: number) => string;
};

/** What became of each person. What is searched for stays as it is while the rows below it change. */
export function Outcomes({ campaign, results, page, total, filter, here, at }: OutcomesProps) {
  // A column that is empty on the whole page would take the room of the others on a phone.
  const isFiltered = filter.search !== '' || filter.status !== undefined;
  const saysWhy = results.some(({ reason_code }) => reason_code);
  return (
    <section aria-labelledby="results">
      <h2 id="results">Outcome per person</h2>
      {!isFiltered && total === 0 ? null : <Filter filter={filter} here={here} />}
      <div id={outcomesId}>
        <PagedList
          meta={{ page: page.page, limit: page.limit, total }}
          at={at}
          words={{ newer: 'Back', older: 'On' }}
          empty={<Empty campaign={campaign} isFiltered={isFiltered} />}
        >
          <DataTable
            caption="Contacts of the campaign"
            columns={heads(saysWhy).map((head) => ({ head }))}
            rows={results.map((each) => ({ cells: cellsOf(each, saysWhy) }))}
          />
        </PagedList>
      </div>
    </section>
  );
}

const Filter = ({ filter, here }: Pick<OutcomesProps, 'filter' | 'here'>) => (
  <form method="get" action={here} class="inline">
    <Field name="search" label="Search" type="search" value={filter.search} autocomplete="off" />
    <Select
      name="status"
      label="Outcome"
      value={filter.status ?? ''}
      options={[
        { value: '', text: 'Any' },
        ...resultStatuses.map((status) => ({ value: status, text: resultWord(status)[1] })),
      ]}
    />
    <button type="submit">Search</button>
  </form>
);

type EmptyProps = Pick<OutcomesProps, 'campaign'> & { isFiltered: boolean };

function Empty({ campaign, isFiltered }: EmptyProps) {
  if (isFiltered) return <EmptyState title="No contact matches." />;
  const { title, means } = notJudged(campaign);
  return (
    <EmptyState title={title}>
      <p>{means}</p>
    </EmptyState>
  );
}

const heads = (saysWhy: boolean) =>
  saysWhy ? ['Email', 'Outcome', 'Why', 'When'] : ['Email', 'Outcome', 'When'];

function cellsOf(result: CampaignResult, saysWhy: boolean) {
  const { email, status, at } = result;
  const [kind, word] = resultWord(status);
  return [
    <bdi>{email}</bdi>,
    <State kind={kind}>{word}</State>,
    ...(saysWhy ? [<Why {...result} />] : []),
    at ? <Time at={at} show="second" /> : '',
  ];
}

function Why({ status, reason, reason_code }: CampaignResult) {
  if (!reason_code) return null;
  return (
    <>
      <span title={reason_code}>{reasonText(reason_code).reason}</span>
      {status === 'failed' ? <span class="small soft block">{reason}</span> : null}
    </>
  );
}
