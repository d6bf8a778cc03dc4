import type { Context, Hono } from 'hono';
import * as v from 'valibot';
import { ContactName } from '../../contacts/api.ts';
import { capital } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { readPair } from '../../responses/rules.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import {
  isOwnUnsubscribe,
  liftSuppression,
  recordConsent,
  suppressByHand,
} from '../../suppressions/suppress.ts';
import { normalized, scoreText } from '../../survey-types.ts';
import { LanguageTag } from '../../surveys/schemas.ts';
import {
  Breakable,
  Chip,
  FormErrors,
  Part,
  State,
  type StateKind,
  Time,
  toneOf,
} from '../../web/app/badges.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import {
  emptyForm,
  Field,
  type FormState,
  LinkButton,
  optionalText,
  readForm,
  readVersion,
  Submit,
  tryAction,
  Version,
  withFieldError,
} from '../../web/app/forms.tsx';
import { Icon, type IconName } from '../../web/app/icon.tsx';
import { counted, EmptyState, Facts } from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { changePerson, versionOfPerson } from '../directory.ts';
import type { EraseTools } from '../erase.ts';
import {
  type AnswerOfPerson,
  type FoundPerson,
  listPersonAnswers,
  type SuppressedAs,
} from '../people.ts';
import { readTimeline, type TimelineEntry } from '../timeline.ts';
import { getPerson, peoplePath } from './erase.tsx';

const DetailsForm = v.object({
  name: optionalText(ContactName),
  language: optionalText(LanguageTag),
  properties: v.optional(v.string(), ''),
});

const ConsentForm = v.object({
  consent: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(10, 'Say when and how the person agreed.'), // one word cannot describe it
    v.maxLength(1000, 'Use at most 1000 characters.'),
  ),
});

/** A person: below `/o/:slug/people/:id`. */
export const addPersonScreens = (app: Hono<ScreenEnv>, tools: EraseTools) =>
  app
    .get('/:id', (c) => showPerson(c, tools.db))
    .post('/:id', (c) => saveDetails(c, tools.db))

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

/** Writes properties as lines of `name = value` for the form. Skips names that do not fit in a line. */
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
  // Keep the type of a value that was not edited, and keep values that the form cannot show.
  const unseen = Object.entries(person.properties).filter(([name]) => !isLineName(name));
  const edited = pairs.map((line) => {
    const { name, value } = readPair(line)!;
    const before = person.properties[name];
    return [name, before !== undefined && textOf(before) === value ? before : value] as const;
  });
  const properties = Object.fromEntries([...unseen, ...edited]);
  const ifMatch = await readVersion(c);
  const changed = await tryAction(
    c,
    { erased: '', invalid: 'properties' },
    () =>
      changePerson({ db }, editor, {
        email: person.email,
        how: 'put',
        input: { name, language, properties },
        ifMatch,
      }),
    {
      version: versionOfPerson(person),
      fields: {
        name: person.name,
        language: person.language,
        properties: linesOf(person.properties),
      },
    },
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
  const home = `/o/${slug}`;
  const here = `${peoplePath(c)}/${c.req.param('id')}`;
  const shown = { person, timeline: timeline.reverse(), answers, home, here, role, form };
  const { email, name } = person;
  const mayChange = role !== 'viewer';
  return renderScreen(c, {
    title: name ?? email,
    heading: <bdi>{name ?? email}</bdi>,
    about: name ? <bdi>{email}</bdi> : null,
    avatar: name ?? email,
    section: 'people',
    form,
    trail: [{ text: 'People', href: peoplePath(c) }],
    actions: (
      <>
        {mayChange && answers[0] ? (
          <LinkButton
            href={`${home}/responses/${answers[0].id}#reply`}
            text="Reply"
            kind="primary"
            icon="reply"
          />
        ) : null}
        {mayChange ? <BlockButton {...shown} /> : null}
        {role === 'owner' ? <LinkButton href={`${here}/erase`} text="Erase" kind="danger" /> : null}
      </>
    ),
    body: (
      <div class="grid main-side">
        <Activity {...shown} />
        <div class="stack">
          <Scores {...shown} />
          <Properties {...shown} />
          <Emails {...shown} />
        </div>
      </div>
    ),
  });
}

type Shown = {
  person: FoundPerson;
  /** The newest first. */
  timeline: readonly TimelineEntry[];
  answers: readonly AnswerOfPerson[];
  home: string;
  here: string;
  role: 'viewer' | 'editor' | 'owner';
  form: FormState;
};

function back(c: Context<ScreenEnv>, text: string) {
  return redirectWith(c, `${peoplePath(c)}/${c.req.param('id')}`, text);
}

