import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { actorOf } from '../../audit/acts.ts';
import { recordExport } from '../../audit/export.ts';
import { ContactName } from '../../contacts/api.ts';
import type { Db } from '../../lib/db/db.ts';
import { exportResponse } from '../../lib/export/export.ts';
import { Page, parseList } from '../../lib/paging/page.ts';
import { readPair } from '../../responses/rules.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import {
  isOwnUnsubscribe,
  liftSuppression,
  recordConsent,
  suppressByHand,
} from '../../suppressions/unsubscribe.tsx';
import { scoreText } from '../../survey-types.ts';
import { LanguageTag } from '../../surveys/schemas.ts';
import { Breakable, Chip, FormErrors, State, type StateKind, Time } from '../../web/app/badges.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import {
  emptyForm,
  Field,
  type FormState,
  LinkButton,
  optionalText,
  readForm,
  Select,
  Submit,
  SubmitOrCancel,
  statusOf,
  tryAction,
  withFieldError,
} from '../../web/app/forms.tsx';
import {
  counted,
  DataTable,
  EmptyState,
  Facts,
  FilterForm,
  Live,
  PagedList,
} from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { changePerson, exportPeople, importPeople } from '../directory.ts';
import type { EraseTools } from '../erase.ts';
import {
  type AnswerOfPerson,
  countPeople,
  type FoundPerson,
  listPeople,
  listPersonAnswers,
  type PersonRow,
  readTimeline,
  type TimelineEntry,
} from '../people.ts';
import { listSegments, type Segment } from '../segments.ts';
import { addErasureScreens, getPerson, peoplePath } from './erase.tsx';
import { segmentScreens } from './segments.tsx';

const rowsOnPage = '50';
const PeopleQuery = v.object({
  ...Page.entries,
  search: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(254, 'is too long')), ''),
  property: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(400, 'is too long')), ''),
  segment: v.optional(v.string(), ''),
});

const ImportForm = v.object({
  file: v.pipe(
    v.instance(File, 'Choose a file.'),
    v.check(({ size }) => size > 0, 'Choose a file.'),
  ),
});

const DetailsForm = v.object({
  name: optionalText(ContactName),
  language: optionalText(LanguageTag),
  properties: v.optional(v.string(), ''),
});

/** Characters: one word cannot describe how somebody agreed. */
const shortestConsent = 10;
const longestConsent = 1000;
const ConsentForm = v.object({
  consent: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(shortestConsent, 'Say when and how the person agreed.'),
    v.maxLength(longestConsent, `Use at most ${longestConsent} characters.`),
  ),
});

export function peopleScreens(tools: EraseTools) {
  const { db } = tools;
  const app = new Hono<ScreenEnv>()
    .get('/', (c) => showPeople(c, db))
    .route('/segments', segmentScreens(tools))
    .get('/export', async (c) => {
      const { id: orgId } = c.var.organization;
      await recordExport(db, { orgId, actor: actorOf(c) }, 'people.exported');
      const all = { search: '', filter: { all: [] }, format: 'csv' as const };
      return exportResponse('csv', { name: 'people', parts: exportPeople({ db }, orgId, all) });
    })
    .get('/import', (c) => showImport(c))
    .post('/import', (c) => postImport(c, db));
  return addErasureScreens(app, tools)
    .get('/:id', (c) => showPerson(c, db))
    .post('/:id', (c) => saveDetails(c, db))

    .post('/:id/suppress', async (c) => {
      const editor = requireRole(c, 'editor');
      const { email } = await getPerson(c, tools.db);
      await suppressByHand(tools, editor, email);
      return back(c, 'Blocked. This address gets no more surveys.');
    })

    .post('/:id/allow', async (c) => {
      const editor = requireRole(c, 'editor');
      const { suppressions } = await getPerson(c, tools.db);
      const liftable = suppressions.filter((each) => !isOwnUnsubscribe(each));
      const toLift = liftable.length > 0 ? liftable : suppressions;
      for (const { id } of toLift) await liftSuppression(tools, editor, id);
      return back(c, 'Unblocked. Other limits, such as frequency, still apply.');
    })

    .post('/:id/consent', async (c) => {
      const owner = requireRole(c, 'owner');
      const { email } = await getPerson(c, tools.db);
      const form = await readForm(c, ConsentForm);
      if (form.errors) return await showPerson(c, tools.db, form);
      await recordConsent(tools, owner, { email, consent: form.values.consent });
      return back(c, 'Consent recorded. This address can get surveys again.');
    });
}

