import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { capital } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { idParam, isUuid } from '../../lib/validation/parse.ts';
import type { PropertyValues } from '../../responses/property-values.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { listTags } from '../../tags/tags.ts';
import { Avatar, Breakable, Confirm, FormErrors, Part, State } from '../../web/app/badges.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import {
  Field,
  type FormState,
  LinkButton,
  readForm,
  readVersion,
  Select,
  tryAction,
  Version,
} from '../../web/app/forms.tsx';
import { Icon } from '../../web/app/icon.tsx';
import { counted, DataTable, EmptyState, Live } from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { languageChoices } from '../../web/language.ts';
import { type Person, previewPeople } from '../directory.ts';
import {
  type Condition,
  FilterInput,
  type FilterOp,
  filterCategories,
  opsOfField,
  type PeopleFilter,
  propertyPrefix,
} from '../filter.ts';
import { listPeopleProperties } from '../people.ts';
import {
  changeSegment,
  createSegment,
  deleteSegment,
  getSegment,
  listSegments,
  listSegmentUses,
  listSurveyNames,
  type Segment,
  type SegmentUse,
  versionOfSegment,
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
      return showBuilder(c, db, { rows: rowsIn(c.req.query()), name: c.req.query('name') });
    })

    .post('/new', (c) => saveSegment(c, db))

    .get('/:id', async (c) => showSegment(c, db, await segmentOf(c, db)))

    .get('/:id/edit', async (c) => {
      requireRole(c, 'editor');
      const segment = await segmentOf(c, db);
      const { name = segment.name, ...typed } = c.req.query();
      const rows = 'field_0' in typed ? rowsIn(typed) : rowsOf(segment.filter);
      return showBuilder(c, db, { segment, rows, name });
    })

    .post('/:id/edit', async (c) => {
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
      return renderScreen(c, {
        ...(await readFrame(c, db, id)),
        title: `Delete segment “${name}”`,
        body,
      });
    })

    .post('/:id/delete', async (c) => {
      const editor = requireRole(c, 'editor');
      const { id, name } = await segmentOf(c, db);
      const refused = await tryAction(c, { segment_in_use: '' }, () =>
        deleteSegment(db, editor, id),
      );
      if (refused) {
        return redirectWith(c, `${segmentsPath(c)}/${id}`, refused.errors['']!, 'failed');
      }
      return redirectWith(c, segmentsPath(c), `Segment “${name}” deleted.`);
    });

const segmentOf = (c: Context<ScreenEnv>, db: Db) =>
  getSegment(db, c.var.organization.id, idParam(c, 'segment'));

async function readFrame(c: Context<ScreenEnv>, db: Db, current?: string) {
  const people = peoplePath(c);
  return {
    section: 'people' as const,
    views: segmentViews(people, await listSegments(db, c.var.organization.id), current),
    trail: [
      { text: 'People', href: people },
      { text: 'Segments', href: segmentsPath(c) },
    ],
  };
}

export const PeopleTabs = ({ path, current }: { path: string; current: 'people' | 'segments' }) => (
  <nav class="tabs" aria-label="People">
    <a href={path} aria-current={current === 'people' ? 'page' : undefined}>
      Everybody
    </a>
    <a href={`${path}/segments`} aria-current={current === 'segments' ? 'page' : undefined}>
      Segments
    </a>
  </nav>
);

const maxViews = 10;

/** The first segments, listed below People in the navigation. */
export const segmentViews = (people: string, segments: readonly Segment[], current?: string) =>
  segments.slice(0, maxViews).map(({ id, name }) => ({
    text: name,
    href: `${people}/segments/${id}`,
    current: id === current,
  }));

async function showSegments(c: Context<ScreenEnv>, db: Db) {
  const { id: orgId, role } = c.var.organization;
  const [segments, names] = await Promise.all([listSegments(db, orgId), readNames(db, orgId)]);
  const path = segmentsPath(c);
  const body = (
    <div class="card flush">
      {segments.length === 0 ? (
        <EmptyState title="No segments yet" icon="list-filter">
          <p>Select people by properties and history, and send surveys only to them.</p>
        </EmptyState>
      ) : (
        <DataTable
          caption="Segments by name"
          columns={['Name', { head: 'Rule', phone: 'line' }]}
          rows={segments.map(({ id, name, filter }) => ({
            cells: [
              <a href={`${path}/${id}`}>
                <bdi>{name}</bdi>
              </a>,
              <Conditions filter={filter} names={names} />,
            ],
          }))}
        />
      )}
    </div>
  );
  return renderScreen(c, {
    title: 'Segments',
    heading: 'People',
    about: 'One row per email address, across all surveys.',
    section: 'people',
    tabs: <PeopleTabs path={peoplePath(c)} current="segments" />,
    views: segmentViews(peoplePath(c), segments),
    actions:
      role === 'viewer' ? null : (
        <LinkButton href={`${path}/new`} text="New segment" kind="primary" icon="plus" />
      ),
    body,
  });
}

