import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { recordExport } from '../../audit/export.ts';
import type { Db } from '../../lib/db/db.ts';
import { exportResponse } from '../../lib/export/export.ts';
import { readList } from '../../lib/paging/page.ts';
import { isUuid, Uuid } from '../../lib/validation/parse.ts';
import type { Question } from '../../questions/definition.ts';
import { listQuestions } from '../../questions/queries.ts';
import { AnswerFilters, hasAnswerFilter } from '../../questions/shown-answers.tsx';
import { type CurrentOrganization, requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { assetUrl } from '../../web/app/assets.ts';
import { State, Tag } from '../../web/app/badges.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import {
  type FormState,
  LinkButton,
  listField,
  readForm,
  Select,
  statusOf,
} from '../../web/app/forms.tsx';
import { counted, EmptyState, Live, PagedList } from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { exportResponses } from '../export.ts';
import { filterOf, parseFiltered, rangeOf, runSearch } from '../filter.ts';
import { followUpMany, tagMany } from '../follow-up.ts';
import { readInstants } from '../period.ts';
import { PropertyFilters } from '../property-filters.tsx';
import { listResponses } from '../queries.ts';
import { releaseMany } from '../release.ts';
import { ResponseRow } from '../response-row.tsx';
import { dateHint, endBeforeStart, propertyHint, readPair } from '../rules.ts';
import { ResponseExportQuery, ResponseQuery } from '../schemas.ts';
import { Filters } from './filters.tsx';
import {
  type FilterChoices,
  filled,
  findChoices,
  inZone,
  pathOf,
  personOf,
  type ShownResponse,
  searchOf,
} from './paths.ts';
import { type ResponseScreenTools, responseScreen } from './response.tsx';

const bulkResults = {
  done: 'marked as done',
  open: 'reopened',
  take: 'assigned to you',
} as const;

const ManyFields = v.object({
  id: listField(Uuid),
  tag: v.optional(v.string(), ''),
  do: v.picklist(['tag', 'untag', 'done', 'open', 'take', 'release']),
  query: v.optional(v.string(), ''),
});

/** Responses: below `/o/:slug/responses`. */
export const responseScreens = (tools: ResponseScreenTools) =>
  new Hono<ScreenEnv>()
    .get('/', (c) => showList(c, tools.db))

    .get('/export', async (c) => {
      const { orgId, actor } = requireRole(c, 'editor');
      const { format, ...query } = parseFiltered(ResponseExportQuery, {
        ...inZone(c.var.organization),
        ...filled(c),
      });
      const wish = { filter: filterOf(query), format };
      await recordExport(tools.db, { orgId, actor }, 'responses.exported');
      const parts = exportResponses({ db: tools.db }, orgId, wish);
      return exportResponse(format, { name: 'responses', parts });
    })

    .post('/chosen', async (c) => {
      const editor = requireRole(c, 'editor');
      const form = await readForm(c, ManyFields);
      const { id: responseIds = [], tag = '', query = '', do: act = 'tag' } = form.values ?? {};
      const back = `${pathOf(c)}?${new URLSearchParams(query)}`;
      if (responseIds.length === 0) {
        return redirectWith(c, back, 'Select at least one response.', 'failed');
      }
      if (act === 'release') {
        const released = await releaseMany(tools, editor, responseIds);
        return released === 0
          ? redirectWith(c, back, 'None of the selected responses is on hold.', 'warning')
          : redirectWith(c, back, `${counted(released, 'response')} released.`);
      }
      if (act !== 'tag' && act !== 'untag') {
        const changed = await followUpMany(tools, editor, { responseIds, act });
        return redirectWith(c, back, `${counted(changed, 'response')} ${bulkResults[act]}.`);
      }
      if (!isUuid(tag)) return redirectWith(c, back, 'Select a tag.', 'failed');
      const put = act === 'tag';
      const tagged = await tagMany(tools, editor, { responseIds, tagId: tag, put });
      const target = `${put ? 'added to' : 'removed from'} ${counted(tagged, 'response')}`;
      return redirectWith(c, back, `Tag ${target}.`);
    })

    .route('/', responseScreen(tools));

