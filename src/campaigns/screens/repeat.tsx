import type { Context } from 'hono';
import { Hono } from 'hono';
import * as v from 'valibot';
import { idParam } from '../../lib/validation/parse.ts';
import { listSegments, type Segment } from '../../people/segments.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { changeSurvey, versionOfSurvey } from '../../surveys/lifecycle.ts';
import { getOrgSurvey, type ManagedSurvey } from '../../surveys/queries.ts';
import { EveryDays, maxEveryDays, minEveryDays, PerDay } from '../../surveys/schemas.ts';
import { FormErrors } from '../../web/app/badges.tsx';
import { Bar } from '../../web/app/drawings.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import {
  Checkbox,
  checkboxField,
  emptyForm,
  Field,
  type FormState,
  optionalNumber,
  readForm,
  readVersion,
  Select,
  Submit,
  tryAction,
  Version,
  withFieldError,
} from '../../web/app/forms.tsx';
import { count, counted, EmptyState } from '../../web/app/lists.tsx';
import { renderSurveyScreen } from '../../web/app/survey-screen.tsx';
import type { AdvanceTools } from '../advance.ts';
import type { ScheduledDay } from '../cycle.ts';
import { scheduleOf } from '../rounds.ts';
import { audienceOf, audienceOptions, choiceOf, filterOf, segmentDeleted } from './audience.tsx';

const RepeatFields = v.object({
  every_days: optionalNumber(EveryDays),
  per_day: optionalNumber(PerDay),
  spread: checkboxField,
  audience: v.optional(v.string(), ''),
});

export const repeatScreens = (tools: AdvanceTools) =>
  new Hono<ScreenEnv>()
    .get('/:id/repeat', async (c) => showRepeat(c, tools, await surveyOf(c, tools), emptyForm()))

    .post('/:id/repeat', async (c) => {
      const editor = requireRole(c, 'editor');
      const survey = await surveyOf(c, tools);
      const form = await readForm(c, RepeatFields);
      if (form.errors) return await showRepeat(c, tools, survey, form);
      const { every_days, per_day, spread } = form.values;
      const choice = form.values.audience;
      const stored = survey.repeat?.audience ?? null;
      const isStored = choice === choiceOf(stored);
      const segments = await listSegments(tools.db, editor.orgId);
      if (!isStored && !filterOf(choice, segments).isKnown) {
        const mistakes = await withFieldError(c, { audience: segmentDeleted });
        return await showRepeat(c, tools, survey, mistakes);
      }
      // The form cannot change a filter, but keeps it.
      const audience = isStored ? stored : audienceOf(choice);
      const repeat =
        every_days === null ? null : { every_days, audience, per_day, spread: Boolean(spread) };
      const ifMatch = await readVersion(c);
      const change = { id: survey.id, change: { repeat }, ifMatch };
      const fields = {
        every_days: survey.repeat?.every_days.toString(),
        per_day: survey.repeat?.per_day?.toString(),
      };
      const saved = await tryAction(c, {}, () => changeSurvey(tools, editor, change), {
        version: versionOfSurvey(survey),
        fields,
      });
      if ('errors' in saved) return await showRepeat(c, tools, survey, saved);
      const text = repeat ? 'Rounds saved.' : 'No more rounds will start.';
      return redirectWith(c, c.req.path, text);
    });

const surveyOf = (c: Context<ScreenEnv>, { db }: AdvanceTools) =>
  getOrgSurvey(db, c.var.organization.id, idParam(c, 'survey'));

async function showRepeat(
  c: Context<ScreenEnv>,
  tools: AdvanceTools,
  survey: ManagedSurvey,
  form: FormState,
) {
  const [days, segments] = await Promise.all([
    scheduleOf(tools, { orgId: survey.org_id, surveyId: survey.id }),
    listSegments(tools.db, survey.org_id),
  ]);
  return renderSurveyScreen(c, {
    survey,
    tab: 'send',
    title: `Repeat “${survey.name}”`,
    form,
    body: (
      <div class="grid half">
        {c.var.organization.role === 'viewer' ? (
          <section class="card" aria-labelledby="repeat">
            <h2 id="repeat">Repeat</h2>
            <p>{repeatText(survey)}.</p>
          </section>
        ) : (
          <RepeatForm survey={survey} segments={segments} form={form} action={c.req.path} />
        )}
        <Schedule days={days} />
      </div>
    ),
  });
}

export function repeatText({ repeat }: Pick<ManagedSurvey, 'repeat'>): string {
  if (!repeat) return 'Contacts are asked once';
  const { every_days, per_day, spread } = repeat;
  const parts = [
    `Every ${every_days} days`,
    spread && 'spread over the cycle',
    per_day !== null && `at most ${count(per_day)} per day`,
  ];
  return parts.filter(Boolean).join(', ');
}

type RepeatFormProps = {
  survey: ManagedSurvey;
  segments: readonly Segment[];
  form: FormState;
  action: string;
};

const RepeatForm = ({ survey, segments, form, action }: RepeatFormProps) => (
  <section class="card" aria-labelledby="repeat">
    <h2 id="repeat">Repeat</h2>
    <p class="sub">
      Asks the same contacts again in rounds. Each round has its own link and reminders.
    </p>
    <form method="post" action={action} class="stack">
      <FormErrors form={form} />
      <Version form={form} value={versionOfSurvey(survey)} />
      <Field
        name="every_days"
        label="Repeat every"
        type="number"
        inputmode="numeric"
        min={minEveryDays}
        max={maxEveryDays}
        value={survey.repeat?.every_days}
        form={form}
        help={`${minEveryDays} to ${maxEveryDays} days after the last email. Leave empty to ask each contact once.`}
      />
      <Select
        name="audience"
        label="Audience"
        value={choiceOf(survey.repeat?.audience)}
        form={form}
        options={audienceOptions('Contacts already asked', segments, [
          choiceOf(survey.repeat?.audience),
          String(form.typed['audience'] ?? ''),
        ])}
        help="People who join the audience later are asked as well."
      />
      <Checkbox
        name="spread"
        label="Spread evenly over the cycle"
        checked={survey.repeat?.spread ?? true}
        form={form}
        help="Each contact gets its own day. Otherwise contacts are asked as soon as they are due."
      />
      <Field
        name="per_day"
        label="Maximum contacts per day"
        type="number"
        inputmode="numeric"
        min={1}
        max={1_000_000}
        value={survey.repeat?.per_day}
        form={form}
        help="Contacts over the limit are asked the next day. Leave empty for no limit."
      />
      <Submit>Save</Submit>
    </form>
  </section>
);

function Schedule({ days }: { days: readonly ScheduledDay[] }) {
  const total = days.reduce((sum, each) => sum + each.count, 0);
  const most = Math.max(...days.map((each) => each.count));
  return (
    <section class="card" aria-labelledby="schedule">
      <h2 id="schedule">Next {days.length} days</h2>
      {total === 0 ? (
        <EmptyState title="No rounds scheduled">
          <p>The days of the next rounds appear here within a minute.</p>
        </EmptyState>
      ) : (
        <>
          <p class="sub">{counted(total, 'email')} will be sent in this period.</p>
          <ol class="ranges days nowrap">
            {days.map(({ date, count: contacts }) => (
              <li>
                <time datetime={date}>{dayText(date)}</time>
                <Bar part={contacts} whole={most} />
                <span class="n">{count(contacts)}</span>
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}

const dayFormat = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
});

const dayText = (date: string) => dayFormat.format(new Date(date));
