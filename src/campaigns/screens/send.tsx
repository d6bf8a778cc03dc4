import type { Context } from 'hono';
import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import { capital, notFound } from '../../errors.ts';
import { isInCalendar } from '../../lib/validation/parse.ts';
import { getOrganization } from '../../organizations/queries.ts';
import { listSegments, type Segment, versionOfSegment } from '../../people/segments.ts';
import { findReader } from '../../sends/test-mail.ts';
import type { ScreenEnv } from '../../sessions/session.ts';
import { getOrgSurvey, type ManagedSurvey } from '../../surveys/queries.ts';
import { anyPerson, fillIn, languageFor, textsIn } from '../../surveys/texts.ts';
import {
  FormErrors,
  Notice,
  Part,
  State,
  type StateKind,
  Time,
  toneOf,
} from '../../web/app/badges.tsx';
import { StackedBar } from '../../web/app/drawings.tsx';
import {
  Field,
  type FormState,
  LinkButton,
  optionalNumber,
  optionalText,
  Select,
} from '../../web/app/forms.tsx';
import { Icon } from '../../web/app/icon.tsx';
import { count, counted, DataTable, EmptyState, Facts } from '../../web/app/lists.tsx';
import { renderSurveyScreen } from '../../web/app/survey-screen.tsx';
import type { AdvanceTools } from '../advance.ts';
import { type CampaignRecord, PerHour } from '../api.ts';
import { type JudgementView, viewJudgement } from '../campaign.ts';
import { searchAskable } from '../judge.ts';
import { type CampaignRun, listRuns } from '../queries.ts';
import { audienceOptions, filterOf, pendingContacts } from './audience.tsx';
import { repeatText } from './repeat.tsx';
import { SendPreview } from './send-preview.tsx';

export const sendTitle = (survey: string) => `Send ${survey}`;

export async function showSend(
  c: Context<ScreenEnv>,
  { db }: AdvanceTools,
  { surveyId, form }: { surveyId: string; form: FormState },
) {
  const { id: orgId, slug, role } = c.var.organization;
  const survey = await getOrgSurvey(db, orgId, surveyId);
  const segments = await listSegments(db, orgId);
  const audience = String(form.typed['audience'] ?? c.req.query('audience') ?? '');
  const { filter, segment, isKnown } = filterOf(audience, segments);
  if (!isKnown && c.req.method === 'GET') throw notFound('segment');
  const here = `/o/${slug}/surveys/${surveyId}`;
  const title = sendTitle(survey.name);
  const render = (body: Child) => renderSurveyScreen(c, { survey, tab: 'send', title, body, form });
  const audienceForm = (
    <AudienceForm
      segments={segments}
      audience={audience}
      form={form}
      here={here}
      people={`/o/${slug}/people`}
    />
  );
  if (!isKnown) {
    return render(
      <>
        <FormErrors form={form} />
        {audienceForm}
      </>,
    );
  }
  const [judgement, organization, runs] = await Promise.all([
    viewJudgement(db, { orgId, surveyId }, filter),
    getOrganization(db, orgId),
    listRuns(db, { orgId, surveyId }),
  ]);
  const text = c.req.query('recipient')?.trim() ?? '';
  const rules = { text, frequencyDays: organization.frequency_days, filter };
  const matches = text === '' ? [] : await searchAskable(db, { orgId, surveyId }, rules);
  const match = matches.find(({ judgement }) => 'send' in judgement);
  const chosen = match && (await findReader(db, { orgId, surveyId }, match.id));
  const reader = chosen ?? judgement.reader;
  const isEditor = role !== 'viewer';
  const query = audience === '' ? '' : `?${new URLSearchParams({ audience })}`;
  return render(
    <>
      <div class={reader ? 'grid editor' : undefined}>
        <div class="stack">
          <Recipients judgement={judgement} isAudience={audience !== ''} />
          {isEditor ? audienceForm : null}
          <SkippedContacts judgement={judgement} csv={`${here}/send/judgement.csv${query}`} />
          <SendForm
            survey={survey}
            judgement={judgement}
            reader={reader}
            form={form}
            here={here}
            audience={audience}
            segment={segment}
            timeZone={organization.time_zone}
            canSend={isEditor}
          />
        </div>
        <SendPreview
          judgement={judgement}
          reader={reader}
          audience={audience}
          text={text}
          matches={matches}
          survey={here}
          canTest={isEditor}
        />
      </div>
      <Campaigns runs={runs} here={here} />
    </>,
  );
}

