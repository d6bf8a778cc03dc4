import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { actorOf } from '../../audit/acts.ts';
import { recordExport } from '../../audit/export.ts';
import { maxUploadBytes, runInUploadSlot } from '../../contacts/upload.ts';
import { Refusal } from '../../errors.ts';
import { decode } from '../../lib/cli/encoding.ts';
import { isZip, readWorkbook } from '../../lib/cli/workbook.ts';
import type { Db } from '../../lib/db/db.ts';
import { exportResponse } from '../../lib/export/export.ts';
import {
  FilterChip,
  filledIn,
  PropertySelect,
  searchOf,
} from '../../responses/property-filters.tsx';
import type { PropertyValues } from '../../responses/property-values.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { scoreText } from '../../survey-types.ts';
import { Chip, FormErrors, Time } from '../../web/app/badges.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import {
  emptyForm,
  Field,
  LinkButton,
  readForm,
  Select,
  SubmitOrCancel,
  statusOf,
  tryAction,
} from '../../web/app/forms.tsx';
import { Icon } from '../../web/app/icon.tsx';
import {
  counted,
  DataTable,
  EmptyState,
  FilterForm,
  Live,
  PagedList,
} from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { parsePeopleQuery } from '../api.ts';
import { exportPeople, importPeople } from '../directory.ts';
import type { EraseTools } from '../erase.ts';
import { propertyPrefix } from '../filter.ts';
import { countPeople, listPeople, listPeopleProperties, type PersonRow } from '../people.ts';
import { listSegments, type Segment } from '../segments.ts';
import { addErasureScreens, peoplePath } from './erase.tsx';
import { addPersonScreens, Suppressed } from './person.tsx';
import { builderQuery, PeopleTabs, PersonLink, segmentScreens, segmentViews } from './segments.tsx';

const ImportForm = v.object({
  file: v.pipe(
    v.instance(File, 'Choose a file.'),
    v.check(({ size }) => size > 0, 'Choose a file.'),
  ),
});

/** People: below `/o/:slug/people`. */
export function peopleScreens(tools: EraseTools) {
  const { db } = tools;
  const app = new Hono<ScreenEnv>()
    .get('/', (c) => showPeople(c, db))
    .route('/segments', segmentScreens(tools))
    .get('/export', async (c) => {
      const { id: orgId } = c.var.organization;
      const { query } = await parsePeopleQuery(db, orgId, filledIn(c.req.queries()));
      await recordExport(db, { orgId, actor: actorOf(c) }, 'people.exported');
      const parts = exportPeople({ db }, orgId, { ...query, format: 'csv' });
      return exportResponse('csv', { name: 'people', parts });
    })
    .get('/import', (c) => showImport(c))
    .post('/import', (c) => postImport(c, db));
  return addPersonScreens(addErasureScreens(app, tools), tools);
}

async function showPeople(c: Context<ScreenEnv>, db: Db) {
  const { id: orgId, role } = c.var.organization;
  const queries = filledIn(c.req.queries());
  const { query, page } = await parsePeopleQuery(db, orgId, queries);
  const [people, total, segments, properties] = await Promise.all([
    listPeople(db, orgId, { query, ...page }),
    countPeople(db, orgId, query),
    listSegments(db, orgId),
    listPeopleProperties(db, orgId),
  ]);
  const path = peoplePath(c);
  const { page: _page, ...others } = queries;
  const filters = searchOf(others);
  const mayChange = role !== 'viewer';
  const found = counted(total, 'person', 'people');
  const at = (number: number) =>
    `${path}?${new URLSearchParams([...filters, ['page', `${number}`]])}`;
  const empty = (
    <EmptyState title={filters.size > 0 ? 'No people match' : 'No people yet'} icon="users">
      <p>
        {filters.size > 0
          ? 'Try a shorter search or fewer filters.'
          : 'Everyone you add to a survey appears here, with the emails they got and their responses.'}
      </p>
    </EmptyState>
  );
  return renderScreen(c, {
    title: 'People',
    about: 'One row per email address, across all surveys.',
    section: 'people',
    tabs: <PeopleTabs path={path} current="people" />,
    views: segmentViews(path, segments),
    actions: (
      <>
        {role === 'owner' ? (
          <LinkButton href={`${path}/erased`} text="Erased people" kind="quiet" />
        ) : null}
        {mayChange ? (
          <LinkButton href={`${path}/import`} text="Import" kind="primary" icon="upload" />
        ) : null}
      </>
    ),
    body: (
      <>
        <PeopleFilters
          path={path}
          segments={segments}
          properties={properties}
          filters={filters}
          mayChange={mayChange}
        />
        <Live id="people" says={found}>
          <div class="spread">
            <h2>{found}</h2>
            <div class="acts">
              {mayChange && [...filters.keys()].some((name) => name.startsWith(propertyPrefix)) ? (
                <LinkButton
                  href={`${path}/segments/new?${builderQuery(query.filter)}`}
                  text="Save as segment"
                  mini
                />
              ) : null}
              {total > 0 ? (
                <LinkButton href={`${path}/export?${filters}`} text="Export" icon="download" mini />
              ) : null}
            </div>
          </div>
          <PagedList meta={{ ...page, total }} at={at} empty={empty}>
            <Rows path={path} people={people} />
          </PagedList>
        </Live>
      </>
    ),
  });
}

