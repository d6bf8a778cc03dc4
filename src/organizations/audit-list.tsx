import { actorKinds, isActingJob, jobTitles } from '../audit/actor.ts';
import { acts, sentenceOf } from '../audit/acts.ts';
import type { AuditEventRow } from '../audit/queries.ts';
import { Field, Select } from '../web/app/fields.tsx';
import { DataTable, EmptyState } from '../web/app/lists.tsx';
import { Time } from '../web/app/marks.tsx';
import { PagedList } from '../web/app/paged-list.tsx';
import type { FormState } from '../web/app/read-form.ts';
import { Part } from '../web/app/settings-screen.tsx';

const actorNames = {
  member: 'Member',
  key: 'API key',
  command: 'Command line',
  job: 'Service',
  visitor: 'Visitor',
} as const;

/** The filters as they stand in the address. */
export type AuditQuery = {
  date_from: string | undefined;
  date_to: string | undefined;
  actor: string | undefined;
  act: string | undefined;
};

type AuditListProps = {
  slug: string;
  events: readonly AuditEventRow[];
  total: number;
  page: number;
  limit: number;
  query: AuditQuery;
  /** What the days were typed as, when they name no time. */
  form: FormState;
};

export function AuditList({ slug, events, total, page, limit, query, form }: AuditListProps) {
  const here = `/o/${slug}/settings/audit`;
  const isFiltered = Object.values(query).some((value) => value !== undefined);
  return (
    <Part
      id="audit"
      title="Audit"
      act={
        <a class="button" href={addressOf(`${here}/export`, query)} download>
          Export
        </a>
      }
    >
      <p class="small soft">What was changed, when and by which actor. Kept for 400 days.</p>
      <Filters here={here} query={query} form={form} />
      <PagedList
        meta={{ page, limit, total }}
        at={(other) => addressOf(here, { ...query, page: other })}
        empty={
          <EmptyState title={isFiltered ? 'No act matches' : 'Nothing was changed yet'}>
            <p>
              {isFiltered
                ? 'Choose other days, another actor or another act.'
                : 'Each change by a member, a key, the command line or the service itself is listed here.'}
            </p>
          </EmptyState>
        }
      >
        <DataTable
          caption="Acts, newest first"
          columns={[{ head: 'Time' }, { head: 'Actor' }, { head: 'Act' }]}
          rows={events.map((event) => ({ cells: cellsOf(event) }))}
        />
      </PagedList>
    </Part>
  );
}

function addressOf(path: string, query: Record<string, string | number | undefined>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== 1);
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return search.size === 0 ? path : `${path}?${search}`;
}

type FiltersProps = { here: string; query: AuditQuery; form: FormState };

function Filters({ here, query, form }: FiltersProps) {
  const actors = actorKinds.map((value) => ({ value, text: actorNames[value] }));
  const all = Object.keys(acts)
    .map((value) => ({ value, text: sentenceOf(value) }))
    .sort((one, other) => one.text.localeCompare(other.text, 'en'));
  return (
    <form method="get" action={here} class="filters">
      <Field
        {...{ form, size: 'day' }}
        name="date_from"
        label="From"
        type="date"
        value={query.date_from}
      />
      <Field
        {...{ form, size: 'day' }}
        name="date_to"
        label="To"
        type="date"
        value={query.date_to}
      />
      <Select
        name="actor"
        label="Actor"
        value={query.actor ?? ''}
        options={[{ value: '', text: 'All' }, ...actors]}
      />
      <Select
        name="act"
        label="Act"
        value={query.act ?? ''}
        options={[{ value: '', text: 'All' }, ...all]}
        size="wide"
      />
      <button type="submit">Apply</button>
    </form>
  );
}

function cellsOf({ at, actor, actor_kind, act, details, request_id }: AuditEventRow) {
  const { name, ...rest } = details;
  const remarks = Object.entries(rest).filter(([, value]) => isShown(value));
  return [
    <Time at={at} show="second" />,
    <>
      <bdi title={titleOf(actor_kind, actor) === actor ? undefined : actor}>
        {titleOf(actor_kind, actor)}
      </bdi>
      {actor_kind === 'command' ? null : (
        <span class="small soft light block">{actorNames[actor_kind]}</span>
      )}
    </>,
    <span title={request_id ? `${act}, request ${request_id}` : act}>
      {sentenceOf(act)}
      {typeof name === 'string' ? (
        <>
          : <bdi>{name}</bdi>
        </>
      ) : null}
      {remarks.map(([key, value]) => (
        <span class="small soft block">
          {key.replaceAll('_', ' ')}: <Value value={value} />
        </span>
      ))}
    </span>,
  ];
}

/** A job has a name that says nothing to a reader. */
const titleOf = (kind: AuditEventRow['actor_kind'], actor: string): string =>
  kind === 'job' && isActingJob(actor) ? jobTitles[actor] : actor;

/** An id says nothing to a reader. */
function isShown(value: unknown): boolean {
  if (value === null || (Array.isArray(value) && value.length === 0)) return false;
  return !(typeof value === 'string' && /^[0-9a-f]{8}-[0-9a-f]{4}-/.test(value));
}

function Value({ value }: { value: unknown }) {
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)) return <Time at={value} />;
  const text = Array.isArray(value) ? value.join(', ') : String(value);
  return <>{text.replaceAll('_', ' ')}</>;
}
