import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { type Db, likePattern } from '../../lib/db/db.ts';
import { Page, parseList } from '../../lib/paging/page.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import {
  isOwnUnsubscribe,
  liftSuppression,
  recordConsent,
  suppressByHand,
} from '../../suppressions/unsubscribe.tsx';
import { scoreText } from '../../survey-types.ts';
import { Breakable, Chip, State, type StateKind, Time } from '../../web/app/badges.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import {
  emptyForm,
  Field,
  type FormState,
  LinkButton,
  readForm,
  Submit,
  statusOf,
} from '../../web/app/forms.tsx';
import { counted, DataTable, SearchedList } from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
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
import { addErasureScreens, getPerson, peoplePath } from './erase.tsx';

const rowsOnPage = '50';
const PeopleQuery = v.object({
  ...Page.entries,
  search: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(254, 'is too long')), ''),
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
  const app = new Hono<ScreenEnv>().get('/', (c) => showPeople(c, tools.db));
  return addErasureScreens(app, tools)
    .get('/:id', (c) => showPerson(c, tools.db))

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
  const { id: orgId } = c.var.organization;
  const { page, limit, search } = parseList(PeopleQuery, {
    limit: [rowsOnPage],
    ...c.req.queries(),
  });
  const pattern = search === '' ? null : likePattern(search);
  const [people, total] = await Promise.all([
    listPeople(db, orgId, { pattern, page, limit }),
    countPeople(db, orgId, pattern),
  ]);
  const path = peoplePath(c);
  const body = <PeopleList {...{ path, search, people, meta: { page, limit, total } }} />;
  const actions =
    c.var.organization.role === 'owner' ? <a href={`${path}/erased`}>Erased people</a> : null;
  return renderScreen(c, { title: 'People', section: 'people', body, actions });
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
  search: string;
  people: readonly PersonRow[];
  meta: { page: number; limit: number; total: number };
};

function PeopleList({ path, search, people, meta }: PeopleProps) {
  return (
    <SearchedList
      {...{ path, meta }}
      id="people"
      search={{
        name: 'search',
        label: 'Search',
        purpose: 'Find a person',
        value: search,
        placeholder: 'Email or name',
      }}
      found={counted(meta.total, 'person', 'people')}
      about="One row per email address, newest first"
      none={{
        title: 'No people yet',
        means:
          'Everyone you add to a survey appears here, with the emails they got and their responses.',
      }}
      noneFound={{ title: 'No people match', means: 'Try a shorter search.' }}
    >
      <Rows path={path} people={people} />
    </SearchedList>
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
      {person.name ? (
        <p>
          <bdi>{person.name}</bdi>
        </p>
      ) : null}
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