function Campaigns({ runs, here }: { runs: readonly CampaignRun[]; here: string }) {
  if (runs.length === 0) return null;
  return (
    <section class="card" aria-labelledby="campaigns">
      <h2 id="campaigns">Campaigns</h2>
      <DataTable
        caption="Campaigns, automatic sends and reminders of this survey"
        nowrap
        columns={[
          'Campaign',
          { head: 'Status', phone: 'beside' },
          { head: 'Sent', number: true },
          { head: 'Failed', number: true },
          { head: 'Skipped', number: true },
          { head: 'Waiting', number: true },
        ]}
        rows={runs.map((each) => ({ cells: cellsOf(each, here) }))}
      />
    </section>
  );
}

function cellsOf(run: CampaignRun, here: string) {
  const { id, kind, name, status, sent, failed, duplicates, invalid, remaining } = run;
  const [state, word] = statusWords[status];
  return [
    <a href={`${here}/send/${id}`}>
      {kind === 'campaign' ? (
        <Time at={run.started_at ?? run.send_at ?? run.created_at} />
      ) : (
        runTitle(run)
      )}
      <span class="hidden">, {name}</span>
    </a>,
    <State kind={state}>{neverStarted(run) ? `${word} before it started` : word}</State>,
    ...[sent, failed, duplicates + invalid, remaining].map((each) => count(each)),
  ];
}

const neverStarted = ({ status, started_at }: CampaignRecord) =>
  status === 'stopped' && started_at === null;

type RecipientsProps = { judgement: JudgementView; isAudience: boolean };

function Recipients({ judgement, isAudience }: RecipientsProps) {
  const { mailed, blocked, invalid, alreadyAsked } = judgement;
  const total = mailed + blocked + invalid + alreadyAsked;
  if (total === 0 && !isAudience) {
    return (
      <div class="card">
        <EmptyState title="No contacts to send to yet" icon="users" />
      </div>
    );
  }
  return (
    <section class="card" aria-labelledby="judgement">
      <h2 id="judgement" class="figure">
        {count(mailed)} <small>{mailed === 1 ? 'recipient' : 'recipients'}</small>
      </h2>
      <p class="sub">{sentence(judgement, total, isAudience)}</p>
      {total > 0 ? (
        <Counts
          counts={[
            { state: 'fine', name: 'Recipients', value: mailed },
            { state: 'skipped', name: 'Skipped', value: total - mailed },
          ]}
        />
      ) : null}
    </section>
  );
}

type CountsProps = { counts: readonly { state: StateKind; name: string; value: number }[] };

export const Counts = ({ counts }: CountsProps) => (
  <>
    <StackedBar parts={counts.map(({ state, value }) => ({ tone: toneOf[state], share: value }))} />
    <dl class="counts">
      {counts.map(({ state, name, value }) => (
        <div>
          <dt class={`key ${toneOf[state]}`}>{name}</dt>
          <dd>{count(value)}</dd>
        </div>
      ))}
    </dl>
  </>
);

function sentence(judgement: JudgementView, total: number, isAudience: boolean): string {
  const { mailed, alreadyAsked, blocked } = judgement;
  if (total === 0) return 'Nobody matches this audience.';
  if (mailed + blocked === 0 && alreadyAsked > 0)
    return 'Every contact of this survey has already been asked.';
  const all = isAudience
    ? `${counted(total, 'person', 'people')} in the audience`
    : counted(total, 'contact');
  const rest = total - mailed;
  const text =
    rest === 0
      ? `All ${all}.`
      : `The other ${count(rest)} of ${all} ${rest === 1 ? 'is' : 'are'} skipped.`;
  return `${text} Nothing has been sent yet.`;
}

