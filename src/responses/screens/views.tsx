import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { notFound } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { idParam, isPlainLine } from '../../lib/validation/parse.ts';
import type { ScreenEnv } from '../../sessions/session.ts';
import { Confirm, FormErrors } from '../../web/app/badges.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import {
  Field,
  type FormState,
  LinkButton,
  readForm,
  SubmitOrCancel,
  tryAction,
} from '../../web/app/forms.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { filledIn } from '../property-filters.tsx';
import { countViews, deleteView, listViews, type SavedView, saveView } from '../views.ts';
import { filtersIn, keyOfFilters, me, pathOf } from './paths.ts';

/** Views that every member has. */
const builtIn = [
  { text: 'Open detractors', query: 'category=detractor&state=open', count: 'detractors' },
  { text: 'Assigned to me', query: `owner=${me}`, count: 'mine' },
  { text: 'On hold', query: 'held=true', count: 'held' },
  { text: 'With comment', query: 'has_comment=true', count: null },
] as const;

type Views = Awaited<ReturnType<typeof readViews>>;

/** Lists the member's views, and finds the view that matches the query. */
export async function readViews(c: Context<ScreenEnv>, db: Db) {
  const owner = ownerOf(c);
  const [own, counts] = await Promise.all([listViews(db, owner), countViews(db, owner)]);
  const path = pathOf(c);
  const key = keyOfFilters(filtersIn(filledIn(c.req.queries())));
  const isCurrent = (query: URLSearchParams) => key === keyOfFilters([...query]);
  const fixed = builtIn.map(({ text, query, count }) => ({
    text,
    href: `${path}?${query}`,
    ...(count && { count: counts[count] }),
    current: isCurrent(new URLSearchParams(query)),
  }));
  const saved = own.map((view) => {
    const query = new URLSearchParams(view.filters);
    return { view, text: view.name, href: `${path}?${query}`, current: isCurrent(query) };
  });
  return {
    links: [...fixed, ...saved.map(({ view: _view, ...link }) => link)],
    current: fixed.some(({ current }) => current)
      ? ('built-in' as const)
      : saved.find(({ current }) => current)?.view,
  };
}

type ViewActionsProps = { path: string; query: URLSearchParams; views: Views };

/** Saves the filters as a view, or deletes the view that has them. */
export function ViewActions({ path, query, views: { current } }: ViewActionsProps) {
  const hasFilters = filtersIn(queriesOf(query)).length > 0;
  if (current === 'built-in' || !hasFilters) return null;
  if (current) {
    const href = `${path}/views/${current.id}/delete`;
    return <LinkButton href={href} text="Delete view" kind="quiet" />;
  }
  return (
    <details class="menu">
      <summary class="button quiet">Save view</summary>
      <form method="post" action={`${path}/views`} class="list end stack tight">
        <input type="hidden" name="query" value={query.toString()} />
        <Field name="name" id="view-name" label="Name" maxlength={60} autocomplete="off" required />
        <button type="submit">Save view</button>
      </form>
    </details>
  );
}

const maxQueryLength = 4_000;
const refusedFields = { name_taken: 'name', too_many_views: 'name' };

const NewView = v.object({
  name: v.pipe(
    v.string(),
    v.trim(),
    v.nonEmpty('Enter a name.'),
    v.maxLength(60, 'Use at most 60 characters.'),
    v.check(isPlainLine, 'Enter one line without control characters.'),
  ),
  query: v.pipe(v.string(), v.maxLength(maxQueryLength, 'These filters are too long to save.')),
});

/** Routes below `/o/:slug/responses/views`. Members of every role may change their own views. */
export const viewScreens = ({ db }: { db: Db }) =>
  new Hono<ScreenEnv>()
    .post('/', async (c) => {
      const form = await readForm(c, NewView);
      if (form.errors) return showNewView(c, form);
      const { name, query } = form.values;
      const filters = filtersIn(filledIn(queriesOf(new URLSearchParams(query))));
      if (filters.length === 0) {
        return redirectWith(c, pathOf(c), 'Set a filter to save it as a view.', 'failed');
      }
      const saved = await tryAction(c, refusedFields, () =>
        saveView(db, ownerOf(c), { name, filters }),
      );
      if ('errors' in saved) return showNewView(c, saved);
      return redirectWith(c, addressOf(c, saved), `View “${saved.name}” saved.`);
    })

    .get('/:id/delete', async (c) => {
      const id = idParam(c, 'view');
      const view = (await listViews(db, ownerOf(c))).find((each) => each.id === id);
      if (!view) throw notFound('view');
      const action = `${pathOf(c)}/views/${id}/delete`;
      const body = (
        <Confirm action={action} button="Delete view" cancel={addressOf(c, view)}>
          <p>Deletes the view “{view.name}”. Its responses stay.</p>
        </Confirm>
      );
      const trail = [{ text: 'Responses', href: pathOf(c) }];
      return renderScreen(c, { title: 'Delete view', section: 'responses', trail, body });
    })

    .post('/:id/delete', async (c) => {
      const view = await deleteView(db, ownerOf(c), idParam(c, 'view'));
      return redirectWith(c, pathOf(c), `View “${view.name}” deleted.`);
    });

const ownerOf = (c: Context<ScreenEnv>) => ({
  orgId: c.var.organization.id,
  memberId: c.var.member.id,
});

const addressOf = (c: Context<ScreenEnv>, { filters }: SavedView) =>
  `${pathOf(c)}?${new URLSearchParams(filters)}`;

const queriesOf = (query: URLSearchParams) =>
  Object.fromEntries([...query.keys()].map((name) => [name, query.getAll(name)]));

/** Shows the form again with its errors. */
function showNewView(c: Context<ScreenEnv>, form: FormState) {
  const query = String(form.typed['query'] ?? '');
  return renderScreen(c, {
    title: 'Save view',
    section: 'responses',
    trail: [{ text: 'Responses', href: pathOf(c) }],
    form,
    body: (
      <form method="post" action={`${pathOf(c)}/views`} class="card stack measure">
        <FormErrors form={form} />
        <input type="hidden" name="query" value={query} />
        <Field
          name="name"
          label="Name"
          form={form}
          maxlength={60}
          autocomplete="off"
          help="Only you see your views, in the sidebar below Responses."
          required
        />
        <SubmitOrCancel button="Save view" cancel={`${pathOf(c)}?${query}`} />
      </form>
    ),
  });
}