async function showPeople(c: Context<ScreenEnv>, db: Db) {
  const { id: orgId, role } = c.var.organization;
  const queries: Record<string, string[]> = { limit: [rowsOnPage], ...c.req.queries() };
  const { page, limit, search, property, segment } = parseList(PeopleQuery, queries);
  const pair = readPair(property);
  const segments = await listSegments(db, orgId);
  const picked = segments.find(({ id }) => id === segment);
  const own = pair
    ? [{ field: `property.${pair.name}`, op: 'is' as const, value: pair.value }]
    : [];
  const query = { search, filter: { all: [...(picked?.filter.all ?? []), ...own] } };
  const [people, total] = await Promise.all([
    listPeople(db, orgId, { query, page, limit }),
    countPeople(db, orgId, query),
  ]);
  const path = peoplePath(c);
  const typed = { search, property, segment: picked?.id ?? '' };
  const error = property !== '' && !pair ? { property: 'Enter a name and a value: plan=pro' } : {};
  const body = (
    <PeopleList
      {...{ path, people, segments, meta: { page, limit, total } }}
      form={{ typed, errors: error }}
    />
  );
  const actions = (
    <>
      {role === 'owner' ? <LinkButton href={`${path}/erased`} text="Erased people" /> : null}
      <LinkButton href={`${path}/segments`} text="Segments" />
      <LinkButton href={`${path}/export`} text="Export" />
      {role === 'viewer' ? null : <LinkButton href={`${path}/import`} text="Import" />}
    </>
  );
  return renderScreen(c, { title: 'People', section: 'people', body, actions });
}

const maxImportBytes = 32 * 1024 * 1024;

