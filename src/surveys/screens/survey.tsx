import type { Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import type { Writer } from '../../audit/acts.ts';
import { type PeriodName, periodDays, periodIn } from '../../home/rules.ts';
import { surveyTrend } from '../../home/score.tsx';
import type { Db } from '../../lib/db/db.ts';
import { readResults } from '../../questions/results.ts';
import { QuestionResults } from '../../questions/results-section.tsx';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { percentage, typeFacts } from '../../survey-types.ts';
import { Confirm, Time } from '../../web/app/badges.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import { emptyForm, type FormState, readForm, withFieldError } from '../../web/app/forms.tsx';
import { count, counted, Facts, LinkSegments } from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { renderSurveyScreen, SurveyStatus } from '../../web/app/survey-screen.tsx';
import { closeSurvey, copySurvey, deleteSurvey, openSurvey, reopenByHand } from '../lifecycle.ts';
import { countReached, countScores, type ManagedSurvey } from '../queries.ts';
import { canEdit, Figure, surveyOf, surveyPath, surveysPath } from './parts.tsx';
import { Rounds, readRounds } from './rounds.tsx';

const completionTexts = {
  answers: 'Every contact has responded. Its link still collects responses.',
  hand: 'Closed. Visitors see that the survey has ended.',
} as const;

export async function renderSurvey(c: Context<ScreenEnv>, db: Db, survey: ManagedSurvey) {
  const { org_id: orgId, id: surveyId, type } = survey;
  const { organization } = c.var;
  const here = surveyPath(c, survey);
  const responses = `/o/${organization.slug}/responses?survey_id=${surveyId}`;
  const period = periodIn(c.req.query('period'));
  const since = period && new Date(Date.now() - periodDays[period] * 86_400_000);
  const scores = await countScores(db, orgId, { surveyId, since });
  const firstAt = new Date(Math.min(...scores.map(({ first_at }) => first_at.getTime())));
  const [{ contacts, sent, responded }, trend, questions, rounds] = await Promise.all([
    countReached(db, orgId, surveyId),
    scores.length === 0 ? null : surveyTrend(db, { organization, survey, period, firstAt }),
    survey.questions.length === 0 ? [] : readResults(db, orgId, surveyId, since),
    readRounds(db, { orgId, surveyId }),
  ]);
  const status = (
    <>
      <SurveyStatus status={survey.status} />
      {survey.completed_by ? (
        <span class="sub block">{completionTexts[survey.completed_by]}</span>
      ) : null}
    </>
  );
  const rate = `${percentage(responded, sent)}% (${count(responded)})`;
  const body = (
    <>
      <Figure survey={survey} scores={scores} period={period} here={here} mayEdit={canEdit(c)} />
      {trend}
      <Rounds rounds={rounds} type={type} />
      <QuestionResults results={questions} type={type} survey={here} responses={responses} />
      <section class="card" aria-labelledby="about">
        <h2 id="about">About this survey</h2>
        <Facts
          facts={[
            ['Status', status],
            ['Question', <bdi>{survey.question_text}</bdi>],
            ['Scale', typeFacts(type).name],
            ['Sender', <bdi>{`${survey.from_name} <${survey.from_email}>`}</bdi>],
            ['Sent', `${count(sent)} of ${counted(contacts, 'contact')}`],
            ['Response rate', sent === 0 ? 'Not sent yet' : rate],
            ['Created', <Time at={survey.created_at} />],
          ]}
        />
        <p>
          <a href={responses}>View responses</a> ·{' '}
          <a href={`/o/${organization.slug}?survey_id=${surveyId}&compare=#compare`}>
            View trend and segments
          </a>
        </p>
      </section>
    </>
  );
  const actions = <Periods here={here} period={period} />;
  return renderSurveyScreen(c, { survey, tab: 'results', actions, body });
}

const Periods = ({ here, period }: { here: string; period: PeriodName | null }) => (
  <LinkSegments
    label="Period"
    links={[
      { text: 'All', href: here, current: period === null },
      ...Object.entries(periodDays).map(([name, days]) => ({
        text: `${days} days`,
        href: `${here}?period=${name}`,
        current: name === period,
      })),
    ]}
  />
);

type ActTools = { db: Db };
type Move = (tools: ActTools, by: Writer, surveyId: string) => Promise<unknown>;

export function addActions(app: Hono<ScreenEnv>, tools: ActTools) {
  const move = async (c: Context<ScreenEnv>, act: Move, done: string) => {
    const editor = requireRole(c, 'editor');
    const { id, name } = await surveyOf(c, tools.db);
    await act(tools, editor, id);
    return redirectWith(c, surveyPath(c, { id }), `“${name}” ${done}`);
  };
  return app
    .post('/:id/open', (c) =>
      move(c, openSurvey, 'opened. You can now send it and collect responses.'),
    )
    .post('/:id/reopen', (c) => move(c, reopenByHand, 'reopened.'))
    .post('/:id/close', (c) =>
      move(c, closeSurvey, 'closed. Visitors see that the survey has ended.'),
    )

    .get('/:id/close', async (c) => {
      requireRole(c, 'editor');
      const survey = await surveyOf(c, tools.db);
      const here = surveyPath(c, survey);
      const body = (
        <Confirm action={`${here}/close`} button="Close" cancel={here}>
          <p>
            The survey stops sending and collecting responses. Existing responses stay, and you can
            reopen it at any time.
          </p>
        </Confirm>
      );
      return renderConfirm(c, survey, { title: 'Close', body });
    })

    .post('/:id/copy', async (c) => {
      const editor = requireRole(c, 'editor');
      const { id } = await surveyOf(c, tools.db);
      const copy = await copySurvey(tools, editor, id);
      return redirectWith(
        c,
        `${surveyPath(c, copy)}/edit`,
        `“${copy.name}” created as a draft with the same texts and settings.`,
      );
    })

    .get('/:id/delete', async (c) => {
      requireRole(c, 'owner');
      return showDelete(c, tools, { survey: await surveyOf(c, tools.db), form: emptyForm() });
    })
    .post('/:id/delete', async (c) => {
      const owner = requireRole(c, 'owner');
      const survey = await surveyOf(c, tools.db);
      const { values } = await readForm(c, v.object({ name: v.optional(v.string(), '') }));
      if (values?.name.trim() !== survey.name) {
        const form = await withFieldError(c, { name: 'That doesn’t match the survey’s name.' });
        return showDelete(c, tools, { survey, form });
      }
      await deleteSurvey(tools, owner, { id: survey.id, withAnswers: true });
      return redirectWith(c, surveysPath(c.var.organization), `“${survey.name}” deleted.`);
    });
}

type ShownDelete = { survey: ManagedSurvey; form: FormState };

async function showDelete(c: Context<ScreenEnv>, { db }: ActTools, { survey, form }: ShownDelete) {
  const { id, name, org_id } = survey;
  const { contacts } = await countReached(db, org_id, id);
  const scores = await countScores(db, org_id, { surveyId: id, since: null });
  const answers = scores.reduce((sum, { count }) => sum + count, 0);
  const here = surveyPath(c, survey);
  const body = (
    <Confirm
      action={`${here}/delete`}
      button="Delete"
      cancel={here}
      typed={{ name: 'name', label: 'Survey name', expected: name }}
      form={form}
    >
      <p>
        This permanently deletes the survey with its {counted(contacts, 'contact')},{' '}
        {counted(answers, 'response')}, emails and totals.
      </p>
    </Confirm>
  );
  return renderConfirm(c, survey, { title: 'Delete', form, body });
}

type ConfirmScreen = { title: string; form?: FormState; body: Child };

function renderConfirm(
  c: Context<ScreenEnv>,
  survey: ManagedSurvey,
  { title, ...screen }: ConfirmScreen,
) {
  const { name } = survey;
  return renderScreen(c, {
    ...screen,
    title: `${title} “${name}”`,
    heading: (
      <>
        {title} “<bdi>{name}</bdi>”
      </>
    ),
    section: 'surveys',
    trail: [
      { text: 'Surveys', href: surveysPath(c.var.organization) },
      { text: name, href: surveyPath(c, survey) },
    ],
  });
}
