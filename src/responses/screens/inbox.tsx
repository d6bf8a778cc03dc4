import { type Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import { recordExport } from '../../audit/export.ts';
import type { Db } from '../../lib/db/db.ts';
import { answerExport } from '../../lib/export/export.ts';
import { readList } from '../../lib/paging/page.ts';
import { isUuid, Uuid } from '../../lib/validation/parse.ts';
import { type CurrentOrganization, requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { scoreText } from '../../survey-types.ts';
import { assetUrl } from '../../web/app/assets.ts';
import { Chip, State, Tag, Time } from '../../web/app/badges.tsx';
import { type FormState, readForm, Select, severalOf } from '../../web/app/forms.tsx';
import { counted, EmptyState, Live, PagedList } from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { exportResponses } from '../export.ts';
import { filterOf, parseFiltered, rangeOf, runSearch } from '../filter.ts';
import { followUpMany, tagMany } from '../follow-up.ts';
import { readInstants } from '../period.ts';
import { PropertyFilters } from '../property-filters.tsx';
import { listResponses } from '../queries.ts';
import { releaseMany } from '../release.ts';
import { ResponseExportQuery, ResponseQuery } from '../schemas.ts';
import { Filters } from './filters.tsx';
import {
  type FilterChoices,
  filled,
  findChoices,
  go,
  inZone,
  pathOf,
  personOf,
  type ShownResponse,
} from './paths.ts';
import { type ResponseScreenTools, responseScreen } from './response.tsx';

const releasedMany = (many: string, one: boolean) =>
  one
    ? `${many} released: it counts now, and its events are delivered.`
    : `${many} released: they count now, and their events are delivered.`;

const followed = {
  done: (many: string) => `${many} marked as done.`,
  open: (many: string) => `${many} opened again.`,
  take: (many: string) => `You own ${many} now.`,
} as const;

const ManyFields = v.object({
  id: severalOf(Uuid),
  tag: v.optional(v.string(), ''),
  do: v.picklist(['tag', 'untag', 'done', 'open', 'take', 'release']),
  query: v.optional(v.string(), ''),
});

/** Responses: below `/o/:slug/responses`. Everybody reads them, editors do something about them. */
export const responseScreens = (tools: ResponseScreenTools) =>
  new Hono<ScreenEnv>()
    .get('/', listScreen(tools.db))

    .get('/export', async (c) => {
      const { orgId, actor } = requireRole(c, 'editor');
      const { format, ...query } = parseFiltered(ResponseExportQuery, {
        ...inZone(c.var.organization),
        ...filled(c),
      });
      const wish = { filter: filterOf(query), format };
      await recordExport(tools.db, { orgId, actor }, 'responses.exported');
      const parts = exportResponses({ db: tools.db }, orgId, wish);
      return answerExport(format, { name: 'responses', parts });
    })

    .post('/chosen', async (c) => {
      const editor = requireRole(c, 'editor');
      const form = await readForm(c, ManyFields);
      const { id: responseIds = [], tag = '', query = '', do: act = 'tag' } = form.values ?? {};
      const back = `${pathOf(c)}?${new URLSearchParams(query)}`;
      if (responseIds.length === 0)
        return go(c, back, {
          kind: 'failed',
          text: 'No response was chosen. Tick some, then press the button again.',
        });
      if (act === 'release') {
        const many = await releaseMany(tools, editor, responseIds);
        if (many === 0)
          return go(c, back, { kind: 'warning', text: 'None of the chosen responses is held.' });
        const released = releasedMany(counted(many, 'response'), many === 1);
        return go(c, back, { kind: 'fine', text: released });
      }
      if (act !== 'tag' && act !== 'untag') {
        const many = await followUpMany(tools, editor, { responseIds, act });
        return go(c, back, { kind: 'fine', text: followed[act](counted(many, 'response')) });
      }
      if (!isUuid(tag)) return go(c, back, { kind: 'failed', text: 'No tag was chosen.' });
      const put = act === 'tag';
      const many = await tagMany(tools, editor, { responseIds, tagId: tag, put });
      const found = counted(many, 'response');
      return go(c, back, {
        kind: 'fine',
        text: put ? `The tag is on ${found}.` : `The tag is taken from ${found}.`,
      });
    })

    .route('/', responseScreen(tools));

const rowsOnPage = '25';

type Queries = Record<string, string[]>;

type AskedList = {
  organization: Pick<CurrentOrganization, 'id' | 'timeZone'>;
  path: string;
  queries: Queries;
  mayChange: boolean;
};

/** The list of responses. A search ends when its reader has gone. */
const listScreen = (db: Db) => async (c: Context<ScreenEnv>) => {
  const asked = askedOf(c);
  const callerGone = asked.queries['search'] ? c.req.raw.signal : undefined;
  const list = await readResponses(db, asked, callerGone);
  return renderScreen(c, { title: 'Responses', section: 'responses', ...list });
};

function askedOf(c: Context<ScreenEnv>): AskedList {
  const { id, timeZone, role } = c.var.organization;
  return {
    organization: { id, timeZone },
    path: pathOf(c),
    queries: filled(c),
    mayChange: role !== 'viewer',
  };
}

async function readResponses(db: Db, asked: AskedList, callerGone?: AbortSignal) {
  const { organization, path, mayChange } = asked;
  const { queries, form } = readDays(asked.queries, organization);
  const orgId = organization.id;
  const page = parsePage(queries, organization);
  const filter = filterOf(page);
  const read = (sql: Parameters<typeof listResponses>[0]) =>
    readList<ShownResponse>(sql, listResponses(sql, orgId, { filter, page }));
  const [listed, choices] = await Promise.all([
    callerGone ? runSearch(db, callerGone, read) : read(db),
    findChoices(db, orgId, filter.survey_id),
  ]);
  const { data: responses, meta } = listed as typeof listed & { meta: ListMeta };
  const query = new URLSearchParams(
    Object.entries(queries).flatMap(([name, values]) => values.map((value) => [name, value])),
  );
  const body = (
    <>
      <Filters {...{ path, query, choices, form }} updates={listId} />
      <Split>
        <ResponseList {...{ path, query, responses, meta, choices, mayChange }} />
      </Split>
    </>
  );
  return { body, status: Object.keys(form.errors).length > 0 ? 422 : 200 } as const;
}

const parsePage = (queries: Queries, organization: AskedList['organization']) =>
  parseFiltered(ResponseQuery, {
    limit: [rowsOnPage],
    ...inZone(organization),
    ...queries,
  });

/** A value that is not a day is no filter, nor is an end before its beginning: it stays in its field, with its mistake. */
function readDays(
  asked: Queries,
  organization: AskedList['organization'],
): {
  queries: Queries;
  form: FormState;
} {
  const queries = { ...asked };
  const typed: Record<string, string> = {};
  const errors: Record<string, string> = {};
  const leaveOut = (name: string, error: string) => {
    typed[name] = asked[name]![0]!;
    errors[name] = error;
    delete queries[name];
  };
  for (const name of dayFields) {
    if (queries[name] && !readInstants(queries[name][0]!))
      leaveOut(name, 'Enter a day, such as 2026-04-01.');
  }
  const { from, to } = rangeOf(parsePage(queries, organization));
  if (from && to && to <= from) leaveOut('date_to', 'This day is before the first one.');
  return { queries, form: { typed, errors } };
}

const dayFields = ['date_from', 'date_to'] as const;

type ListMeta = { page: number; limit: number; total: number };

type ListProps = {
  path: string;
  query: URLSearchParams;
  responses: readonly ShownResponse[];
  meta: { page: number; limit: number; total: number };
  choices: FilterChoices;
  mayChange: boolean;
};

const listId = 'found';

function ResponseList(props: ListProps) {
  const { path, query, responses, meta, choices, mayChange } = props;
  const found = counted(meta.total, 'response');
  return (
    <Live id={listId} says={found}>
      <div class="title" data-list={`${path}${query.size === 0 ? '' : `?${query}`}`}>
        <h2>{found}</h2>
        <span class="small soft">newest first</span>
        {mayChange ? <ExportLinks path={path} query={query} /> : null}
      </div>
      <PropertyFilters path={path} query={query} />
      {query.get('held') === 'true' ? (
        <p class="small soft">These count nowhere until they are released.</p>
      ) : null}
      <PagedList
        meta={meta}
        at={(page) => addressOf(path, query, page)}
        empty={<None filtered={query.size > 0} path={path} />}
      >
        <form method="post" action={`${path}/chosen`}>
          <input type="hidden" name="query" value={query.toString()} />
          {mayChange ? (
            <label class="tick" data-choose-all hidden>
              <input type="checkbox" autocomplete="off" />{' '}
              {responses.length === 1 ? 'Choose it' : `Choose all ${responses.length} on this page`}
            </label>
          ) : null}
          <ul class="rows inbox">
            {responses.map((response) => (
              <Row
                response={response}
                path={path}
                query={query.size === 0 ? '' : `?${query}`}
                choosable={mayChange}
                members={choices.members}
              />
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
    <EmptyState title="No response matches these filters">
      <p>Take one away, or look in a longer time.</p>
      <p>
        <a class="button" href={path}>
          Show all responses
        </a>
      </p>
    </EmptyState>
  ) : (
    <EmptyState title="No responses yet">
      <p>What people answer stands here, newest first. Send a survey, or share its link.</p>
    </EmptyState>
  );

type RowProps = {
  response: ShownResponse;
  path: string;
  query: string;
  choosable: boolean;
  members: FilterChoices['members'];
};

function Row({ response, path, query, choosable, members }: RowProps) {
  const { id, score, category, survey_type, created_at, comment, survey_name, tags } = response;
  const { state, held } = response;
  const owner = members.find(({ email }) => email === response.owner)?.name ?? response.owner;
  return (
    <li id={`row-${id}`}>
      {choosable ? (
        <label class="tick">
          <input type="checkbox" name="id" value={id} />
          <span class="hidden">Choose the response of {personOf(response)}</span>
        </label>
      ) : null}
      <Chip score={scoreText(survey_type, score)} category={category} />
      <div>
        <p class="who">
          <a href={`${path}/${id}${query}`}>
            <bdi>{personOf(response)}</bdi>
          </a>{' '}
          <span class="meta">
            <Time at={created_at} show="ago" />
          </span>
        </p>
        {comment ? (
          <p class="said" dir="auto">
            {comment}
          </p>
        ) : (
          <p class="soft">No comment</p>
        )}
        <p class="meta tags">
          <bdi>{survey_name}</bdi>
          {tags.map(({ name }) => (
            <Tag name={name} />
          ))}
          {held ? <State kind="waiting">Held</State> : null}
          {state === 'done' ? <State kind="fine">Done</State> : null}
          {owner ? (
            <span>
              Owner: <bdi>{owner}</bdi>
            </span>
          ) : null}
        </p>
      </div>
    </li>
  );
}

function Bulk({ tags, held }: Pick<FilterChoices, 'tags'> & { held: boolean }) {
  const act = (value: string, text: string) => (
    <button type="submit" name="do" value={value}>
      {text}
      <span class="hidden"> the chosen</span>
    </button>
  );
  return (
    <fieldset class="inline bulk">
      <legend class="hidden">What to do with the chosen responses</legend>
      {held ? act('release', 'Release') : null}
      {act('done', 'Done')}
      {act('open', 'Open again')}
      {act('take', 'Take')}
      {tags.length === 0 ? null : (
        <>
          <Select
            name="tag"
            id="bulk-tag"
            label="Tag the chosen"
            options={tags.map(({ id, name }) => ({ value: id, text: name }))}
          />
          <button type="submit" name="do" value="tag">
            Tag
          </button>
          <button type="submit" name="do" value="untag">
            Untag
          </button>
        </>
      )}
    </fieldset>
  );
}

function addressOf(path: string, query: URLSearchParams, page: number) {
  const other = new URLSearchParams(query);
  other.set('page', String(page));
  return `${path}?${other}`;
}

/** Leads to the files of what is filtered; a file has every page. It stands in the part that filters swap. */
function ExportLinks({ path, query }: { path: string; query: URLSearchParams }) {
  const wanted = new URLSearchParams(query);
  for (const name of ['page', 'limit', 'cursor']) wanted.delete(name);
  const of = (format: string) => {
    const all = new URLSearchParams(wanted);
    all.set('format', format);
    return `${path}/export?${all}`;
  };
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

const Split = ({ children }: { children: Child }) => (
  <div class="part columns split">
    <div class="list-pane">{children}</div>
    <section class="answer pane" id="answer" aria-label="The chosen response" tabindex={-1}>
      <p class="soft">Choose a response to read it here.</p>
      <p class="small soft">
        In the list, the keys j and k lead down and up, Enter goes to the response, and Escape back.
      </p>
    </section>
    <script src={assetUrl('split.js')} type="module" />
  </div>
);
