import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import type { Db } from '../../lib/db/db.ts';
import { idParam } from '../../lib/validation/parse.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { listTags } from '../../tags/tags.ts';
import { Confirm, FormErrors } from '../../web/app/badges.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import {
  emptyForm,
  Field,
  type FormState,
  LinkButton,
  readForm,
  Select,
  statusOf,
} from '../../web/app/forms.tsx';
import { counted, DataTable, EmptyState, Live } from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { previewPeople } from '../directory.ts';
import { FilterInput, type FilterOp, type PeopleFilter } from '../filter.ts';
import {
  changeSegment,
  createSegment,
  deleteSegment,
  getSegment,
  listSegments,
  listSurveyNames,
  type Segment,
} from '../segments.ts';
import { SegmentName } from '../segments-api.ts';
import { peoplePath } from './erase.tsx';

const segmentsPath = (c: Context<ScreenEnv>) => `${peoplePath(c)}/segments`;

/** People, Segments: below `/o/:slug/people/segments`. */
export const segmentScreens = ({ db }: { db: Db }) =>
  new Hono<ScreenEnv>()
    .get('/', (c) => showSegments(c, db))

    .get('/new', (c) => {
      requireRole(c, 'editor');
      return showBuilder(c, db, { rows: rowsOfQuery(c) ?? [emptyRow], name: c.req.query('name') });
    })

    .post('/new', (c) => saveSegment(c, db))

    .get('/:id', async (c) => {
      const segment = await segmentOf(c, db);
      const rows = rowsOfQuery(c) ?? rowsOf(segment.filter);
      return showBuilder(c, db, { segment, rows, name: c.req.query('name') ?? segment.name });
    })

    .post('/:id', async (c) => {
      requireRole(c, 'editor');
      return await saveSegment(c, db, await segmentOf(c, db));
    })

    .get('/:id/delete', async (c) => {
      requireRole(c, 'editor');
      const { id, name } = await segmentOf(c, db);
      const list = segmentsPath(c);
      const body = (
        <Confirm action={`${list}/${id}/delete`} button="Delete" cancel={`${list}/${id}`}>
          <p>Deletes the segment. Its people stay.</p>
        </Confirm>
      );
      return renderScreen(c, { ...frame(c), title: `Delete segment “${name}”`, body });
    })

    .post('/:id/delete', async (c) => {
      const editor = requireRole(c, 'editor');
      const { id, name } = await segmentOf(c, db);
      await deleteSegment(db, editor, id);
      return redirectWith(c, segmentsPath(c), `Segment “${name}” deleted.`);
    });

const segmentOf = (c: Context<ScreenEnv>, db: Db) =>
  getSegment(db, c.var.organization.id, idParam(c, 'segment'));

const frame = (c: Context<ScreenEnv>) => ({
  section: 'people' as const,
  trail: [
    { text: 'People', href: peoplePath(c) },
    { text: 'Segments', href: segmentsPath(c) },
  ],
});

async function showSegments(c: Context<ScreenEnv>, db: Db) {
  const segments = await listSegments(db, c.var.organization.id);
  const path = segmentsPath(c);
  const body =
    segments.length === 0 ? (
      <div class="card flush">
        <EmptyState title="No segments yet">
          <p>Select people by properties and history, and send surveys only to them.</p>
        </EmptyState>
      </div>
    ) : (
      <div class="card flush">
        <DataTable
          caption="Segments by name"
          columns={['Name', { head: 'Conditions', number: true }]}
          rows={segments.map(({ id, name, filter }) => ({
            cells: [
              <a href={`${path}/${id}`}>
                <bdi>{name}</bdi>
              </a>,
              filter.all.length,
            ],
          }))}
        />
      </div>
    );
  const actions =
    c.var.organization.role === 'viewer' ? null : (
      <LinkButton href={`${path}/new`} text="New segment" kind="primary" />
    );
  const { section, trail } = frame(c);
  return renderScreen(c, { title: 'Segments', section, trail: trail.slice(0, 1), actions, body });
}

/** A condition as typed. */
type Row = { field: string; property: string; op: string; value: string };
const emptyRow: Row = { field: 'property', property: '', op: 'is', value: '' };
const maxRows = 20;

const rowsOf = ({ all }: PeopleFilter): Row[] =>
  all.map(({ field, op, value }) => ({
    field: field.startsWith('property.') ? 'property' : field,
    property: field.startsWith('property.') ? field.slice('property.'.length) : '',
    op: op === 'exists' && value === false ? 'missing' : op,
    value: op === 'exists' ? '' : String(value),
  }));