const rowsOnPage = '25';

type Queries = Record<string, string[]>;

async function showList(c: Context<ScreenEnv>, db: Db) {
  const { organization } = c.var;
  const orgId = organization.id;
  const path = pathOf(c);
  const { queries, form } = readFilters(c);
  const page = parsePage(queries, organization);
  const filter = filterOf(page);
  const read = (sql: Parameters<typeof listResponses>[0]) =>
    readList<ShownResponse>(sql, listResponses(sql, orgId, { filter, page }));
  const [listed, choices] = await Promise.all([
    filter.pattern === null ? read(db) : runSearch(db, c.req.raw.signal, read),
    findChoices(db, orgId, filter.survey_id),
  ]);
  const { data: responses, meta } = listed as typeof listed & { meta: ListProps['meta'] };
  const query = searchOf(queries);
  const questions = hasAnswerFilter(query) ? await listQuestions(db, orgId, null) : [];
  const mayChange = organization.role !== 'viewer';
  return renderScreen(c, {
    title: 'Responses',
    section: 'responses',
    status: statusOf(form),
    body: (
      <>
        <Filters {...{ path, query, choices, form }} updates={listId} />
        <div class="split">
          <div class="list-pane">
            <ResponseList {...{ path, query, responses, meta, choices, mayChange, questions }} />
          </div>
          <section class="card pane" id="answer" aria-label="Selected response" tabindex={-1}>
            <p class="soft">Select a response to read it.</p>
            <p class="sub">
              Shortcuts: j and k for next and previous, Enter to open, Escape to return to the list.
            </p>
          </section>
          <script src={assetUrl('split.js')} type="module" />
        </div>
      </>
    ),
  });
}

type Clock = Pick<CurrentOrganization, 'timeZone'>;

const parsePage = (queries: Queries, clock: Clock) =>
  parseFiltered(ResponseQuery, { limit: [rowsOnPage], ...inZone(clock), ...queries });

/** An invalid day, an end before its start or an incomplete property is not applied, but shown as a mistake. */
function readFilters(c: Context<ScreenEnv>): { queries: Queries; form: FormState } {
  const asked = filled(c);
  const clock = c.var.organization;
  const queries = { ...asked };
  const typed: Record<string, string> = {};
  const errors: Record<string, string> = {};
  const leaveOut = (name: string, error: string) => {
    typed[name] = asked[name]![0]!;
    errors[name] = error;
    delete queries[name];
  };
  for (const name of ['date_from', 'date_to']) {
    if (queries[name] && !readInstants(queries[name][0]!)) leaveOut(name, dateHint);
  }
  const { from, to } = rangeOf(parsePage(queries, clock));
  if (from && to && to <= from) leaveOut('date_to', endBeforeStart);
  const mistyped = c.req.queries('property')?.find((text) => text.trim() !== '' && !readPair(text));
  if (mistyped) {
    typed['property'] = mistyped;
    errors['property'] = propertyHint;
  }
  return { queries, form: { typed, errors } };
}

type ListProps = {
  path: string;
  query: URLSearchParams;
  responses: readonly ShownResponse[];
  meta: { page: number; limit: number; total: number };
  choices: FilterChoices;
  mayChange: boolean;
  questions: readonly Question[];
};

const listId = 'found';

