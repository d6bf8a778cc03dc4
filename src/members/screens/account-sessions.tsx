import type { ListedSession } from '../../sessions/queries.ts';
import { DataTable } from '../../web/app/lists.tsx';
import { Time } from '../../web/app/marks.tsx';
import { Part } from '../../web/app/settings-screen.tsx';
import { deviceName } from '../account/device.rules.ts';

type SessionsPartProps = { sessions: readonly ListedSession[]; current: string };

export function SessionsPart({ sessions, current }: SessionsPartProps) {
  const others = sessions.length > 1 && (
    <form method="post" action="/account/sessions/end">
      <button type="submit">End all others</button>
    </form>
  );
  return (
    <Part id="sessions" title="Sessions" act={others || undefined}>
      <p class="small soft">Browsers that are signed in as you.</p>
      <DataTable
        caption="Sessions"
        columns={[
          { head: 'Device' },
          { head: 'Last use' },
          { head: 'Since' },
          { head: 'Network' },
          { head: 'Acts', hidden: true, number: true },
        ]}
        rows={sessions.map((session) => ({
          current: session.id === current,
          cells: cellsOf(session, session.id === current),
        }))}
      />
    </Part>
  );
}

function cellsOf({ id, user_agent, used_at, created_at, address }: ListedSession, isThis: boolean) {
  const device = deviceName(user_agent);
  return [
    <span title={user_agent ?? undefined}>
      {device}
      {isThis ? <span class="soft">, this browser</span> : null}
    </span>,
    <Time at={used_at} show="ago" />,
    <Time at={created_at} show="day" />,
    address ?? '',
    isThis ? null : (
      <form method="post" action={`/account/sessions/${id}/end`}>
        <button type="submit" aria-label={`End ${device}`}>
          End
        </button>
      </form>
    ),
  ];
}
