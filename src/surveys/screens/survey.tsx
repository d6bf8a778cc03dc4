import type { Context } from 'hono';
import type { Child } from 'hono/jsx';
import { percentage, scaleNames } from '../../scores.ts';
import type { ScreenEnv } from '../../sessions/session.ts';
import { count, counted, Facts } from '../../web/app/lists.tsx';
import { Time } from '../../web/app/marks.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import type { ManagedSurvey } from '../manage.queries.ts';
import type { ReachedContacts, ScoreCount } from '../screen.queries.ts';
import { Distribution, Figure } from './figure.tsx';
import { mayEdit, StatusMark, SurveyTabs, surveysPath } from './parts.tsx';

const completed = {
  answers: 'Every contact has answered. Its link still takes answers.',
  hand: 'It was closed: its links say so.',
} as const;

export const periods = { '7d': '7 days', '30d': '30 days', '90d': '90 days', '365d': '365 days' };
export type SurveyPeriod = keyof typeof periods | null;

type SurveyNumbers = {
  survey: ManagedSurvey;
  scores: readonly ScoreCount[];
  reached: ReachedContacts;
  period: SurveyPeriod;
  trend: Child;
};

/** A survey's own numbers, in the way of its scale. */
export function renderSurvey(c: Context<ScreenEnv>, props: SurveyNumbers) {
  const { survey } = props;
  const { organization } = c.var;
  const here = surveysPath(organization);
  return renderScreen(c, {
    title: survey.name,
    heading: <bdi>{survey.name}</bdi>,
    section: 'surveys',
    trail: [{ text: 'Surveys', href: here }],
    actions: <SurveyActs c={c} survey={survey} />,
    body: (
      <div class="survey">
        <div class="views">
          <SurveyTabs organization={organization} id={survey.id} current="numbers" />
          <Periods here={`${here}/${survey.id}`} period={props.period} />
        </div>
        <Numbers {...props} organization={organization} />
      </div>
    ),
  });
}

/** What the reader may do with the survey; dangerous acts lead to a page of their own. */
function SurveyActs({ c, survey }: { c: Context<ScreenEnv>; survey: ManagedSurvey }) {
  if (!mayEdit(c)) return null;
  const here = `${surveysPath(c.var.organization)}/${survey.id}`;
  const post = (act: string, text: string) => (
    <form method="post" action={`${here}/${act}`}>
      <button type="submit">{text}</button>
    </form>
  );
  return (
    <>
      <a class="button" href={`${here}/edit`}>
        Edit
      </a>
      {survey.status === 'draft' ? post('open', 'Open') : null}
      {survey.status === 'completed' ? post('reopen', 'Reopen') : null}
      {survey.completed_by === 'hand' ? null : (
        <a class="button" href={`${here}/close`}>
          Close
        </a>
      )}
      {post('copy', 'Copy')}
      {c.var.organization.role === 'owner' ? (
        <a class="button danger" href={`${here}/delete`}>
          Delete
        </a>
      ) : null}
    </>
  );
}

type NumbersProps = SurveyNumbers & { organization: { slug: string } };

function Numbers({ survey, scores, reached, period, trend, organization }: NumbersProps) {
  return (
    <>
      <div class="columns score">
        <Figure survey={survey} scores={scores} period={period} />
        {scores.length === 0 ? <div /> : <Distribution survey={survey} scores={scores} />}
      </div>
      {trend}
      <section aria-labelledby="about">
        <h2 id="about">About this survey</h2>
        <Facts
          facts={[
            ['Status', <StatusOf survey={survey} />],
            ['Question', <bdi>{survey.question_text}</bdi>],
            ['Scale', scaleNames[survey.type]],
            ['Sender', <bdi>{`${survey.from_name} <${survey.from_email}>`}</bdi>],
            ['Asked by mail', `${count(reached.sent)} of ${counted(reached.contacts, 'contact')}`],
            ['Answered by mail', answeredOf(reached)],
            ['Created', <Time at={survey.created_at} />],
          ]}
        />
        <p>
          <a href={`/o/${organization.slug}/responses?survey_id=${survey.id}`}>All its responses</a>{' '}
          and{' '}
          <a href={`/o/${organization.slug}?survey_id=${survey.id}&compare=#compare`}>
            its score over time and by property
          </a>
        </p>
      </section>
    </>
  );
}

const answeredOf = ({ responded, sent }: ReachedContacts) =>
  sent === 0 ? 'not sent yet' : `${count(responded)} (${percentage(responded, sent)}%)`;

const StatusOf = ({ survey: { status, completed_by } }: { survey: ManagedSurvey }) => (
  <>
    <StatusMark status={status} />
    {completed_by ? <span class="small soft block">{completed[completed_by]}</span> : null}
  </>
);

function Periods({ here, period }: { here: string; period: SurveyPeriod }) {
  const choices = [[null, 'All time'], ...Object.entries(periods)] as const;
  return (
    <nav aria-label="Period">
      <ul class="segments">
        {choices.map(([name, text]) => (
          <li>
            <a
              href={name === null ? here : `${here}?period=${name}`}
              aria-current={name === period ? 'page' : undefined}
            >
              {text.replace('days', 'd')}
              {name === null ? null : <span class="rest">ays</span>}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