async function showSegment(c: Context<ScreenEnv>, db: Db, segment: Segment) {
  const { id: orgId, slug, role } = c.var.organization;
  const [frame, preview, uses, names] = await Promise.all([
    readFrame(c, db, segment.id),
    previewPeople(db, orgId, segment.filter),
    listSegmentUses(db, orgId, segment.id),
    readNames(db, orgId),
  ]);
  const { id, name, filter } = segment;
  const people = peoplePath(c);
  const here = `${segmentsPath(c)}/${id}`;
  const open = names.surveys.filter((survey) => survey.open).slice(0, maxOpenSurveys);
  return renderScreen(c, {
    ...frame,
    title: name,
    heading: <bdi>{name}</bdi>,
    actions:
      role === 'viewer' ? null : (
        <>
          {open.length === 0 ? null : (
            <details class="menu">
              <summary class="button primary">
                <Icon name="send" />
                Send a survey
              </summary>
              <ul class="list end">
                {open.map((survey) => (
                  <li>
                    <a href={`/o/${slug}/surveys/${survey.id}/send?audience=${id}`}>
                      <bdi>{survey.name}</bdi>
                    </a>
                  </li>
                ))}
              </ul>
            </details>
          )}
          <LinkButton href={`${here}/edit`} text="Edit" />
          {uses.length === 0 ? (
            <LinkButton href={`${here}/delete`} text="Delete" kind="danger" />
          ) : null}
        </>
      ),
    body: (
      <div class="grid main-side">
        <Preview preview={preview} people={people} all={`${people}?segment=${id}`} />
        <div class="stack">
          <Part id="conditions" title="People who match">
            <Conditions filter={filter} names={names} />
          </Part>
          <Uses uses={uses} surveys={`/o/${slug}/surveys`} />
        </div>
      </div>
    ),
  });
}

const maxOpenSurveys = 20;

const Uses = ({ uses, surveys }: { uses: readonly SegmentUse[]; surveys: string }) => (
  <Part id="uses" title="Used by">
    {uses.length === 0 ? (
      <p class="sub">No campaign or repeating survey uses this segment yet.</p>
    ) : (
      <ul class="stack tight">
        {uses.map(({ survey_id: survey, campaign_id: campaign, name }) => (
          <li>
            <a href={`${surveys}/${survey}/${campaign ? `send/${campaign}` : 'repeat'}`}>
              <bdi>{name}</bdi>
            </a>{' '}
            {campaign ? <span class="soft">campaign</span> : <State kind="fine">Repeats</State>}
          </li>
        ))}
      </ul>
    )}
  </Part>
);

type Names = Awaited<ReturnType<typeof readNames>>;

async function readNames(db: Db, orgId: string) {
  const [surveys, tags] = await Promise.all([listSurveyNames(db, orgId), listTags(db, orgId)]);
  return { surveys, tags };
}

const Conditions = ({ filter, names }: { filter: PeopleFilter; names: Names }) =>
  filter.all.length === 0 ? (
    <>everybody</>
  ) : (
    <ul>
      {filter.all.map((condition) => (
        <li>
          <bdi>{conditionText(condition, names)}</bdi>
        </li>
      ))}
    </ul>
  );

function conditionText({ field, op, value }: Condition, names: Names): string {
  const name = isProperty(field) ? field.slice(propertyPrefix.length) : fieldTexts[field];
  if (op === 'exists') return `${name} ${opTexts[value === false ? 'missing' : 'exists']}`;
  const id = String(value).toLowerCase();
  const named = namesOf(field, id, names)?.find((each) => each.id === id);
  return `${name} ${opTexts[op]} ${named?.name ?? value}`;
}

/** Includes a selected id that no longer exists, so that a form never drops its condition. */
function namesOf(field: string, selected: string, { surveys, tags }: Names) {
  if (field !== 'tag' && field !== 'survey_id') return undefined;
  const named = field === 'tag' ? tags : surveys;
  // Right after the field changes from survey to tag, the id of a survey is still selected.
  const exists = [...surveys, ...tags].some(({ id }) => id === selected);
  if (exists || !isUuid(selected)) return named;
  return [...named, { id: selected, name: field === 'tag' ? 'Deleted tag' : 'Unknown survey' }];
}

