import { counted, DataTable } from '../../web/app/lists.tsx';
import { State, Time } from '../../web/app/marks.tsx';
import { SearchedList } from '../../web/app/searched-list.tsx';
import type { ErasureCounts } from '../erasure/counts.ts';
import type { ErasureReceipt } from '../erasure/queries.ts';

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
      search={{ name: 'email', label: 'Address', purpose: 'Find receipts', value: email }}
      found={counted(meta.total, 'receipt')}
      about="A receipt names no address. Only its keyed hash is left: type an address to find its receipts."
      none={{
        title: 'No person was erased yet',
        means: 'Erase a person on the page of that person. The receipt then stands here.',
      }}
      noneFound={{
        title: 'No receipt of this address',
        means: 'It was never erased in this organization.',
      }}
    >
      <Rows path={path} receipts={receipts} />
    </SearchedList>
  );
}

const Rows = ({ path, receipts }: Pick<ErasureListProps, 'path' | 'receipts'>) => (
  <DataTable
    caption="Receipts, newest first"
    columns={[{ head: 'Erased' }, { head: 'What' }, { head: 'Address' }, { head: 'Receipt' }]}
    rows={receipts.map((receipt) => ({
      cells: [
        <Time at={new Date(receipt.erased_at)} />,
        <>
          {inWords(receipt.counts)}
          <span class="soft block">
            {receipt.scores === 'kept' ? 'Scores are kept, anonymous.' : 'Scores are deleted.'}
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
          Allow again
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
  return there.map(([kind, words]) => counted(counts[kind], ...words)).join(', ') || 'nothing else';
}

/** Each kind of what was erased, of one and of several. */
const kindTexts: Readonly<Record<keyof ErasureCounts, readonly [string, string]>> = {
  contacts: ['contact', 'contacts'],
  mails: ['mail', 'mails'],
  blocked_mails: ['blocked mail', 'blocked mails'],
  openings: ['visit', 'visits'],
  responses: ['response', 'responses'],
  properties: ['property of another contact', 'properties of other contacts'],
  comments: ['comment', 'comments'],
  notes: ['note', 'notes'],
  analyses: ['analysis', 'analyses'],
  summaries: ['quote in a summary', 'quotes in summaries'],
  deliveries: ['delivery', 'deliveries'],
  campaign_results: ['result of a campaign', 'results of campaigns'],
  suppressions: ['suppression', 'suppressions'],
  uploads: ['uploaded list or line', 'uploaded lists and lines'],
  stored_answers: ['stored answer', 'stored answers'],
  mailbox_messages: ['message in the mailbox', 'messages in the mailbox'],
  audit_events: ['audit event', 'audit events'],
};
