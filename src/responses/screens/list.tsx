import type { CurrentOrganization } from '../../sessions/session.ts';
import { State, Tag } from '../../web/app/badges.tsx';
import { LinkButton, Select } from '../../web/app/forms.tsx';
import { Icon } from '../../web/app/icon.tsx';
import { counted, EmptyState, Live, PagedList } from '../../web/app/lists.tsx';
import { ResponseRow } from '../response-row.tsx';
import type { FilterChoices } from './choices.ts';
import { personOf, type ShownResponse } from './paths.ts';

export const listId = 'found';

export type ListProps = {
  path: string;
  query: URLSearchParams;
  responses: readonly ShownResponse[];
  meta: { page: number; limit: number; total: number };
  choices: FilterChoices;
  role: CurrentOrganization['role'];
  open: ShownResponse | undefined;
};

export function ResponseList(props: ListProps) {
  const { path, query, responses, meta, choices, role, open } = props;
  const total = counted(meta.total, 'response');
  const search = query.size === 0 ? '' : `?${query}`;
  const mayChange = role !== 'viewer';
  // Only without a filter: a change may take a response out of a filtered list, and `j` then opens the next one
  const isElsewhere = open && query.size === 0 && !responses.some(({ id }) => id === open.id);
  const rows = isElsewhere ? [open, ...responses] : responses;
  return (
    <Live id={listId} says={total}>
      <form method="post" action={`${path}/chosen`} data-list={`${path}${search}`}>
        <input type="hidden" name="query" value={query.toString()} />
        <div class="bar-top">
          <h2>{total}</h2>
          {mayChange && rows.length > 0 ? (
            <label class="tick sub" data-choose-all hidden>
              <input type="checkbox" autocomplete="off" /> Select all {rows.length}
            </label>
          ) : (
            <span class="sub">Newest first</span>
          )}
        </div>
        {query.get('held') === 'true' ? (
          <p class="sub pad">Responses on hold don’t count until you release them.</p>
        ) : null}
        <PagedList
          meta={meta}
          at={(page) => `${path}?${withValue(query, 'page', String(page))}`}
          empty={<None filtered={query.size > 0} path={path} />}
        >
          <ul class="rows messages">
            {rows.map((response) => (
              <Row
                response={response}
                path={path}
                search={search}
                choices={choices}
                mayChange={mayChange}
                isOpen={response.id === open?.id}
              />
            ))}
          </ul>
          {mayChange ? <Bulk tags={choices.tags} held={rows.some(({ held }) => held)} /> : null}
        </PagedList>
      </form>
    </Live>
  );
}

const None = ({ filtered, path }: { filtered: boolean; path: string }) =>
  filtered ? (
    <EmptyState title="No matching responses">
      <p>Remove a filter or widen the dates.</p>
      <p>
        <LinkButton href={path} text="Show all responses" />
      </p>
    </EmptyState>
  ) : (
    <EmptyState title="No responses yet" icon="inbox">
      <p>Responses appear here as they come in. Send a survey or share its link to get started.</p>
      <LinkButton href={path.replace(/responses$/, 'surveys')} text="View surveys" />
    </EmptyState>
  );

type RowProps = Pick<ListProps, 'path' | 'choices'> & {
  response: ShownResponse;
  search: string;
  mayChange: boolean;
  isOpen: boolean;
};

function Row({ response, path, search, choices, mayChange, isOpen }: RowProps) {
  const { id, survey_type: type, survey_name, tags, state, held, comment, answers } = response;
  const owner =
    choices.members.find(({ email }) => email === response.owner)?.name ?? response.owner;
  const written = answers.find(({ kind }) => kind === 'text')?.value;
  const words = comment ?? (typeof written === 'string' ? written : null);
  return (
    <li id={`row-${id}`}>
      {mayChange ? (
        <label>
          <input type="checkbox" name="id" value={id} />
          <span class="hidden">Select the response of {personOf(response)}</span>
        </label>
      ) : (
        <span />
      )}
      <ResponseRow
        response={{ ...response, type, comment: words }}
        href={`${path}/${id}${search}`}
        title={personOf(response)}
        person={response.contact_name ?? response.contact_email}
        isOpen={isOpen}
      >
        <p class="meta">
          <bdi>{survey_name}</bdi>
          {owner ? (
            <>
              {' · Owner: '}
              <bdi>{owner}</bdi>
            </>
          ) : null}{' '}
          {tags.map(({ name }) => (
            <>
              <Tag name={name} />{' '}
            </>
          ))}
          {held ? <State kind="waiting">On hold</State> : null}
          {state === 'done' ? <State kind="fine">Done</State> : null}
        </p>
      </ResponseRow>
    </li>
  );
}

function Bulk({ tags, held }: Pick<FilterChoices, 'tags'> & { held: boolean }) {
  const act = (value: string, text: string) => (
    <button type="submit" class="mini" name="do" value={value}>
      {text}
      <span class="hidden"> (selected)</span>
    </button>
  );
  return (
    <fieldset class="saves bulk">
      <legend class="hidden">Actions for selected responses</legend>
      <b>Selected</b>
      {held ? act('release', 'Release') : null}
      {act('take', 'Assign to me')}
      {act('done', 'Mark as done')}
      {act('open', 'Reopen')}
      {tags.length === 0 ? null : (
        <>
          <Select
            name="tag"
            id="bulk-tag"
            label="Tag selected"
            options={tags.map(({ id, name }) => ({ value: id, text: name }))}
          />
          {act('tag', 'Add tag')}
          {act('untag', 'Remove tag')}
        </>
      )}
    </fieldset>
  );
}

function withValue(query: URLSearchParams, name: string, value: string) {
  const changed = new URLSearchParams(query);
  changed.set(name, value);
  return changed;
}

/** Swapped with the list when a filter changes. */
export function ExportLinks({ path, query }: { path: string; query: URLSearchParams }) {
  const filters = new URLSearchParams(query);
  for (const name of ['page', 'limit', 'cursor']) filters.delete(name);
  const of = (format: string) => `${path}/export?${withValue(filters, 'format', format)}`;
  return (
    <details class="menu">
      <summary class="button">
        <Icon name="download" />
        Export
      </summary>
      <ul class="list end">
        <li>
          <a href={of('csv')} hx-boost="false">
            As CSV
          </a>
        </li>
        <li>
          <a href={of('jsonl')} hx-boost="false">
            As JSON Lines
          </a>
        </li>
      </ul>
    </details>
  );
}
