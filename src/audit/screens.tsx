import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { capital } from '../errors.ts';
import { OneOf } from '../lib/cli/command.ts';
import type { Db } from '../lib/db/db.ts';
import { exportResponse } from '../lib/export/export.ts';
import { Page, parseList, readJson } from '../lib/paging/page.ts';
import { requireRole, type ScreenEnv } from '../sessions/session.ts';
import { Part, Time } from '../web/app/badges.tsx';
import { Day, Field, LinkButton, optionalText, Select } from '../web/app/forms.tsx';
import { DataTable, EmptyState, PagedList, withQuery } from '../web/app/lists.tsx';
import { renderSettings, settingPath } from '../web/app/settings-screen.tsx';
import { type Act, type AuditChange, actorKinds, acts, jobTitles, sentenceOf } from './acts.ts';
import { exportEvents } from './export.ts';
import { type AuditEventRow, type AuditFilter, listEvents } from './queries.ts';

const dayMs = 86_400_000;

const AuditParameters = v.object({
  ...Page.entries,
  date_from: optionalText(Day),
  date_to: optionalText(Day),
  actor: optionalText(OneOf(actorKinds)),
  act: optionalText(OneOf(Object.keys(acts) as Act[])),
});

/** The audit page in the settings, for owners. */
export const auditScreens = ({ db }: { db: Db }) =>
  new Hono<ScreenEnv>()
    .get('/', (c) => showEvents(c, db))
    .get('/export', (c) => {
      const { orgId } = requireRole(c, 'owner');
      const { filter } = read(c);
      return exportResponse('csv', { name: 'audit', parts: exportEvents(db, orgId, filter) });
    });

type AuditPage = { data: AuditEventRow[]; meta: { page: number; limit: number; total: number } };

function read(c: Context) {
  const { date_from, date_to, actor, act, ...page } = parseList(AuditParameters, c.req.queries());
  const isReversed = date_from !== null && date_to !== null && date_to < date_from;
  const filter: AuditFilter = {
    from: date_from ? new Date(date_from) : null,
    to: date_to && !isReversed ? new Date(Date.parse(date_to) + dayMs) : null,
    actor,
    act,
  };
  const errors = isReversed ? { date_to: 'Must not be before From.' } : {};
  return { page, filter, query: { date_from, date_to, actor, act }, form: { typed: {}, errors } };
}

const actorNames = {
  member: 'Member',
  key: 'API key',
  command: 'Command line',
  job: 'Service',
  visitor: 'Visitor',
} as const;

async function showEvents(c: Context<ScreenEnv>, db: Db) {
  const { orgId } = requireRole(c, 'owner');
  const { page, filter, query, form } = read(c);
  const { data, meta } = await readJson<AuditPage>(db, listEvents(db, orgId, { filter, page }));
  const here = settingPath(c.var.organization, 'audit');
  const isFiltered = Object.values(query).some((value) => value !== null);
  const body = (
    <Part
      id="audit"
      title="Audit"
      act={<LinkButton href={withQuery(`${here}/export`, query)} download text="Export" />}
    >
      <p class="sub">Who changed what, and when. Kept for 400 days.</p>
      <Filters here={here} query={query} form={form} />
      <PagedList
        meta={meta}
        at={(other) => withQuery(here, { ...query, page: String(other) })}
        empty={
          <EmptyState
            title={isFiltered ? 'No matching actions' : 'No actions yet'}
            icon="clipboard-list"
          >
            <p>
              {isFiltered
                ? 'Choose other days, another actor or another action.'
                : 'Changes by members, API keys, the command line and the service appear here.'}
            </p>
          </EmptyState>
        }
      >
        <DataTable
          caption="Actions, newest first"
          nowrap
          columns={['Action', 'Actor', 'Time']}
          rows={data.map((event) => ({ cells: cellsOf(event) }))}
        />
      </PagedList>
    </Part>
  );
  return renderSettings(c, { setting: 'audit', body });
}

type FiltersProps = Pick<ReturnType<typeof read>, 'query' | 'form'> & { here: string };

function Filters({ here, query, form }: FiltersProps) {
  const actors = actorKinds.map((value) => ({ value, text: actorNames[value] }));
  const all = Object.keys(acts)
    .map((value) => ({ value, text: capital(sentenceOf(value)) }))
    .sort((one, other) => one.text.localeCompare(other.text, 'en'));
  return (
    <form method="get" action={here} class="toolbar">
      <Field
        name="date_from"
        label="From"
        form={form}
        size="day"
        type="date"
        value={query.date_from}
      />
      <Field name="date_to" label="To" form={form} size="day" type="date" value={query.date_to} />
      <Select
        name="actor"
        label="Actor"
        value={query.actor ?? ''}
        options={[{ value: '', text: 'All' }, ...actors]}
      />
      <Select
        name="act"
        label="Action"
        value={query.act ?? ''}
        options={[{ value: '', text: 'All' }, ...all]}
        size="wide"
      />
      <button type="submit">Apply</button>
    </form>
  );
}

function cellsOf({ at, actor, actor_kind, act, details, request_id }: AuditEventRow) {
  const { name, changes = {}, ...rest } = details;
  return [
    <span class="words" title={request_id ? `${act}, request ${request_id}` : act}>
      {capital(sentenceOf(act))}
      {typeof name === 'string' ? (
        <>
          : <bdi>{name}</bdi>
        </>
      ) : null}
      {Object.entries(changes as Record<string, AuditChange>).map(([field, { from, to }]) => (
        <span class="sub block">
          {capital(titleOfField(field))}: <Value value={from} /> → <Value value={to} />
        </span>
      ))}
      {Object.entries(rest).map(([key, value]) =>
        isShown(value) ? (
          <span class="sub block">
            {capital(titleOfField(key))}: <Value value={value} />
          </span>
        ) : null,
      )}
    </span>,
    <>
      <bdi title={titleOf(actor_kind, actor) === actor ? undefined : actor}>
        {titleOf(actor_kind, actor)}
      </bdi>
      {actor_kind === 'command' ? null : <span class="sub block">{actorNames[actor_kind]}</span>}
    </>,
    <Time at={at} show="second" />,
  ];
}

const titleOf = (kind: AuditEventRow['actor_kind'], actor: string): string => {
  if (kind === 'command') return actorNames.command;
  return (kind === 'job' && (jobTitles as Record<string, string>)[actor]) || actor;
};

function isShown(value: unknown): boolean {
  if (value === null || value === false || (Array.isArray(value) && value.length === 0))
    return false;
  return !(typeof value === 'string' && /^[0-9a-f]{8}-[0-9a-f]{4}-/.test(value));
}

const titleOfField = (field: string) => field.replaceAll('_', ' ').replaceAll('.', ', ');

function Value({ value }: { value: unknown }) {
  if (value === null || value === '') return <>none</>;
  if (typeof value === 'boolean') return <>{value ? 'yes' : 'no'}</>;
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)) return <Time at={value} />;
  const text = Array.isArray(value) ? value.join(', ') : String(value);
  return <>{/^[a-z_]+$/.test(text) ? text.replaceAll('_', ' ') : text}</>;
}
