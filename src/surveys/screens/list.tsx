import type { Context } from 'hono';
import type { ScreenEnv } from '../../sessions/session.ts';
import { formatInterval, formatValue, measure, percentage, typeFacts } from '../../survey-types.ts';
import { Time } from '../../web/app/badges.tsx';
import { LinkButton } from '../../web/app/forms.tsx';
import { count, counted, DataTable, SearchedList } from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { SurveyStatus } from '../../web/app/survey-screen.tsx';
import type { ListedSurvey } from '../queries.ts';
import { canEdit, surveysPath } from './parts.tsx';

type SurveyListProps = {
  surveys: readonly ListedSurvey[];
  total: number;
  page: number;
  limit: number;
  search: string;
};

export function renderList(c: Context<ScreenEnv>, props: SurveyListProps) {
  const here = surveysPath(c.var.organization);
  return renderScreen(c, {
    title: 'Surveys',
    section: 'surveys',
    actions: canEdit(c) ? (
      <LinkButton href={`${here}/new`} text="New survey" kind="primary" />
    ) : null,
    body: <SurveyList {...props} here={here} />,
  });
}

function SurveyList({ surveys, search, here, ...meta }: SurveyListProps & { here: string }) {
  return (
    <SearchedList
      {...{ path: here, meta }}
      id="surveys"
      search={{
        name: 'search',
        label: 'Search',
        purpose: 'Find a survey',
        value: search,
        placeholder: 'Name',
      }}
      found={counted(meta.total, 'survey')}
      about="newest first"
      none={{
        title: 'No surveys yet',
        means: 'Create one to ask a question by email, by link or on your website.',
      }}
      noneFound={{ title: 'No surveys match', means: 'Try a shorter search.' }}
    >
      <DataTable
        caption="Surveys, newest first"
        nowrap
        columns={[
          { head: 'Name' },
          { head: 'Status' },
          { head: 'Responses', number: true },
          { head: 'Response rate', number: true },
          { head: 'Score', number: true },
          { head: 'Created' },
        ]}
        rows={surveys.map((survey) => ({
          id: `survey-${survey.id}`,
          cells: cellsOf(survey, here),
        }))}
      />
    </SearchedList>
  );
}

function cellsOf(survey: ListedSurvey, here: string) {
  const { id, name, type, audience, status, sent, responded, created_at } = survey;
  const { total, value, interval } = measure(type, survey, null);
  return [
    <>
      <a href={`${here}/${id}`}>
        <bdi>{name}</bdi>
      </a>
      <span class="sub block">
        {typeFacts(type).name}
        {audience ? ', employees' : ''}
      </span>
    </>,
    <SurveyStatus status={status} />,
    count(total),
    sent === 0 ? (
      <span class="soft">not sent</span>
    ) : (
      <>
        {percentage(responded, sent)}%
        <span class="sub block">
          {count(responded)} of {count(sent)}
        </span>
      </>
    ),
    value === null ? (
      <span class="soft">none</span>
    ) : (
      <>
        {formatValue(type, value)}
        <span class="sub block">
          {typeFacts(type).number}
          {interval === null ? '' : `, ${formatInterval(type, interval)}`}
        </span>
      </>
    ),
    <Time at={created_at} show="day" />,
  ];
}
