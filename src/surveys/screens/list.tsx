import type { Context } from 'hono';
import type { ScreenEnv } from '../../sessions/session.ts';
import { formatInterval, formatValue, measure, percentage, typeFacts } from '../../survey-types.ts';
import { Time } from '../../web/app/badges.tsx';
import { LinkButton } from '../../web/app/forms.tsx';
import { Icon } from '../../web/app/icon.tsx';
import {
  count,
  counted,
  DataTable,
  LinkSegments,
  SearchedList,
  withQuery,
} from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { SurveyStatus } from '../../web/app/survey-screen.tsx';
import type { ListedSurvey, SurveyListFilter } from '../queries.ts';
import { canEdit, surveysPath } from './parts.tsx';

type SurveyListProps = SurveyListFilter & {
  surveys: readonly ListedSurvey[];
  total: number;
  page: number;
  limit: number;
};

export function renderList(c: Context<ScreenEnv>, props: SurveyListProps) {
  const { surveys, search, status, ...meta } = props;
  const here = surveysPath(c.var.organization);
  const isEmpty = meta.total === 0 && search === '' && !status;
  const add = canEdit(c) && (
    <LinkButton href={`${here}/new`} text="New survey" kind="primary" icon="plus" />
  );
  const body = (
    <SearchedList
      path={here}
      meta={meta}
      id="surveys"
      search={{
        name: 'search',
        label: 'Search',
        purpose: 'Find a survey',
        value: search,
        placeholder: 'Search surveys',
      }}
      found={counted(meta.total, 'survey')}
      about={<StatusViews search={search} status={status} here={here} />}
      {...(status && { kept: { status } })}
      none={{
        title: 'No surveys yet',
        icon: 'clipboard-list',
        means: 'Create one to ask a question by email, by link or on your website.',
        act: add,
      }}
      noneFound={{ title: 'No surveys match', means: 'Try a shorter search or another status.' }}
    >
      <DataTable
        caption="Surveys, newest first"
        nowrap
        columns={[
          { head: 'Name' },
          { head: 'Score', number: true, phone: 'line' },
          { head: 'Responses', number: true },
          { head: 'Response rate', number: true, after: ' responded' },
          { head: 'Created', phone: 'absent' },
          { head: 'Status', phone: 'beside' },
        ]}
        rows={surveys.map((survey) => ({ cells: cellsOf(survey, here) }))}
      />
    </SearchedList>
  );
  const actions = isEmpty ? null : add;
  return renderScreen(c, { title: 'Surveys', section: 'surveys', actions, body });
}

const statusViews = { '': 'All', active: 'Open', draft: 'Drafts', completed: 'Closed' } as const;

const StatusViews = ({ search, status, here }: SurveyListFilter & { here: string }) => (
  <LinkSegments
    label="Status"
    links={Object.entries(statusViews).map(([value, text]) => ({
      text,
      href: withQuery(here, { search, status: value }),
      current: value === (status ?? ''),
    }))}
  />
);

const iconOf = { number: 'gauge', face: 'smile', star: 'star', thumb: 'thumbs-up' } as const;

function cellsOf(survey: ListedSurvey, here: string) {
  const { id, name, question_text, type, audience, status, sent, responded, created_at } = survey;
  const { total, value, interval } = measure(type, survey, null);
  return [
    <div class="person">
      <span class="badge">
        <Icon name={audience ? 'users' : iconOf[typeFacts(type).control]} />
      </span>
      <div>
        <a class="plain" href={`${here}/${id}`}>
          <bdi>{name}</bdi>
        </a>
        <bdi class="sub clamp">{question_text}</bdi>
      </div>
    </div>,
    <>
      {value === null ? <span class="soft">–</span> : <b>{formatValue(type, value)}</b>}
      <span class="sub block">
        {type === 'nps' ? 'NPS' : typeFacts(type).kind}
        {interval === null ? '' : `, ${formatInterval(type, interval)}`}
      </span>
    </>,
    count(total),
    sent === 0 ? (
      <span class="soft none">Not sent</span>
    ) : (
      <>
        {percentage(responded, sent).toFixed(1)}%
        <small class="soft block">
          {count(responded)} of {count(sent)}
        </small>
      </>
    ),
    <span class="soft">
      <Time at={created_at} show="day" />
    </span>,
    <SurveyStatus status={status} />,
  ];
}