async function showImport(c: Context<ScreenEnv>, form = emptyForm()) {
  requireRole(c, 'editor');
  const path = peoplePath(c);
  const body = (
    <form method="post" action={`${path}/import`} enctype="multipart/form-data" class="card stack">
      <FormErrors form={form} />
      <Field
        name="file"
        label="CSV or Excel file"
        type="file"
        accept=".csv,text/csv,.xlsx"
        form={form}
        help="CSV, or an Excel workbook (.xlsx) with one sheet. The first row is a header. Email is required. Name and language are optional. All other columns become properties."
      />
      <SubmitOrCancel button="Import" cancel={path} />
    </form>
  );
  const trail = [{ text: 'People', href: path }];
  const status = statusOf(form);
  return renderScreen(c, { title: 'Import people', section: 'people', trail, body, status });
}

async function postImport(c: Context<ScreenEnv>, db: Db) {
  const editor = requireRole(c, 'editor');
  const done = await runInUploadSlot(editor.orgId, async () => {
    const form = await readForm(c, ImportForm, { largest: maxUploadBytes });
    if (form.errors) return form;
    const bytes = await form.values.file.bytes();
    return await tryAction(c, { invalid: 'file', not_csv: 'file' }, async () =>
      importPeople({ db }, editor, await readTable(bytes)),
    );
  });
  if ('errors' in done) return await showImport(c, done);
  const skipped =
    done.erased > 0 ? ` ${counted(done.erased, 'erased person', 'erased people')} skipped.` : '';
  return redirectWith(
    c,
    peoplePath(c),
    `${counted(done.people, 'person', 'people')} imported.${skipped}`,
  );
}

/** The text of a CSV file, or the only sheet of a workbook as CSV. */
async function readTable(bytes: Uint8Array): Promise<string> {
  try {
    if (!isZip(bytes)) return decode(bytes).text;
    const [sheet, ...others] = await readWorkbook(bytes);
    if (others.length > 0) throw new Error('it has several sheets: save one of them as CSV');
    return sheet!.pieces.join('');
  } catch (error) {
    throw new Refusal('invalid', `the file cannot be read: ${(error as Error).message}`);
  }
}

const chipsId = 'chips';

type FilterProps = {
  path: string;
  segments: readonly Segment[];
  properties: readonly PropertyValues[];
  filters: URLSearchParams;
  mayChange: boolean;
};

function PeopleFilters({ path, segments, properties, filters, mayChange }: FilterProps) {
  const segment = segments.find(({ id }) => id === filters.get('segment'));
  return (
    <search aria-label="Find a person">
      <FilterForm path={path} updates="people" also={[chipsId]}>
        <Field
          name="search"
          label="Search"
          type="search"
          placeholder="Name or address"
          value={filters.get('search')}
          autocomplete="off"
        />
        <details class="menu">
          <summary class="button">
            <Icon name="list-filter" />
            Filter
          </summary>
          <div class="list end picker few">
            <Select
              name="segment"
              label="Segment"
              options={[
                { value: '', text: 'Everybody' },
                ...segments.map(({ id, name }) => ({ value: id, text: name })),
              ]}
              value={segment?.id}
            />
            <PropertySelect properties={properties} />
            {mayChange ? (
              <LinkButton href={`${path}/segments/new`} text="More conditions" kind="quiet" />
            ) : null}
          </div>
        </details>
        <div class="acts" id={chipsId}>
          {[...filters].map(([name, value]) => {
            if (name === 'segment') {
              const text = segment?.name ?? value;
              return (
                <FilterChip
                  path={path}
                  name={name}
                  value={value}
                  text={text}
                  query={filters}
                  label="Segment"
                />
              );
            }
            if (!name.startsWith(propertyPrefix)) return null;
            const label = name.slice(propertyPrefix.length);
            return (
              <>
                <input type="hidden" name={name} value={value} />
                <FilterChip
                  path={path}
                  name={name}
                  value={value}
                  label={label}
                  query={filters}
                  text={value}
                />
              </>
            );
          })}
          {filters.size === 0 ? null : (
            <a class="plain soft small" href={path}>
              Clear
            </a>
          )}
        </div>
      </FilterForm>
    </search>
  );
}

const Rows = ({ path, people }: { path: string; people: readonly PersonRow[] }) => (
  <DataTable
    caption="People, newest first"
    columns={[
      'Person',
      { head: 'Scores, newest first', phone: 'beside' },
      { head: 'Last asked', before: 'Asked ' },
      'Status',
    ]}
    rows={people.map((person) => ({
      cells: [
        <PersonLink person={person} path={path} />,
        person.scores.length === 0 ? (
          <span class="soft none">–</span>
        ) : (
          <span class="tags">
            {person.scores.map(({ type, score, category }) => (
              <Chip score={scoreText(type, score)} category={category} />
            ))}
          </span>
        ),
        person.last_asked_at ? (
          <span class="soft">
            <Time at={person.last_asked_at} show="ago" />
          </span>
        ) : (
          <span class="soft none">–</span>
        ),
        person.suppressed ? <Suppressed why={person.suppressed} /> : '',
      ],
    }))}
  />
);