/** A condition as typed. `field` is `property` if the property's name is typed. */
type Row = { field: string; property: string; op: string; value: string };
const emptyRow: Row = { field: '', property: '', op: 'is', value: '' };
const maxRows = 20;

const isProperty = (field: string) => field.startsWith(propertyPrefix);

const rowsOf = ({ all }: PeopleFilter): Row[] =>
  all.map(({ field, op, value }) => ({
    field,
    property: '',
    op: op === 'exists' && value === false ? 'missing' : op,
    value: op === 'exists' ? '' : String(value),
  }));

/** The query of a builder that begins with this filter. */
export const builderQuery = (filter: PeopleFilter) =>
  new URLSearchParams(
    rowsOf(filter).flatMap(({ field, op, value }, at) => [
      [`field_${at}`, field],
      [`op_${at}`, op],
      [`value_${at}`, value],
    ]),
  );

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

const fieldOf = ({ field, property }: Row) =>
  field === 'property' ? propertyPrefix + property : field;

function conditionOf(row: Row) {
  const field = fieldOf(row);
  if (row.op === 'missing') return { field, op: 'exists', value: false };
  return { field, op: row.op, value: row.op === 'exists' ? true : row.value };
}

const isBlank = ({ field, property, value }: Row) =>
  (field === '' || field === 'property') && property === '' && value === '';

/** The filter of the filled rows, or the errors by field of the form. */
function readFilter(rows: readonly Row[]) {
  const places = rows.flatMap((row, at) => (isBlank(row) ? [] : [at]));
  const result = v.safeParse(FilterInput, { all: places.map((at) => conditionOf(rows[at]!)) });
  if (result.success) return { filter: result.output as PeopleFilter, errors: {} };
  const errors = result.issues.map((issue): [string, string] => {
    const at = places[Number(issue.path?.[1]?.key)] ?? 0;
    const key = String(issue.path?.[2]?.key ?? 'field');
    const row = rows[at] ?? emptyRow;
    const isTyped = key === 'field' && row.field === 'property';
    return [`${isTyped ? 'property' : key}_${at}`, errorText(row, key, issue.message)];
  });
  return { filter: undefined, errors: Object.fromEntries(errors.reverse()) };
}

function errorText(row: Row, key: string, message: string): string {
  if (key === 'field' && row.field === '') return 'Choose a field.';
  if (key === 'field' && row.property === '') return 'Enter the name of the property.';
  if (key === 'op') return 'Choose another operator. This one does not fit the field.';
  if (key === 'value' && row.value === '') return 'Enter a value.';
  return `${capital(message.replace(/:.*/s, ''))}.`;
}

const BuilderForm = v.looseObject({
  name: v.optional(v.string(), ''),
  do: v.optional(v.string(), 'save'),
});

async function saveSegment(c: Context<ScreenEnv>, db: Db, segment?: Segment) {
  const editor = requireRole(c, 'editor');
  const { values = { name: '', do: 'save' } } = await readForm(c, BuilderForm);
  const ifMatch = await readVersion(c);
  const rows = rowsIn(values);
  const { name, do: action } = values;
  const again = (change: Partial<Building>) =>
    showBuilder(c, db, { segment, name, rows, version: ifMatch?.[0], ...change });
  const removed = /^remove_(\d+)$/.exec(action)?.[1];
  if (removed !== undefined) return await again({ rows: rows.toSpliced(Number(removed), 1) });
  if (action === 'count') return await again({});
  if (action === 'add') {
    return await again({ rows: rows.length < maxRows ? [...rows, emptyRow] : rows });
  }
  const { filter, errors } = readFilter(rows);
  const named = v.safeParse(SegmentName, name);
  const all: Record<string, string> = { ...errors };
  if (!named.success) all['name'] = 'Enter a name of at most 200 characters.';
  if (filter?.all.length === 0) all['field_0'] = 'Enter at least one condition.';
  if (!filter || !named.success || Object.keys(all).length > 0) return await again({ errors: all });
  const change = { name: named.output, filter };
  const saved = await tryAction(
    c,
    { too_many_segments: '' },
    () =>
      segment
        ? changeSegment(db, editor, { id: segment.id, ...change, ifMatch })
        : createSegment(db, editor, change),
    segment && {
      version: versionOfSegment(segment),
      fields: await storedFields(db, editor.orgId, { segment, filter }),
    },
  );
  if ('errors' in saved) {
    const { version } = saved.typed;
    return await again({ errors: saved.errors, version: version as string });
  }
  return redirectWith(c, `${segmentsPath(c)}/${saved.id}`, `Segment “${saved.name}” saved.`);
}

