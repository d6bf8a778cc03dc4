import { counted, DataTable } from '../../web/app/lists.tsx';
import { State, Time } from '../../web/app/marks.tsx';
import { SearchedList } from '../../web/app/searched-list.tsx';
import type { ErasureCounts } from '../erasure/counts.ts';
import type { ErasureReceipt } from '../erasure/queries.ts';
import { kindTexts, eraseTexts as texts } from './erase-texts.ts';

type ErasureListProps = {
  path: string;
  email: string;
  receipts: readonly ErasureReceipt[];
  meta: { page: number; limit: number; total: number };
};

/** The receipts of erased persons, with a way to find those of an address. */
export function ErasureList({ path, email, receipts, meta }: ErasureListProps) {
  return (
    <SearchedList
      {...{ path, meta }}
      id="erasures"
      search={{ name: 'email', label: texts.find, purpose: 'Find receipts', value: email }}
      found={counted(meta.total, 'receipt')}
      about={texts.listAbout}
      none={{ title: texts.none, means: texts.noneMeans }}
      noneFound={{ title: texts.noneFound, means: texts.noneFoundMeans }}
    >
      <Rows path={path} receipts={receipts} />
    </SearchedList>
  );
}

const Rows = ({ path, receipts }: Pick<ErasureListProps, 'path' | 'receipts'>) => (
  <DataTable
    caption="Receipts, newest first"
    columns={[{ head: 'Erased' }, { head: 'What' }, { head: 'Address' }, { head: texts.receipt }]}
    rows={receipts.map((receipt) => ({
      cells: [
        <Time at={new Date(receipt.erased_at)} />,
        <>
          {inWords(receipt.counts)}
          <span class="soft block">
            {receipt.scores === 'kept' ? texts.scoresKept : texts.scoresDeleted}
          </span>
        </>,
        <Address path={path} receipt={receipt} />,
        <>
          <span class="mono">{receipt.id}</span>
          <span class="mono soft light block" title={receipt.address_hash}>
            {receipt.address_hash.slice(0, shownOfHash)}…
          </span>
        </>,
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