/** Undefined if the query has no rows. */
function rowsOfQuery(c: Context<ScreenEnv>): Row[] | undefined {
  const query = c.req.query();
  return 'field_0' in query ? rowsIn(query) : undefined;
}

function rowsIn(fields: Readonly<Record<string, unknown>>): Row[] {
  const text = (name: string) => {
    const value = fields[name];
    return typeof value === 'string' ? value : '';
  };
  return Array.from({ length: maxRows }, (_, at) => at)
    .filter((at) => `field_${at}` in fields)
    .map((at) => ({
      field: text(`field_${at}`),
      property: text(`property_${at}`).trim(),
      op: text(`op_${at}`),
      value: text(`value_${at}`).trim(),
    }));
}

const conditionOf = ({ field, property, op, value }: Row) => ({
  field: field === 'property' ? `property.${property}` : field,
  op: op === 'missing' ? 'exists' : op,
  ...(op === 'missing' ? { value: false } : op === 'exists' ? {} : { value }),
});

const isBlank = ({ field, property, value }: Row) =>
  field === 'property' && property === '' && value === '';

/** The filter of the filled rows, or the errors by field of the form. */
function readFilter(rows: readonly Row[]) {
  const places = rows.flatMap((row, at) => (isBlank(row) ? [] : [at]));
  const result = v.safeParse(FilterInput, { all: places.map((at) => conditionOf(rows[at]!)) });
  if (result.success) return { filter: result.output as PeopleFilter, errors: {} };
  const errors = result.issues.map((issue): [string, string] => {
    const at = places[Number(issue.path?.[1]?.key)] ?? 0;
    const key = String(issue.path?.[2]?.key ?? 'field');
    const isProperty = key === 'field' && rows[at]?.field === 'property';
    return [`${isProperty ? 'property' : key}_${at}`, sentence(issue.message)];
  });
  return { filter: undefined, errors: Object.fromEntries(errors.reverse()) };
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

const BuilderForm = v.looseObject({ name: v.optional(v.string(), '') });

async function saveSegment(c: Context<ScreenEnv>, db: Db, segment?: Segment) {
  const editor = requireRole(c, 'editor');
  const { values = { name: '' } } = await readForm(c, BuilderForm);
  const rows = rowsIn(values);
  const { name } = values;
  const { do: action = 'save' } = values as { do?: unknown };
  const removed = /^remove_(\d+)$/.exec(String(action))?.[1];
  if (removed !== undefined) {
    return await showBuilder(c, db, { segment, name, rows: rows.toSpliced(Number(removed), 1) });
  }
  if (action === 'add') {
    const more = rows.length < maxRows ? [...rows, emptyRow] : rows;
    return await showBuilder(c, db, { segment, name, rows: more });
  }
  const { filter, errors } = readFilter(rows);
  const named = v.safeParse(SegmentName, name);
  const all: Record<string, string> = { ...errors };
  if (!named.success) all['name'] = 'Enter a name of at most 200 characters.';
  if (filter?.all.length === 0) all['property_0'] = 'Enter at least one condition.';
  if (!filter || Object.keys(all).length > 0) {
    return await showBuilder(c, db, { segment, name, rows, errors: all });
  }
  const saved = segment
    ? await changeSegment(db, editor, { id: segment.id, name: name.trim(), filter })
    : await createSegment(db, editor, { name: name.trim(), filter });
  return redirectWith(c, `${segmentsPath(c)}/${saved.id}`, `Segment “${saved.name}” saved.`);
}

type Building = {
  segment?: Segment | undefined;
  rows: readonly Row[];
  name: string | undefined;
  errors?: Readonly<Record<string, string>>;
};

async function showBuilder(c: Context<ScreenEnv>, db: Db, building: Building) {
  const { segment, rows, name = '', errors = {} } = building;
  const { id: orgId, role } = c.var.organization;
  const { filter } = readFilter(rows);
  const [surveys, tags, preview] = await Promise.all([
    listSurveyNames(db, orgId),
    listTags(db, orgId),
    filter ? previewPeople(db, orgId, filter) : undefined,
  ]);
  const path = segment ? `${segmentsPath(c)}/${segment.id}` : `${segmentsPath(c)}/new`;
  const typed = Object.fromEntries(
    rows.flatMap((row, at) => Object.entries(row).map(([key, value]) => [`${key}_${at}`, value])),
  );
  const form: FormState = { ...emptyForm({ ...typed, name }), errors };
  const choices = {
    surveys: surveys.map(({ id, name }) => ({ value: id, text: name })),
    tags: tags.map(({ id, name }) => ({ value: id, text: name })),
  };
  const mayChange = role !== 'viewer';
  const body = (
    <>
      <form
        method="post"
        action={path}
        class="card stack"
        hx-get={path}
        hx-trigger="input delay:400ms, change"
        hx-target="#preview"
        hx-select="#preview"
        hx-swap="outerHTML"
        hx-sync="this:replace"
      >
        <FormErrors form={form} />
        <Field name="name" label="Name" form={form} maxlength={200} required />
        {(rows.length === 0 ? [emptyRow] : rows).map((row, at) => (
          <Condition row={row} at={at} form={form} choices={choices} />
        ))}
        {mayChange ? (
          <div class="acts">
            <button type="submit" name="do" value="save" class="primary">
              Save
            </button>
            <button type="submit" name="do" value="add" formnovalidate>
              Add condition
            </button>
            {segment ? <LinkButton href={`${path}/delete`} text="Delete" kind="danger" /> : null}
          </div>
        ) : null}
      </form>
      <Preview preview={preview} people={peoplePath(c)} />
    </>
  );
  const title = segment ? segment.name : 'New segment';
  return renderScreen(c, { ...frame(c), title, status: statusOf(form), body });
}

const fieldOptions = [
  { value: 'property', text: 'Property' },
  { value: 'language', text: 'Language' },
  { value: 'last_asked_days', text: 'Days since last asked' },
  { value: 'last_score', text: 'Last score' },
  { value: 'last_category', text: 'Last category' },
  { value: 'tag', text: 'Tag' },
  { value: 'survey_id', text: 'Survey' },
];

const opTexts: Readonly<Record<FilterOp | 'missing', string>> = {
  is: 'is',
  is_not: 'is not',
  contains: 'contains',
  gt: 'is greater than',
  lt: 'is less than',
  exists: 'has a value',
  missing: 'has no value',
};
const opOptions = Object.entries(opTexts).map(([value, text]) => ({ value, text }));

const categoryOptions = ['promoter', 'passive', 'detractor'].map((value) => ({
  value,
  text: sentence(value).slice(0, -1),
}));

type Options = readonly { value: string; text: string }[];
type ConditionProps = {
  row: Row;
  at: number;
  form: FormState;
  choices: { surveys: Options; tags: Options };
};

function Condition({ row, at, form, choices }: ConditionProps) {
  const picked = {
    tag: choices.tags,
    survey_id: choices.surveys,
    last_category: categoryOptions,
  }[row.field as 'tag'];
  const name = `value_${at}`;
  return (
    <fieldset class="stack tight">
      <legend class="hidden">Condition {at + 1}</legend>
      <div class="toolbar">
        <Select
          name={`field_${at}`}
          label="Field"
          options={fieldOptions}
          value={row.field}
          form={form}
        />
        <Field
          name={`property_${at}`}
          label="Property name"
          value={row.property}
          form={form}
          placeholder="plan"
          autocomplete="off"
        />
        <Select name={`op_${at}`} label="Operator" options={opOptions} value={row.op} form={form} />
        {picked ? (
          <Select
            name={name}
            label="Value"
            options={[{ value: '', text: 'Choose' }, ...picked]}
            value={row.value}
            form={form}
          />
        ) : (
          <Field name={name} label="Value" value={row.value} form={form} autocomplete="off" />
        )}
        <button type="submit" name="do" value={`remove_${at}`} class="mini" formnovalidate>
          Remove<span class="hidden"> condition {at + 1}</span>
        </button>
      </div>
    </fieldset>
  );
}

type PreviewProps = {
  preview: Awaited<ReturnType<typeof previewPeople>> | undefined;
  people: string;
};

function Preview({ preview, people }: PreviewProps) {
  const says = preview
    ? counted(preview.count, 'person matches', 'people match')
    : 'Complete the conditions';
  return (
    <Live id="preview" says={says}>
      <div class="title">
        <h2>{says}</h2>
      </div>
      {preview && preview.count > 0 ? (
        <div class="card flush">
          <DataTable
            caption="Newest matching people"
            columns={['Email', 'Name']}
            rows={preview.people.map(({ id, email, name }) => ({
              cells: [
                <a href={`${people}/${id}`}>
                  <bdi>{email}</bdi>
                </a>,
                <bdi>{name ?? ''}</bdi>,
              ],
            }))}
          />
        </div>
      ) : null}
    </Live>
  );
}