/** The stored values of the form. Conditions are one field, in words. */
async function storedFields(
  db: Db,
  orgId: string,
  { segment: { name, filter }, filter: typed }: { segment: Segment; filter: PeopleFilter },
) {
  if (JSON.stringify(rowsOf(filter)) === JSON.stringify(rowsOf(typed))) return { name };
  const names = await readNames(db, orgId);
  const texts = filter.all.map((condition) => conditionText(condition, names));
  return { name, conditions: texts.join(', ') };
}

type Building = {
  segment?: Segment | undefined;
  rows: readonly Row[];
  name: string | undefined;
  version?: string | undefined;
  errors?: Readonly<Record<string, string>>;
};

async function showBuilder(c: Context<ScreenEnv>, db: Db, building: Building) {
  const { segment, name = '', errors = {}, version } = building;
  const rows = building.rows.length === 0 ? [emptyRow] : building.rows;
  const { id: orgId } = c.var.organization;
  const { filter } = readFilter(rows);
  const [frame, names, properties, preview] = await Promise.all([
    readFrame(c, db, segment?.id),
    readNames(db, orgId),
    listPeopleProperties(db, orgId),
    filter ? previewPeople(db, orgId, filter) : undefined,
  ]);
  const here = segment ? `${segmentsPath(c)}/${segment.id}` : segmentsPath(c);
  const path = segment ? `${here}/edit` : `${here}/new`;
  const form: FormState = { typed: { name, ...(version && { version }) }, errors };
  const body = (
    <div class="grid main-side">
      <form
        method="post"
        action={path}
        class="card stack"
        hx-get={path}
        hx-validate="false"
        hx-trigger="input target:input delay:400ms"
        hx-target="#preview"
        hx-select="#preview"
        hx-swap="outerHTML"
        hx-sync="this:replace"
      >
        {/* Enter presses the first button of a form. */}
        <button type="submit" name="do" value="save" hidden>
          Save
        </button>
        <FormErrors form={form} />
        <Version form={form} value={segment && versionOfSegment(segment)} />
        <Field name="name" label="Name" form={form} maxlength={200} autocomplete="off" required />
        <fieldset
          id="conditions"
          class="stack"
          hx-get={path}
          hx-trigger="change target:select"
          hx-include="closest form"
          hx-target="this"
          hx-select="#conditions"
          hx-select-oob="#preview"
          hx-swap="outerMorph"
          data-says={previewText(preview)}
        >
          <legend>People who match all of these</legend>
          {rows.map((row, at) => (
            <ConditionRow row={row} at={at} form={form} names={names} properties={properties} />
          ))}
          {errors['conditions'] ? (
            <div class="field">
              <p class="error">{errors['conditions']}</p>
            </div>
          ) : null}
        </fieldset>
        <div class="acts">
          <button type="submit" name="do" value="add" formnovalidate>
            <Icon name="plus" />
            Add condition
          </button>
          <button type="submit" name="do" value="count" formnovalidate data-preview-button>
            Count people
          </button>
        </div>
        <div class="acts">
          <button type="submit" name="do" value="save" class="primary">
            Save
          </button>
          <LinkButton href={here} text="Cancel" kind="quiet" />
        </div>
      </form>
      <Preview preview={preview} people={peoplePath(c)} />
    </div>
  );
  const title = segment ? `Edit “${segment.name}”` : 'New segment';
  return renderScreen(c, { ...frame, title, form, body });
}

const fieldTexts: Readonly<Record<string, string>> = {
  language: 'Language',
  last_asked_days: 'Days since last asked',
  last_score: 'Last score',
  last_category: 'Last category',
  tag: 'Tag',
  survey_id: 'Survey',
};
const opTexts: Readonly<Record<FilterOp | 'missing', string>> = {
  is: 'is',
  is_not: 'is not',
  contains: 'contains',
  gt: 'is greater than',
  lt: 'is less than',
  exists: 'has a value',
  missing: 'has no value',
};
/** The operators of a field, or all operators if no field is chosen. */
const opsOf = (field: string) => {
  const ops: readonly string[] = opsOfField(field || propertyPrefix);
  return Object.entries(opTexts)
    .filter(([op]) => ops.includes(op === 'missing' ? 'exists' : op))
    .map(([value, text]) => ({ value, text }));
};