function ResponseList(props: ListProps) {
  const { path, query, responses, meta, choices, mayChange, questions } = props;
  const total = counted(meta.total, 'response');
  const search = query.size === 0 ? '' : `?${query}`;
  return (
    <Live id={listId} says={total}>
      <div class="title" data-list={`${path}${search}`}>
        <h2>{total}</h2>
        <span class="sub">newest first</span>
        {mayChange ? <ExportLinks path={path} query={query} /> : null}
      </div>
      <PropertyFilters path={path} query={query} />
      <AnswerFilters path={path} query={query} questions={questions} />
      {query.get('held') === 'true' ? (
        <p class="sub">Responses on hold don’t count until you release them.</p>
      ) : null}
      <PagedList
        meta={meta}
        at={(page) => `${path}?${withValue(query, 'page', String(page))}`}
        empty={<None filtered={query.size > 0} path={path} />}
      >
        <form method="post" action={`${path}/chosen`}>
          <input type="hidden" name="query" value={query.toString()} />
          {mayChange ? (
            <label class="tick bar-top" data-choose-all hidden>
              <input type="checkbox" autocomplete="off" />{' '}
              {responses.length === 1 ? 'Select it' : `Select all ${responses.length} on this page`}
            </label>
          ) : null}
          <ul class="rows messages">
            {responses.map((response) => (
              <Row {...{ response, path, search, choices, mayChange }} />
            ))}
          </ul>
          {mayChange ? (
            <Bulk tags={choices.tags} held={responses.some(({ held }) => held)} />
          ) : null}
        </form>
      </PagedList>
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
    <EmptyState title="No responses yet">
      <p>Responses appear here as they come in. Send a survey or share its link to get started.</p>
    </EmptyState>
  );

type RowProps = Pick<ListProps, 'path' | 'choices' | 'mayChange'> & {
  response: ShownResponse;
  search: string;
};

function Row({ response, path, search, choices, mayChange }: RowProps) {
  const { id, survey_type: type, survey_name, tags, state, held } = response;
  const owner =
    choices.members.find(({ email }) => email === response.owner)?.name ?? response.owner;
  return (
    <li id={`row-${id}`}>
      {mayChange ? (
        <label>
          <input type="checkbox" name="id" value={id} />
          <span class="hidden">Select the response of {personOf(response)}</span>
        </label>
      ) : null}
      <ResponseRow
        response={{ ...response, type }}
        href={`${path}/${id}${search}`}
        title={personOf(response)}
        person={response.contact_name ?? response.contact_email}
      >
        <p class="meta tags">
          <bdi>{survey_name}</bdi>
          {tags.map(({ name }) => (
            <Tag name={name} />
          ))}
          {held ? <State kind="waiting">On hold</State> : null}
          {state === 'done' ? <State kind="fine">Done</State> : null}
          {owner ? (
            <span>
              Owner: <bdi>{owner}</bdi>
            </span>
          ) : null}
        </p>
      </ResponseRow>
    </li>
  );
}

function Bulk({ tags, held }: Pick<FilterChoices, 'tags'> & { held: boolean }) {
  const act = (value: string, text: string) => (
    <button type="submit" name="do" value={value}>
      {text}
      <span class="hidden"> (selected)</span>
    </button>
  );
  return (
    <fieldset class="saves bulk">
      <legend class="hidden">Actions for selected responses</legend>
      {held ? act('release', 'Release') : null}
      {act('done', 'Mark as done')}
      {act('open', 'Reopen')}
      {act('take', 'Assign to me')}
      {tags.length === 0 ? null : (
        <>
          <Select
            name="tag"
            id="bulk-tag"
            label="Tag selected"
            options={tags.map(({ id, name }) => ({ value: id, text: name }))}
          />
          <button type="submit" name="do" value="tag">
            Add tag
          </button>
          <button type="submit" name="do" value="untag">
            Remove tag
          </button>
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

/** Inside the part that filters swap, so that the links follow the filters. */
function ExportLinks({ path, query }: { path: string; query: URLSearchParams }) {
  const filters = new URLSearchParams(query);
  for (const name of ['page', 'limit', 'cursor']) filters.delete(name);
  const of = (format: string) => `${path}/export?${withValue(filters, 'format', format)}`;
  return (
    <details class="menu">
      <summary class="button">Export</summary>
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
