import { Secret } from '../web/app/acts.tsx';
import { counted, DataTable, EmptyState } from '../web/app/lists.tsx';
import { State, Time } from '../web/app/marks.tsx';
import { PagedList } from '../web/app/paged-list.tsx';
import { Part, settingPath } from '../web/app/settings-screen.tsx';
import type { ListedKey } from './queries.ts';
import { expiryState } from './rules.ts';

const permission = { read: 'Read', write: 'Read and write' } as const;

export type MadeKey = { id: string; name: string; key: string };

type KeyListProps = {
  organization: { name: string; slug: string };
  keys: readonly ListedKey[];
  total: number;
  revoked: boolean;
  page: number;
  limit: number;
  now: Date;
  publicUrl: string;
  /** The key that was made just now: the only time that its text is known. */
  made: MadeKey | null;
};

export function KeyList(props: KeyListProps) {
  const { organization, keys, page, limit, total, revoked, made, now, publicUrl } = props;
  const here = settingPath(organization, 'api-keys');
  return (
    <>
      {made ? <Made {...{ made, here, publicUrl }} /> : null}
      <Part
        id="keys"
        title="API Keys"
        act={
          <a class={made ? 'button' : 'button primary'} href={`${here}/new`}>
            New API Key
          </a>
        }
      >
        <p class="small soft">
          {counted(total, revoked ? 'revoked key' : 'key')}. Anyone who has one acts for{' '}
          {organization.name}.
        </p>
        <Segments here={here} revoked={revoked} />
        <PagedList
          meta={{ page, limit, total }}
          at={(other) => `${here}?${revoked ? 'state=revoked&' : ''}page=${other}`}
          empty={
            <EmptyState title={revoked ? 'No key was revoked' : 'No key yet'}>
              {revoked ? null : (
                <p>Programs read answers and send surveys with a key. New API Key makes one.</p>
              )}
            </EmptyState>
          }
        >
          <DataTable
            caption="API keys, newest first"
            nowrap
            columns={[
              { head: 'Name' },
              { head: 'Permission' },
              { head: 'Last used' },
              { head: revoked ? 'Revoked' : 'Expires' },
              { head: 'Act', hidden: true, number: true },
            ]}
            rows={keys.map((key) => ({
              current: key.id === made?.id,
              cells: cellsOf(key, { here, now }),
            }))}
          />
        </PagedList>
      </Part>
    </>
  );
}

type MadeProps = { made: MadeKey; here: string; publicUrl: string };

function Made({ made, here, publicUrl }: MadeProps) {
  return (
    <Secret title={`Copy the key “${made.name}” now`} label="Key" value={made.key} done={here}>
      <p>It is shown only once. askback keeps a hash, so that nothing can show it again.</p>
      <p class="small soft">Send it as the header X-API-Key. For example:</p>
      <pre>{`curl -H 'X-API-Key: ${made.key}' '${publicUrl}/api/v1/surveys'`}</pre>
    </Secret>
  );
}

function Segments({ here, revoked }: { here: string; revoked: boolean }) {
  return (
    <ul class="segments" aria-label="Keys">
      <li>
        <a href={here} aria-current={revoked ? undefined : 'page'}>
          In use
        </a>
      </li>
      <li>
        <a href={`${here}?state=revoked`} aria-current={revoked ? 'page' : undefined}>
          Revoked
        </a>
      </li>
    </ul>
  );
}

function cellsOf(key: ListedKey, { here, now }: { here: string; now: Date }) {
  return [
    <>
      <bdi>{key.name}</bdi>
      <span class="mono soft light block">ask_live_{key.public_id}…</span>
    </>,
    permission[key.permission],
    <>
      {key.last_used_at ? <Time at={key.last_used_at} show="ago" /> : 'never'}
      <span class="small soft block">
        created <Time at={key.created_at} show="ago" />
      </span>
    </>,
    key.revoked_at ? <Time at={key.revoked_at} show="ago" /> : <Expiry expiry={key} now={now} />,
    key.revoked_at ? null : (
      <a class="button danger" href={`${here}/${key.id}/revoke`}>
        Revoke
        <span class="hidden"> {key.name}</span>
      </a>
    ),
  ];
}

function Expiry({ expiry: { expires_at }, now }: { expiry: ListedKey; now: Date }) {
  if (!expires_at) return 'never';
  const state = expiryState(expires_at, now);
  if (state === 'far') return <Time at={expires_at} show="day" />;
  if (state === 'near') {
    return (
      <State kind="warning">
        <Time at={expires_at} show="day" />
      </State>
    );
  }
  return <State kind="failed">expired</State>;
}