type AudienceProps = {
  segments: readonly Segment[];
  audience: string;
  form: FormState;
  here: string;
  people: string;
};

const startFields = ['when', 'send_at', 'per_hour'];

/** Chooses another audience to review, with the same start. The send form keeps the audience that was reviewed. */
const AudienceForm = ({ segments, audience, form, here, people }: AudienceProps) => (
  <section class="card stack" aria-labelledby="audience-title">
    <h2 id="audience-title">Audience</h2>
    <form method="get" action={`${here}/send`} class="test">
      {Object.entries(form.typed).map(([name, value]) =>
        startFields.includes(name) ? <input type="hidden" name={name} value={value} /> : null,
      )}
      <Select
        name="audience"
        label="Send to"
        size="wide"
        value={audience}
        form={form}
        options={audienceOptions(pendingContacts, segments, [audience])}
      />
      <button type="submit">Show recipients</button>
    </form>
    <p class="sub">
      {audience === ''
        ? 'Contacts of this survey that have not received it.'
        : 'People who are not contacts of this survey yet are added when the campaign starts.'}{' '}
      <a href={`${people}/segments`}>Segments</a>
    </p>
  </section>
);

function SkippedContacts({ judgement, csv }: { judgement: JudgementView; csv: string }) {
  const { reasons, blocked, invalid, alreadyAsked } = judgement;
  const others = blocked + invalid + alreadyAsked;
  if (others === 0) return null;
  return (
    <Part
      id="why"
      title={`Why ${count(others)} ${others === 1 ? 'is' : 'are'} skipped`}
      act={<LinkButton href={csv} text="Download all (CSV)" icon="download" mini />}
    >
      <DataTable
        caption="Reasons with the number of contacts and what you can do"
        columns={[
          'Reason',
          { head: 'What you can do', phone: 'line' },
          { head: 'Contacts', number: true, phone: 'beside' },
        ]}
        rows={reasons.map((reason) => ({
          cells: [
            <Reason {...reason} />,
            <span class="soft">{reasonText(reason.code).advice}</span>,
            count(reason.people),
          ],
        }))}
      />
    </Part>
  );
}

function Reason({ code, people, examples }: JudgementView['reasons'][number]) {
  const { reason } = reasonText(code);
  const more = people - examples.length;
  if (examples.length === 0) return <span title={code}>{reason}</span>;
  return (
    <details class="reveal">
      <summary title={code}>{reason}</summary>
      <ul class="sub">
        {examples.map((example) => (
          <li>
            <bdi>{example.email}</bdi>
            {example.remark ? `, ${example.remark}` : ''}
          </li>
        ))}
        {more > 0 ? <li>{counted(more, 'more', 'more')}</li> : null}
      </ul>
    </details>
  );
}

const reasonTexts: Readonly<Record<string, { reason: string; advice: string }>> = {
  already_sent: {
    reason: 'Already received or answered this survey',
    advice: 'Each address is asked once per survey and round.',
  },
  in_flight: {
    reason: 'Already in another send',
    advice: 'See that send for the outcome.',
  },
  unknown_outcome: {
    reason: 'An earlier email may have arrived',
    advice: 'Emails with an unknown outcome are not sent again.',
  },
  unsubscribed: {
    reason: 'Unsubscribed',
    advice:
      'Only the person can undo this. If a member blocked the address, an editor can unblock it.',
  },
  bounced: {
    reason: 'Mailbox does not exist',
    advice: 'An earlier email bounced. If the address works now, unblock it under People.',
  },
  frequency: {
    reason: 'Recently received another survey',
    advice: 'Try again later, or change the survey frequency in Settings.',
  },
  erased: { reason: 'Erased', advice: 'An owner can unblock the address.' },
  invalid_email: {
    reason: 'Not a valid address',
    advice: 'Correct these rows and upload the list again.',
  },
  send_limit: {
    reason: 'Monthly email limit reached',
    advice: 'An operator can raise the limit.',
  },
  stopped: { reason: 'The campaign was stopped', advice: 'Start another campaign.' },
  refused: { reason: 'Refused by the mail server', advice: 'Retried in the next campaign.' },
  deadline: { reason: 'Could not be sent in time', advice: 'Retried in the next campaign.' },
};

