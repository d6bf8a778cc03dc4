import { Field } from '../../web/app/fields.tsx';
import { counted, DataTable, EmptyState, Pager, pageSummary } from '../../web/app/lists.tsx';
import { FilterForm, Live } from '../../web/app/live.tsx';
import { State, Time } from '../../web/app/marks.tsx';
import type { ErasureCounts } from '../erasure/counts.ts';
import type { ErasureReceipt } from '../erasure/queries.ts';
import { kindTexts, eraseTexts as texts } from './erase-texts.ts';

type ErasureListProps = {
  path: string;
  email: string;
  receipts: readonly ErasureReceipt[];
  meta: { page: number; limit: number; total: number };
};

const listId = 'erasures';

/** The receipts of erased persons, with a way to find those of an address. */
export function ErasureList({ path, email, receipts, meta }: ErasureListProps) {
  const found = counted(meta.total, 'receipt');
  return (
    <>
      <search aria-label="Find receipts">
        <FilterForm path={path} updates={listId}>
          <div>
            <Field
              name="email"
              label={texts.find}
              type="search"
              size="wide"
              value={email}
              autocomplete="off"
            />
          </div>
        </FilterForm>
      </search>
      <Live id={listId} says={found}>
        <div class="title">
          <h2>{found}</h2>
          <span class="small soft">{texts.listAbout}</span>
        </div>
        {receipts.length === 0 ? (
          <None searched={email !== ''} />
        ) : (
          <Rows path={path} receipts={receipts} />
        )}
        <Pager summary={pageSummary(meta)} {...ways(path, email, meta)} />
      </Live>
    </>
  );
}

const None = ({ searched }: { searched: boolean }) => (
  <EmptyState title={searched ? texts.noneFound : texts.none}>
    <p>{searched ? texts.noneFoundMeans : texts.noneMeans}</p>
  </EmptyState>
);

const Rows = ({ path, receipts }: Pick<ErasureListProps, 'path' | 'receipts'>) => (
  <DataTable
    caption="Receipts, newest first"
    columns={[
      { head: 'Erased' },
      { head: 'What' },
      { head: 'Scores' },
      { head: texts.receipt },
      { head: 'Address' },
    ]}
    rows={receipts.map((receipt) => ({
      cells: [
        <Time at={new Date(receipt.erased_at)} />,
        inWords(receipt.counts),
        receipt.scores === 'kept' ? 'kept, anonymous' : 'deleted',
        <>
          <span class="mono">{receipt.id}</span>
          <span class="mono soft light block" title={receipt.address_hash}>
            {receipt.address_hash.slice(0, shownOfHash)}…
          </span>
        </>,
        <Address path={path} receipt={receipt} />,
      ],
    }))}
  />
);

const shownOfHash = 16;

function Address({ path, receipt }: { path: string; receipt: ErasureReceipt }) {
  if (receipt.allowed_at) {
    return (
      <>
        allowed again <Time at={new Date(receipt.allowed_at)} show="ago" />
      </>
    );
  }
  return (
    <>
      <State kind="skipped">Suppressed</State>
      <form method="post" action={`${path}/${receipt.id}/allow`}>
        <button type="submit">
          {texts.allow}
          <span class="hidden"> {receipt.id}</span>
        </button>
      </form>
    </>
  );
}

/** `2 contacts, 1 mail`: what there was of each kind. */
function inWords(counts: ErasureCounts): string {
  const kinds = Object.entries(kindTexts) as [keyof ErasureCounts, readonly [string, string]][];
  const there = kinds.filter(([kind]) => counts[kind] > 0);
  return there.map(([kind, words]) => counted(counts[kind], ...words)).join(', ') || texts.nothing;
}

function ways(path: string, email: string, { page, limit, total }: ErasureListProps['meta']) {
  const to = (number: number) => {
    const query = new URLSearchParams({ ...(email && { email }), page: String(number) });
    return `${path}?${query}`;
  };
  return {
    newer: page > 1 ? to(page - 1) : undefined,
    older: page * limit < total ? to(page + 1) : undefined,
  };
}