/** Lifts blocks and bounces. Only the person can undo their own unsubscribe. */
function BlockButton({ person: { suppressions }, here }: Shown) {
  const isSuppressed = suppressions.length > 0;
  if (isSuppressed && suppressions.every(isOwnUnsubscribe)) return null;
  return (
    <form method="post" action={`${here}/${isSuppressed ? 'allow' : 'suppress'}`}>
      <button type="submit">{isSuppressed ? 'Unblock' : 'Block'}</button>
    </form>
  );
}

const Activity = ({ timeline, answers, home }: Shown) => (
  <Part id="timeline" title="Activity" sub="Newest first">
    {timeline.length === 0 ? (
      <EmptyState title="No activity yet">
        <p>Emails, responses and replies appear here once this person is on a survey.</p>
      </EmptyState>
    ) : (
      <ol class="timeline">
        {timeline.map((entry) => (
          <Entry
            entry={entry}
            home={home}
            answer={answers.find(({ id }) => id === entry.response_id)}
          />
        ))}
      </ol>
    )}
  </Part>
);

type EntryProps = { entry: TimelineEntry; home: string; answer: AnswerOfPerson | undefined };

function Entry({ entry, home, answer }: EntryProps) {
  const { what, reason_code: code, survey_id: survey, round } = entry;
  const { kind, text, icon } = steps[`${what} ${code}`] ?? steps[what];
  const isAnswer = answer !== undefined && what.startsWith('answer');
  const tone = isAnswer
    ? `is-${answer.category}`
    : toneOf[kind === 'fine' && what !== 'allowed' ? 'skipped' : kind];
  return (
    <li>
      <span class={`badge ${tone}`}>
        <Icon name={icon} />
      </span>
      <div>
        <p>
          <span title={kind === 'fine' ? undefined : (code ?? what)}>{text}</span>{' '}
          {isAnswer ? (
            <a href={`${home}/responses/${answer.id}`}>
              <Chip score={scoreText(answer.type, answer.score)} category={answer.category} />
            </a>
          ) : null}
        </p>
        {isAnswer && answer.comment ? (
          <blockquote class="quote" dir="auto">
            {answer.comment}
          </blockquote>
        ) : null}
        <More entry={entry} home={home} />
        {survey ? (
          <p class="sub">
            <a class="plain" href={`${home}/surveys/${survey}`}>
              <bdi>{entry.survey_name}</bdi>
            </a>
            {Number(round) > 1 ? `, round ${round}` : ''}
          </p>
        ) : null}
      </div>
      <Time at={entry.at} />
    </li>
  );
}

function More({ entry, home }: { entry: TimelineEntry; home: string }) {
  const { what, reason, webhook_id: webhook, delivery_id: delivery, response_id: response } = entry;
  if (what === 'replied' || what.startsWith('reply_')) {
    return (
      <p class="small words" dir="auto">
        <a href={`${home}/responses/${response}`}>Response</a> {reason}
      </p>
    );
  }
  if (what.startsWith('answer')) return null;
  if (webhook !== null) {
    return (
      <p class="small">
        <a href={`${home}/webhooks/${webhook}/deliveries/${delivery}`}>
          <Breakable text={reason ?? ''} />
        </a>
      </p>
    );
  }
  const [, many, last] =
    (what === 'opened' && /^(\d+) times, last on (\S+)$/.exec(reason ?? '')) || [];
  if (last) {
    return Number(many) < 2 ? null : (
      <p class="sub">
        {many} times, last on <Time at={last} />
      </p>
    );
  }
  return reason ? <p class="sub">{reason}</p> : null;
}

const maxSteps = 5;

function Scores({ answers }: Shown) {
  const shown = answers.slice(0, maxSteps).reverse();
  if (shown.length < 2) return null;
  const points = shown.map(({ type, score, category }, at) => ({
    x: `${(100 * (at + 0.5)) / shown.length}%`,
    y: `${80 - 6 * normalized(type, score)}%`,
    text: scoreText(type, score),
    category,
  }));
  return (
    <Part id="scores" title="Score over time">
      <svg
        class="steps-chart"
        role="img"
        aria-label={points.map(({ text }) => text).join(', then ')}
      >
        {points.slice(1).map(({ x, y }, at) => (
          <line class="link" x1={points[at]!.x} y1={points[at]!.y} x2={x} y2={y} />
        ))}
        {points.map(({ x, y, text, category }) => (
          <>
            <circle class={`is-${category}`} cx={x} cy={y} r="16" />
            <text x={x} y={y}>
              {text}
            </text>
          </>
        ))}
      </svg>
      <p class="steps-days sub">
        {shown.map(({ created_at }) => (
          <Time at={created_at} show="day" />
        ))}
      </p>
    </Part>
  );
}

