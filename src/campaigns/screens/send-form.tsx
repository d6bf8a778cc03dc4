import type { ManagedSurvey } from '../../surveys/manage.queries.ts';
import { Field } from '../../web/app/fields.tsx';
import { count, counted, Facts } from '../../web/app/lists.tsx';
import { Mistakes } from '../../web/app/marks.tsx';
import type { FormState } from '../../web/app/read-form.ts';
import type { JudgementView } from '../judgement.ts';

export type SendFormProps = {
  survey: ManagedSurvey;
  judgement: JudgementView;
  timeZone: string;
  form: FormState;
  here: string;
  paths: { contacts: string; edit: string };
  maySend: boolean;
};

/** What will be sent, and when. */
export function SendForm(props: SendFormProps) {
  const { survey, judgement, form, here, paths, maySend } = props;
  const refusal = maySend ? whyNot(survey, judgement) : 'Editors and owners can send.';
  const isEmpty = refusal === 'This survey has no contacts yet.';
  return (
    <form method="post" action={here} class="fields">
      <Mistakes form={form} />
      <Mail survey={survey} judgement={judgement} edit={paths.edit} />
      {refusal === null ? <When {...props} /> : null}
      {refusal === null || isEmpty ? null : (
        <p class="notice is-warning">
          <span>{refusal}</span>
        </p>
      )}
      <div class="actions">
        {refusal === null ? (
          <button type="submit" class="primary">
            Send
          </button>
        ) : null}
        <a class={isEmpty ? 'button primary' : 'more'} href={paths.contacts}>
          {isEmpty ? 'Add contacts' : 'Back to the list'}
        </a>
      </div>
      {refusal === null ? (
        <p class="small soft">
          You can pause or stop while it runs. A mail that was sent cannot be recalled.
        </p>
      ) : null}
    </form>
  );
}

/** What a campaign would be refused for. */
function whyNot(survey: ManagedSurvey, judgement: JudgementView): string | null {
  const { mailed, blocked, alreadyAsked, used, monthlyLimit } = judgement;
  if (survey.status === 'draft') return 'The survey is a draft: open it before sending it.';
  if (survey.completed_by === 'hand')
    return 'The survey is closed: it cannot be sent. Reopen it first.';
  if (mailed === 0) {
    if (blocked + alreadyAsked === 0) return 'This survey has no contacts yet.';
    return survey.reminders.length > 0
      ? 'No contact is left to mail. Add contacts, or wait for the reminders.'
      : 'No contact is left to mail. Add contacts first.';
  }
  return used + mailed > monthlyLimit
    ? `The month has ${counted(monthlyLimit - used, 'mail')} left, which is too few: nothing would be sent.`
    : null;
}

type MailProps = { survey: ManagedSurvey; judgement: JudgementView; edit: string };

function Mail({ survey, judgement, edit }: MailProps) {
  const { used, monthlyLimit, mailed } = judgement;
  const left = Math.max(monthlyLimit - used - mailed, 0);
  const { send_window, reminders } = survey;
  return (
    <Facts
      facts={[
        ['From', <bdi>{`${survey.from_name}, ${survey.from_email}`}</bdi>],
        [
          'Subject',
          <>
            <bdi>{survey.subject ?? survey.question_text}</bdi> <a href={edit}>See the mail</a>
          </>,
        ],
        [
          'This month',
          `${count(used)} of ${counted(monthlyLimit, 'mail')} used; ${count(left)} left after this`,
        ],
        ['Hours', send_window ? windowWords(send_window) : 'At any time'],
        [
          'Reminders',
          <>
            {reminderWords(reminders)} <a href={edit}>Change</a>
          </>,
        ],
      ]}
    />
  );
}

const dayNames = {
  mon: 'Mon',
  tue: 'Tue',
  wed: 'Wed',
  thu: 'Thu',
  fri: 'Fri',
  sat: 'Sat',
  sun: 'Sun',
};

const windowWords = ({ days, from, to, time_zone }: NonNullable<ManagedSurvey['send_window']>) =>
  `${days.map((day) => dayNames[day]).join(', ')}, ${from} to ${to}, ${time_zone}`;

function reminderWords(reminders: ManagedSurvey['reminders']): string {
  if (reminders.length === 0) return 'None';
  const days = reminders.map(({ after_days }) => String(after_days)).join(', ');
  return `After ${days} ${days === '1' ? 'day' : 'days'} without an answer`;
}

function When({ form, timeZone }: Pick<SendFormProps, 'form' | 'timeZone'>) {
  const isLater = form.typed['when'] === 'at';
  return (
    <>
      <fieldset class="when">
        <legend>When</legend>
        <label class="tick">
          <input type="radio" name="when" value="now" checked={!isLater} /> <span>Now</span>
        </label>
        <label class="tick">
          <input type="radio" name="when" value="at" checked={isLater} /> <span>At a time</span>
        </label>
        <div class="later">
          <Field name="send_at" label={`Time (${timeZone})`} type="datetime-local" form={form} />
        </div>
      </fieldset>
      <Field
        name="per_hour"
        label="Mails an hour"
        type="number"
        inputmode="numeric"
        min={1}
        max={1_000_000}
        form={form}
        help="Spread evenly. Empty: as fast as the mail server takes them."
      />
    </>
  );
}