export const reasonText = (code: string) =>
  reasonTexts[code] ?? { reason: 'Cannot be sent', advice: 'See the CSV for details.' };

export function runTitle({ kind, reminder, after_days }: CampaignRun): string {
  const days = counted(after_days ?? 0, 'day');
  if (kind === 'reminder') return `Reminder ${reminder}, after ${days}`;
  return kind === 'round' ? `Rounds every ${days}` : `Automatic send after ${days}`;
}

export const statusWords = {
  scheduled: ['waiting', 'Scheduled'],
  running: ['waiting', 'Running'],
  paused: ['skipped', 'Paused'],
  finished: ['fine', 'Finished'],
  stopped: ['failed', 'Stopped'],
  refused: ['failed', 'Refused'],
} as const;

export const resultWords = {
  waiting: ['waiting', 'Waiting'],
  sent: ['fine', 'Sent'],
  duplicate: ['skipped', 'Skipped'],
  invalid: ['failed', 'Invalid'],
  failed: ['failed', 'Failed'],
} as const;

type SendFormProps = {
  survey: ManagedSurvey;
  judgement: JudgementView;
  reader: JudgementView['reader'];
  timeZone: string;
  form: FormState;
  /** The path of the survey. */
  here: string;
  audience: string;
  segment: Segment | undefined;
  canSend: boolean;
};

function SendForm(props: SendFormProps) {
  const { survey, judgement, form, here, audience, segment, canSend } = props;
  const refusal = canSend
    ? refusalFor(survey, judgement, audience !== '')
    : 'Editors and owners can send.';
  const isEmpty = refusal === 'This survey has no contacts yet.';
  return (
    <form method="post" action={`${here}/send`} class="stack">
      <FormErrors form={form} />
      <input type="hidden" name="audience" value={audience} />
      {segment ? <input type="hidden" name="version" value={versionOfSegment(segment)} /> : null}
      <Mail {...props} />
      {refusal === null ? <When {...props} /> : null}
      {refusal === null || isEmpty ? null : <Notice kind="warning" text={refusal} />}
      <div class="acts">
        {refusal === null ? (
          <button type="submit" class="primary">
            <Icon name="send" />
            Send
          </button>
        ) : null}
        {canSend ? (
          <LinkButton
            href={`${here}/contacts`}
            text={isEmpty ? 'Add contacts' : 'Back to contacts'}
            kind={isEmpty ? 'primary' : 'quiet'}
          />
        ) : null}
      </div>
      {refusal === null ? (
        <p class="sub">
          {counted(judgement.mailed, 'email')}. You can pause or stop the campaign at any time. Sent
          emails can’t be recalled.
        </p>
      ) : null}
    </form>
  );
}

function refusalFor(
  survey: ManagedSurvey,
  judgement: JudgementView,
  isAudience: boolean,
): string | null {
  const { mailed, blocked, alreadyAsked, used, monthlyLimit } = judgement;
  if (survey.status === 'draft') return 'This survey is a draft. Open it before sending.';
  if (survey.completed_by === 'hand') return 'This survey is closed. Reopen it before sending.';
  if (mailed === 0 && isAudience) return 'Nobody in this audience can be emailed.';
  if (mailed === 0) {
    if (blocked + alreadyAsked === 0) return 'This survey has no contacts yet.';
    return survey.reminders.length > 0
      ? 'No contacts left to email. Add contacts, or wait for the reminders.'
      : 'No contacts left to email. Add contacts first.';
  }
  return used + mailed > monthlyLimit
    ? `Only ${counted(monthlyLimit - used, 'email')} left this month, so nothing would be sent.`
    : null;
}