function Properties({ person, here, role, form }: Shown) {
  const { name, language, properties } = person;
  // The property `language` says the same as the language of the person, which is shown already.
  const facts = Object.entries(properties)
    .filter(([key]) => key !== 'language')
    .map(([key, value]) => [key, textOf(value)] as const);
  const isInvalid = Object.keys(form.errors).length > 0 && !('consent' in form.errors);
  return (
    <Part id="details" title="Properties">
      <Facts facts={[...facts, ['Language', language ?? <span class="soft">unknown</span>]]} />
      {role === 'viewer' ? null : (
        <details class="reveal" open={isInvalid}>
          <summary>Edit</summary>
          <form method="post" action={here} class="stack">
            {isInvalid ? <FormErrors form={form} /> : null}
            <Version form={form} value={versionOfPerson(person)} />
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
              value={linesOf(properties)}
              rows={Math.min(Object.keys(properties).length + 1, 12)}
              form={form}
              help="One per line, such as plan = pro. Existing contacts don’t change."
            />
            <Submit>Save</Submit>
          </form>
        </details>
      )}
    </Part>
  );
}

function Emails({ person: { suppressions, suppressed }, timeline, here, role, form }: Shown) {
  const mayRecord = role === 'owner';
  const hasUnsubscribed = suppressions.some(isOwnUnsubscribe);
  const times = (...whats: TimelineEntry['what'][]) =>
    timeline.filter(({ what }) => whats.includes(what)).length;
  return (
    <Part
      id="emails"
      title="Emails"
      act={suppressed ? <Suppressed why={suppressed} /> : <State kind="fine">Can be asked</State>}
    >
      <Facts
        facts={[
          ['Asked', counted(times('sent'), 'time')],
          ['Reminded', counted(times('reminded'), 'time')],
          ['Responded', counted(times('answered', 'answer_held'), 'time')],
        ]}
      />
      {suppressed ? <p>This person gets no surveys from you.</p> : null}
      {hasUnsubscribed ? (
        <p class="sub">
          This person unsubscribed. Only they can undo it, with the link in any of your emails
          {mayRecord ? ', unless you record their renewed consent' : ''}.
        </p>
      ) : null}
      {mayRecord && hasUnsubscribed ? (
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
    </Part>
  );
}

const suppressedKinds = {
  unsubscribed: 'warning',
  bounced: 'failed',
  blocked: 'skipped',
} satisfies Record<SuppressedAs, StateKind>;

export const Suppressed = ({ why }: { why: SuppressedAs }) => (
  <State kind={suppressedKinds[why]}>{capital(why)}</State>
);

type Step = { kind: StateKind; text: string; icon: IconName };

/** By event, and by its `reason_code` where that tells more. */
const steps: Readonly<Record<TimelineEntry['what'], Step> & Record<string, Step>> = {
  added: { kind: 'fine', text: 'Added to the survey', icon: 'user-plus' },
  claimed: { kind: 'waiting', text: 'Waiting to be sent', icon: 'send' },
  sending: { kind: 'waiting', text: 'Sending', icon: 'send' },
  sent: { kind: 'fine', text: 'Sent', icon: 'send' },
  reminded: { kind: 'fine', text: 'Reminder sent', icon: 'bell' },
  failed: { kind: 'failed', text: 'Not sent', icon: 'mail' },
  unknown: { kind: 'warning', text: 'Outcome unknown', icon: 'mail' },
  blocked: { kind: 'skipped', text: 'Blocked', icon: 'lock' },
  opened: { kind: 'fine', text: 'Opened the link', icon: 'monitor' },
  answered: { kind: 'fine', text: 'Responded', icon: 'circle-check' },
  answer_held: { kind: 'waiting', text: 'Responded, on hold', icon: 'circle-check' },
  replied: { kind: 'fine', text: 'Reply sent', icon: 'reply' },
  reply_sending: { kind: 'waiting', text: 'Sending a reply', icon: 'reply' },
  reply_failed: { kind: 'failed', text: 'Reply not sent', icon: 'reply' },
  reply_unknown: { kind: 'warning', text: 'Reply, outcome unknown', icon: 'reply' },
  delivered: { kind: 'fine', text: 'Delivered to a webhook', icon: 'webhook' },
  not_delivered: { kind: 'failed', text: 'Not delivered to a webhook', icon: 'webhook' },
  'not_delivered pending': {
    kind: 'waiting',
    text: 'Waiting for delivery to a webhook',
    icon: 'webhook',
  },
  'not_delivered skipped': {
    kind: 'skipped',
    text: 'Not delivered: the webhook was off',
    icon: 'webhook',
  },
  unsubscribed: { kind: 'warning', text: 'Unsubscribed', icon: 'x' },
  'unsubscribed by_hand': { kind: 'skipped', text: 'Blocked by a member', icon: 'x' },
  bounced: { kind: 'failed', text: 'Bounced: the mailbox does not exist', icon: 'triangle-alert' },
  allowed: { kind: 'fine', text: 'Unblocked', icon: 'shield-check' },
  'allowed own_wish': { kind: 'fine', text: 'Subscribed again', icon: 'shield-check' },
  'allowed consent': { kind: 'fine', text: 'Consent renewed', icon: 'shield-check' },
};