async function showImport(c: Context<ScreenEnv>, form = emptyForm()) {
  requireRole(c, 'editor');
  const path = peoplePath(c);
  const body = (
    <form method="post" action={`${path}/import`} enctype="multipart/form-data" class="card stack">
      <FormErrors form={form} />
      <Field
        name="file"
        label="CSV file"
        type="file"
        accept=".csv,text/csv"
        form={form}
        help="With a header row. Email is required, name and language are optional, other columns become properties."
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
  const form = await readForm(c, ImportForm, { largest: maxImportBytes });
  if (form.errors) return await showImport(c, form);
  const { file } = form.values;
  const text = await file.text();
  const done = await tryAction(c, { invalid: 'file', not_csv: 'file' }, () =>
    importPeople({ db }, editor, text),
  );
  if ('errors' in done) return await showImport(c, done);
  const skipped =
    done.erased > 0 ? ` ${counted(done.erased, 'erased person', 'erased people')} skipped.` : '';
  return redirectWith(
    c,
    peoplePath(c),
    `${counted(done.people, 'person', 'people')} imported.${skipped}`,
  );
}

/** Properties as lines of `name = value`, which is how the form shows them, without names that no line can have. */
const linesOf = (properties: Record<string, unknown>) =>
  Object.entries(properties)
    .filter(([name]) => isLineName(name))
    .map(([name, value]) => `${name} = ${textOf(value)}`)
    .join('\n');

const isLineName = (name: string) => readPair(`${name} = x`)?.name === name && !/[\r\n]/.test(name);

/** A text that does not fit in a line is quoted. */
const textOf = (value: unknown) =>
  typeof value === 'string' && value !== '' && value === value.trim() && !/[\r\n]/.test(value)
    ? value
    : JSON.stringify(value);

async function saveDetails(c: Context<ScreenEnv>, db: Db) {
  const editor = requireRole(c, 'editor');
  const person = await getPerson(c, db);
  const form = await readForm(c, DetailsForm);
  if (form.errors) return await showPerson(c, db, form);
  const { name, language, properties: lines } = form.values;
  const pairs = lines.split(/\r?\n/).filter((line) => line.trim() !== '');
  const wrong = pairs.find((line) => !readPair(line));
  if (wrong !== undefined) {
    const properties = `This line has no name and value: ${wrong}`;
    return await showPerson(c, db, await withFieldError(c, { properties }));
  }
  // A value that was not edited keeps its type, and one that the form cannot show stays.
  const unseen = Object.entries(person.properties).filter(([name]) => !isLineName(name));
  const edited = pairs.map((line) => {
    const { name, value } = readPair(line)!;
    const before = person.properties[name];
    return [name, before !== undefined && textOf(before) === value ? before : value] as const;
  });
  const properties = Object.fromEntries([...unseen, ...edited]);
  const changed = await tryAction(c, { erased: '', invalid: 'properties' }, () =>
    changePerson({ db }, editor, {
      email: person.email,
      how: 'put',
      input: { name, language, properties },
    }),
  );
  if ('errors' in changed) return await showPerson(c, db, changed);
  return back(c, 'Saved.');
}

async function showPerson(c: Context<ScreenEnv>, db: Db, form = emptyForm()) {
  const { id: orgId, slug, role } = c.var.organization;
  const person = await getPerson(c, db);
  const [timeline, answers] = await Promise.all([
    readTimeline(db, orgId, person.email),
    listPersonAnswers(db, orgId, person.email),
  ]);
  const here = `${peoplePath(c)}/${c.req.param('id')}`;
  const may = { change: role !== 'viewer', erase: role === 'owner' };
  return renderScreen(c, {
    title: person.email,
    heading: <bdi>{person.email}</bdi>,
    section: 'people',
    status: statusOf(form),
    trail: [{ text: 'People', href: peoplePath(c) }],
    body: (
      <PersonScreen
        {...{ person, here, home: `/o/${slug}`, may, form }}
        timeline={timeline.reverse()}
        answers={new Map(answers.map((answer) => [answer.id, answer]))}
      />
    ),
  });
}

function back(c: Context<ScreenEnv>, text: string) {
  return redirectWith(c, `${peoplePath(c)}/${c.req.param('id')}`, text);
}

type PeopleProps = {
  path: string;
  people: readonly PersonRow[];
  segments: readonly Segment[];
  form: FormState;
  meta: { page: number; limit: number; total: number };
};

function PeopleList({ path, people, segments, form, meta }: PeopleProps) {
  const filters = Object.entries(form.typed as Record<string, string>).filter(([, value]) => value);
  const found = counted(meta.total, 'person', 'people');
  const at = (page: number) =>
    `${path}?${new URLSearchParams([...filters, ['page', String(page)]])}`;
  const empty =
    filters.length > 0 ? (
      <EmptyState title="No people match">
        <p>Try a shorter search or fewer filters.</p>
      </EmptyState>
    ) : (
      <EmptyState title="No people yet">
        <p>
          Everyone you add to a survey appears here, with the emails they got and their responses.
        </p>
      </EmptyState>
    );
  return (
    <>
      <search aria-label="Find a person">
        <FilterForm path={path} updates="people">
          <Field
            name="search"
            label="Search"
            type="search"
            form={form}
            placeholder="Email or name"
            autocomplete="off"
          />
          <Field
            name="property"
            label="Property"
            form={form}
            placeholder="plan=pro"
            autocomplete="off"
          />
          <Select
            name="segment"
            label="Segment"
            options={[
              { value: '', text: 'Everybody' },
              ...segments.map(({ id, name }) => ({ value: id, text: name })),
            ]}
            form={form}
          />
        </FilterForm>
      </search>
      <Live id="people" says={found}>
        <div class="title">
          <h2>{found}</h2>
          <span class="sub">One row per email address, newest first</span>
        </div>
        <PagedList meta={meta} at={at} empty={empty}>
          <Rows path={path} people={people} />
        </PagedList>
      </Live>
    </>
  );
}

const Rows = ({ path, people }: Pick<PeopleProps, 'path' | 'people'>) => (
  <DataTable
    caption="People, newest first"
    columns={[
      { head: 'Email' },
      { head: 'Name' },
      { head: 'Surveys', number: true },
      { head: 'Last sent' },
      { head: 'Last response' },
      { head: 'Status' },
    ]}
    rows={people.map((person) => ({
      cells: [
        <a href={`${path}/${person.id}`}>
          <bdi title={person.email}>
            <Breakable text={person.email} />
          </bdi>
        </a>,
        <bdi>{person.name ?? ''}</bdi>,
        person.surveys,
        person.last_asked_at ? <Time at={person.last_asked_at} show="ago" /> : 'never',
        person.last_answered_at ? <Time at={person.last_answered_at} show="ago" /> : 'never',
        person.suppressed ? <State kind="skipped">Blocked</State> : '',
      ],
    }))}
  />
);

type PersonProps = {
  person: FoundPerson;
  timeline: readonly TimelineEntry[];
  answers: ReadonlyMap<string, AnswerOfPerson>;
  here: string;
  home: string;
  may: { change: boolean; erase: boolean };
  form: FormState;
};

function PersonScreen(props: PersonProps) {
  const { person, timeline, answers, here, home, may, form } = props;
  const hasUnsubscribed = person.suppressions.some(isOwnUnsubscribe);
  const isSuppressed = person.suppressions.length > 0;
  const isLiftable = person.suppressions.some((each) => !isOwnUnsubscribe(each));
  return (
    <>
      {isSuppressed ? (
        <p>
          <State kind="skipped">Blocked: this person gets no surveys from you.</State>
        </p>
      ) : null}
      {hasUnsubscribed ? (
        <p>
          This person unsubscribed. Only they can undo it, with the link in any of your emails
          {may.erase ? ', unless you record their renewed consent' : ''}.
        </p>
      ) : null}
      {may.erase || (may.change && (isLiftable || !isSuppressed)) ? (
        <form method="post" action={`${here}/${isSuppressed ? 'allow' : 'suppress'}`}>
          <div class="acts">
            {isLiftable || !isSuppressed ? (
              <button type="submit">{isSuppressed ? 'Unblock' : 'Block'}</button>
            ) : null}
            {may.erase ? <LinkButton href={`${here}/erase`} text="Erase" kind="danger" /> : null}
          </div>
        </form>
      ) : null}
      {may.erase && hasUnsubscribed ? (
        <form method="post" action={`${here}/consent`} class="stack">
          <Field
            name="consent"
            label="Renewed consent"
            rows={2}
            form={form}
            help="When and how this person agreed to get surveys again. Shown in their activity with your name."
            required
          />
          <Submit>Record consent</Submit>
        </form>
      ) : null}
      <Details {...{ person, here, form }} mayChange={may.change} />
      <section class="card" aria-labelledby="timeline">
        <div class="title">
          <h2 id="timeline">Activity</h2>
        </div>
        <DataTable
          caption="Activity, newest first"
          columns={[{ head: 'Time' }, { head: 'Event' }, { head: 'Survey' }]}
          rows={timeline.map((entry) => ({
            cells: [
              <Time at={entry.at} show="second" />,
              <>
                <What entry={entry} />
                <More entry={entry} home={home} answers={answers} />
              </>,
              entry.survey_id ? (
                <a href={`${home}/surveys/${entry.survey_id}`}>
                  <bdi>{entry.survey_name}</bdi>
                </a>
              ) : (
                'all surveys'
              ),
            ],
          }))}
        />
      </section>
    </>
  );
}

type DetailsProps = Pick<PersonProps, 'person' | 'here' | 'form'> & { mayChange: boolean };

function Details({ person, here, form, mayChange }: DetailsProps) {
  const { name, language, properties } = person;
  const lines = linesOf(properties);
  if (!mayChange) {
    const facts = Object.entries(properties).map(([key, value]) => [key, textOf(value)] as const);
    return (
      <section class="card" aria-labelledby="details">
        <div class="title">
          <h2 id="details">Details</h2>
        </div>
        <Facts facts={[['Name', name ?? ''], ['Language', language ?? ''], ...facts]} />
      </section>
    );
  }
  return (
    <section class="card" aria-labelledby="details">
      <div class="title">
        <h2 id="details">Details</h2>
      </div>
      <form method="post" action={here} class="stack">
        <FormErrors form={form} />
        <Field name="name" label="Name" value={name} form={form} maxlength={200} />
        <Field
          name="language"
          label="Language"
          value={language}
          form={form}
          placeholder="en"
          help="Used for emails and survey pages."
        />
        <Field
          name="properties"
          label="Properties"
          value={lines}
          rows={Math.min(Object.keys(properties).length + 1, 12)}
          form={form}
          help="One per line, such as plan = pro. Existing contacts don’t change."
        />
        <Submit>Save</Submit>
      </form>
    </section>
  );
}

/** Only unusual steps are colored. */
function What({ entry }: { entry: TimelineEntry }) {
  const special = specialSteps[entry.what]?.[entry.reason_code ?? ''];
  const { kind, text } = special ?? steps[entry.what];
  if (kind === 'fine') return <>{text}</>;
  return (
    <State kind={kind} code={entry.reason_code ?? entry.what}>
      {text}
    </State>
  );
}

type MoreProps = Pick<PersonProps, 'home' | 'answers'> & { entry: TimelineEntry };

function More({ entry, home, answers }: MoreProps) {
  const { what, reason, webhook_id: webhook, delivery_id: delivery, response_id: response } = entry;
  const isReply = what === 'replied' || what.startsWith('reply_');
  if (isReply) {
    return (
      <span class="small block words" dir="auto">
        <a href={`${home}/responses/${response}`}>Response</a> {reason}
      </span>
    );
  }
  const answer = answers.get(response ?? '');
  if (answer) return <Answer answer={answer} home={home} />;
  if (webhook !== null) {
    return (
      <span class="small block">
        <a href={`${home}/webhooks/${webhook}/deliveries/${delivery}`}>
          <Breakable text={reason ?? ''} />
        </a>
      </span>
    );
  }
  const visits = what === 'opened' ? /^(\d+) times, last on (\S+)$/.exec(reason ?? '') : null;
  if (visits) return <Visits many={Number(visits[1])} last={visits[2]!} />;
  return reason ? <span class="sub block">{reason}</span> : null;
}

const Answer = ({ answer, home }: { answer: AnswerOfPerson; home: string }) => {
  const { id, type, score, category, comment } = answer;
  return (
    <span class="block">
      <a href={`${home}/responses/${id}`}>
        <Chip score={scoreText(type, score)} category={category} />
      </a>{' '}
      {comment ? <span dir="auto">{comment}</span> : null}
    </span>
  );
};

const Visits = ({ many, last }: { many: number; last: string }) =>
  many < 2 ? null : (
    <span class="sub block">
      {many} times, last on <Time at={last} />
    </span>
  );

type Step = { kind: StateKind; text: string };

const steps: Readonly<Record<TimelineEntry['what'], Step>> = {
  added: { kind: 'fine', text: 'Added to the survey' },
  claimed: { kind: 'waiting', text: 'Waiting to be sent' },
  sending: { kind: 'waiting', text: 'Sending' },
  sent: { kind: 'fine', text: 'Sent' },
  reminded: { kind: 'fine', text: 'Reminder sent' },
  failed: { kind: 'failed', text: 'Not sent' },
  unknown: { kind: 'warning', text: 'Outcome unknown' },
  blocked: { kind: 'skipped', text: 'Blocked' },
  opened: { kind: 'fine', text: 'Opened the link' },
  answered: { kind: 'fine', text: 'Responded' },
  answer_held: { kind: 'waiting', text: 'Responded, on hold' },
  replied: { kind: 'fine', text: 'Reply sent' },
  reply_sending: { kind: 'waiting', text: 'Sending a reply' },
  reply_failed: { kind: 'failed', text: 'Reply not sent' },
  reply_unknown: { kind: 'warning', text: 'Reply, outcome unknown' },
  delivered: { kind: 'fine', text: 'Delivered to a webhook' },
  not_delivered: { kind: 'failed', text: 'Not delivered to a webhook' },
  unsubscribed: { kind: 'warning', text: 'Unsubscribed' },
  bounced: { kind: 'failed', text: 'Bounced: the mailbox does not exist' },
  allowed: { kind: 'fine', text: 'Unblocked' },
};

/** Texts for steps with a specific reason. */
const specialSteps: Partial<Record<TimelineEntry['what'], Readonly<Record<string, Step>>>> = {
  not_delivered: {
    pending: { kind: 'waiting', text: 'Waiting for delivery to a webhook' },
    skipped: { kind: 'skipped', text: 'Not delivered: the webhook was off' },
  },
  unsubscribed: { by_hand: { kind: 'skipped', text: 'Blocked by a member' } },
  allowed: {
    own_wish: { kind: 'fine', text: 'Subscribed again' },
    consent: { kind: 'fine', text: 'Consent renewed' },
  },
};