function Mail({ survey, judgement, reader, here, canSend }: SendFormProps) {
  const { used, monthlyLimit, mailed } = judgement;
  const left = Math.max(monthlyLimit - used - mailed, 0);
  const { send_window, reminders } = survey;
  return (
    <section class="card" aria-labelledby="details">
      <h2 id="details">Details</h2>
      <Facts
        facts={[
          ['From', <bdi>{`${survey.from_name}, ${survey.from_email}`}</bdi>],
          ['Subject', <bdi>{subjectFor(survey, reader)}</bdi>],
          [
            'This month',
            `${count(used)} of ${counted(monthlyLimit, 'email')} used; ${count(left)} left after this send`,
          ],
          ['Sending hours', send_window ? windowText(send_window) : 'Any time'],
          [
            'Rounds',
            <>
              {repeatText(survey)} {canSend ? <a href={`${here}/repeat`}>Edit</a> : null}
            </>,
          ],
          [
            'Reminders',
            <>
              {reminderText(reminders)} {canSend ? <a href={`${here}/edit`}>Edit</a> : null}
            </>,
          ],
        ]}
      />
    </section>
  );
}

function subjectFor(survey: ManagedSurvey, reader: JudgementView['reader']) {
  const person = reader ?? anyPerson;
  const language = languageFor(survey, { property: person.properties['language'] });
  const { subject, question_text } = textsIn(survey, language);
  return fillIn(subject ?? question_text, person);
}

const windowText = ({ days, from, to, time_zone }: NonNullable<ManagedSurvey['send_window']>) =>
  `${days.map(capital).join(', ')}, ${from} to ${to}, ${time_zone}`;

function reminderText(reminders: ManagedSurvey['reminders']): string {
  if (reminders.length === 0) return 'None';
  const days = reminders.map(({ after_days }) => String(after_days)).join(', ');
  return `After ${days} ${days === '1' ? 'day' : 'days'} without a response`;
}

function When({ form, timeZone }: Pick<SendFormProps, 'form' | 'timeZone'>) {
  const isLater = form.typed['when'] === 'at';
  return (
    <section class="card stack when" aria-labelledby="when">
      <h2 id="when">When to send</h2>
      <fieldset class="pair">
        <legend class="hidden">When</legend>
        <label class="pick">
          <input type="radio" name="when" value="now" checked={!isLater} /> <span>Now</span>
        </label>
        <label class="pick">
          <input type="radio" name="when" value="at" checked={isLater} /> <span>Schedule</span>
        </label>
      </fieldset>
      <div class="pair">
        <div class="later">
          <Field name="send_at" label={`Time (${timeZone})`} type="datetime-local" form={form} />
          <p class="sub" data-own-time={timeZone} hidden />
        </div>
        <Field
          name="per_hour"
          label="Emails per hour"
          type="number"
          inputmode="numeric"
          min={1}
          max={1_000_000}
          form={form}
          help="Spread evenly. Leave empty to send as fast as possible."
        />
      </div>
    </section>
  );
}

export const SendFormFields = v.object({
  audience: v.optional(v.string(), ''),
  when: v.optional(v.picklist(['now', 'at'], 'must be now or at'), 'now'),
  send_at: optionalText(
    v.pipe(
      v.string(),
      v.regex(/^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):\d\d(:\d\d)?$/, 'must be a date and time'),
      v.check(isInCalendar, 'must be a time that exists'),
    ),
  ),
  per_hour: optionalNumber(PerHour),
});

/** Returns the start, null to start at once, or an error. Times are in the organization's time zone. */
export function readStart(
  timeZone: string,
  { when, send_at }: v.InferOutput<typeof SendFormFields>,
): Date | null | string {
  if (when === 'now') return null;
  if (send_at === null) return 'Enter a time.';
  const local = Temporal.PlainDateTime.from(send_at);
  const at = local.toZonedDateTime(timeZone).epochMilliseconds;
  return at <= Date.now() ? 'This time has passed.' : new Date(at);
}