const closedValues = (field: string, selected: string, names: Names) =>
  field === 'last_category'
    ? filterCategories.map((value) => ({ value, text: capital(value) }))
    : namesOf(field, selected, names)?.map(({ id, name }) => ({ value: id, text: name }));

const commonValues = (field: string, properties: readonly PropertyValues[]) =>
  field === 'language'
    ? languageChoices(undefined).map(({ value }) => value)
    : (properties.find(({ name }) => propertyPrefix + name === field)?.values ?? []);

const fieldOptions = (selected: string, properties: readonly PropertyValues[]) => {
  // The property `language` sets the language of a person, which is a separate field.
  const names = properties.flatMap(({ name }) =>
    name === 'language' ? [] : propertyPrefix + name,
  );
  if (isProperty(selected) && !names.includes(selected)) names.push(selected);
  return [
    { value: '', text: 'Choose' },
    {
      group: 'Properties',
      options: [
        ...names.map((value) => ({ value, text: value.slice(propertyPrefix.length) })),
        { value: 'property', text: 'Other property' },
      ],
    },
    {
      group: 'History',
      options: Object.entries(fieldTexts).map(([value, text]) => ({ value, text })),
    },
  ];
};

type RowProps = {
  row: Row;
  at: number;
  form: FormState;
  names: Names;
  properties: readonly PropertyValues[];
};

function ConditionRow({ row, at, form, names, properties }: RowProps) {
  const { field, property, op, value } = row;
  const selected = value.toLowerCase();
  const picked = closedValues(field, selected, names);
  const common = commonValues(field, properties);
  const name = `value_${at}`;
  return (
    <fieldset class={at === 0 ? 'toolbar' : 'toolbar opts'}>
      <legend class="hidden">Condition {at + 1}</legend>
      <Select
        name={`field_${at}`}
        label="Field"
        options={fieldOptions(field, properties)}
        value={field}
        form={form}
      />
      {field === 'property' ? (
        <Field
          name={`property_${at}`}
          label="Property name"
          value={property}
          form={form}
          autocomplete="off"
        />
      ) : null}
      <Select
        name={`op_${at}`}
        label="Operator"
        options={opsOf(fieldOf(row))}
        value={op}
        form={form}
      />
      {op === 'exists' || op === 'missing' ? null : picked ? (
        <Select
          name={name}
          label="Value"
          options={[{ value: '', text: 'Choose' }, ...picked]}
          value={selected}
          form={form}
        />
      ) : (
        <>
          <Field
            name={name}
            label="Value"
            value={value}
            form={form}
            autocomplete="off"
            list={common.length > 0 ? `values_${at}` : undefined}
          />
          {common.length > 0 ? (
            <datalist id={`values_${at}`}>
              {common.map((each) => (
                <option value={each} />
              ))}
            </datalist>
          ) : null}
        </>
      )}
      <button
        type="submit"
        name="do"
        value={`remove_${at}`}
        class="square quiet"
        aria-label={`Remove condition ${at + 1}`}
        formnovalidate
      >
        <Icon name="x" />
      </button>
    </fieldset>
  );
}

type PreviewProps = {
  preview: Awaited<ReturnType<typeof previewPeople>> | undefined;
  people: string;
  /** URL of the list of all these people. */
  all?: string;
};

const previewText = (preview: PreviewProps['preview']) =>
  preview
    ? counted(preview.count, 'person matches', 'people match')
    : 'Complete the conditions to count people';

function Preview({ preview, people, all }: PreviewProps) {
  const says = previewText(preview);
  return (
    <Live id="preview" says={says}>
      <Part
        id="count"
        title={says}
        act={all ? <a href={all}>Show in People</a> : <span class="sub">The newest ones</span>}
      >
        <ul class="stack tight">
          {preview?.people.map((person) => (
            <li>
              <PersonLink person={person} path={people} />
            </li>
          ))}
        </ul>
      </Part>
    </Live>
  );
}

type PersonLinkProps = { person: Pick<Person, 'id' | 'email' | 'name'>; path: string };

export const PersonLink = ({ person: { id, email, name }, path }: PersonLinkProps) => (
  <div class="person">
    <Avatar name={name ?? email} />
    <div>
      <a class="plain" href={`${path}/${id}`}>
        <bdi>{name ?? <Breakable text={email} />}</bdi>
      </a>
      {name ? (
        <small class="soft">
          <bdi>
            <Breakable text={email} />
          </bdi>
        </small>
      ) : null}
    </div>
  </div>
);
