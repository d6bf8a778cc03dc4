import type { Context } from 'hono';
import type { Db } from '../../lib/db/db.ts';
import { readList } from '../../lib/paging/page.ts';
import type { ScreenEnv } from '../../sessions/session.ts';
import { assetUrl } from '../../web/app/assets.ts';
import { type FormState, statusOf } from '../../web/app/forms.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { filterOf, parseFiltered, rangeOf, runSearch } from '../filter.ts';
import { readInstants } from '../period.ts';
import { type Queries, searchOf } from '../property-filters.tsx';
import { listResponses } from '../queries.ts';
import { dateHint, endBeforeStart, propertyHint, readPair } from '../rules.ts';
import { ResponseQuery } from '../schemas.ts';
import { findChoices, findRecentValues } from './choices.ts';
import { chipsId, Filters } from './filters.tsx';
import { ExportLinks, listId, ResponseList } from './list.tsx';
import { EmptyPane, type PaneForms, ResponsePane, readResponse } from './pane.tsx';
import { filled, forApi, pathOf, personOf, type ShownResponse } from './paths.ts';
import { readViews, ViewActions } from './views.tsx';

type Opened = {
  /** The response in the pane. Defaults to the first response in the list. */
  id?: string;
  forms?: PaneForms;
};

const toolsId = 'tools';

/** The list of responses beside the open response. Narrow screens show one of the two, depending on the address. */
export async function showInbox(c: Context<ScreenEnv>, db: Db, opened: Opened = {}) {
  const { organization } = c.var;
  const { id: orgId, role } = organization;
  const path = pathOf(c);
  const { queries, form } = readFilters(c);
  const page = parsePage(queries, c);
  const filter = filterOf(page);
  const list = (sql: Parameters<typeof listResponses>[0]) =>
    readList<ShownResponse>(sql, listResponses(sql, orgId, { filter, page }));
  const [listed, choices, recent, views, ofAddress] = await Promise.all([
    filter.pattern === null ? list(db) : runSearch(db, c.req.raw.signal, list),
    findChoices(db, orgId, filter.survey_id),
    findRecentValues(db, orgId, filter.survey_id),
    readViews(c, db),
    opened.id ? readResponse(c, db, opened.id) : undefined,
  ]);
  const { data: responses, meta } = listed as typeof listed & {
    meta: { page: number; limit: number; total: number };
  };
  const first = responses[0];
  const read = ofAddress ?? (first && (await readResponse(c, db, first.id)));
  const query = searchOf(queries);
  const { forms = {} } = opened;
  const errors = { ...form.errors, ...forms.note?.errors, ...forms.reply?.errors };
  return renderScreen(c, {
    title: ofAddress ? `Response of ${personOf(ofAddress.response)}` : 'Responses',
    heading: 'Responses',
    section: 'responses',
    views: views.links,
    status: statusOf({ ...form, errors }),
    actions: (
      <div class="acts" id={toolsId}>
        <ViewActions path={path} query={query} views={views} />
        {role === 'viewer' ? null : <ExportLinks path={path} query={query} />}
      </div>
    ),
    body: (
      <>
        <Filters
          path={path}
          query={query}
          choices={choices}
          recent={recent}
          form={form}
          updates={listId}
          also={[chipsId, toolsId]}
        />
        <div class={`inbox card flush${ofAddress ? ' open' : ''}`}>
          <section class="list-pane" aria-label="List">
            <ResponseList
              path={path}
              query={query}
              responses={responses}
              meta={meta}
              choices={choices}
              role={role}
              open={read?.response}
            />
            <Shortcuts mayChange={role !== 'viewer'} />
          </section>
          {read ? (
            <ResponsePane
              c={c}
              read={read}
              choices={choices}
              forms={forms}
              list={ofAddress ? responses : []}
            />
          ) : (
            <EmptyPane />
          )}
        </div>
        <script src={assetUrl('inbox.js')} type="module" />
      </>
    ),
  });
}

const rowsOnPage = '25';

const parsePage = (queries: Queries, { var: reader }: Context<ScreenEnv>) =>
  parseFiltered(ResponseQuery, { limit: [rowsOnPage], ...forApi(queries, reader) });

/** Does not apply an invalid day, an end before the start or an incomplete property, but shows it with an error. */
function readFilters(c: Context<ScreenEnv>): { queries: Queries; form: FormState } {
  const asked = filled(c);
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
  const { from, to } = rangeOf(parsePage(queries, c));
  if (from && to && to <= from && queries['date_to']) leaveOut('date_to', endBeforeStart);
  const mistyped = c.req.queries('property')?.find((text) => text.trim() !== '' && !readPair(text));
  if (mistyped) {
    typed['property'] = mistyped;
    errors['property'] = propertyHint;
  }
  return { queries, form: { typed, errors } };
}

/** Key, description, and a short label for the line below the list. */
const readingKeys = [
  ['j', 'Next response', 'next'],
  ['k', 'Previous response', 'previous'],
  ['Enter', 'Read the response'],
  ['Esc', 'Back to the list'],
  ['/', 'Search'],
  ['?', 'Show these shortcuts'],
] as const;

const changingKeys = [
  ['e', 'Mark as done, or reopen', 'done'],
  ['a', 'Assign to me', 'assign'],
  ['r', 'Reply', 'reply'],
  ['n', 'Write a note'],
  ['#', 'Choose a tag'],
] as const;

/** Visible with script and a pane beside the list. */
function Shortcuts({ mayChange }: { mayChange: boolean }) {
  const shortcuts = [...readingKeys, ...(mayChange ? changingKeys : [])];
  return (
    <div class="keys sub">
      {shortcuts.map(([key, , word]) =>
        word ? (
          <span aria-hidden="true">
            <kbd>{key}</kbd> {word}
          </span>
        ) : null,
      )}
      <details class="menu">
        <summary class="button mini quiet" aria-keyshortcuts="?">
          <kbd>?</kbd> more<span class="hidden"> shortcuts</span>
        </summary>
        <div class="list up">
          <dl class="facts">
            {shortcuts.map(([key, text]) => (
              <>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{text}</dd>
              </>
            ))}
          </dl>
          <label class="tick">
            <input type="checkbox" id="use-keys" autocomplete="off" checked /> Turn on single-key
            shortcuts
          </label>
        </div>
      </details>
    </div>
  );
}
