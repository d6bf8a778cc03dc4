import type { Context } from 'hono';
import type { Child } from 'hono/jsx';
import { State } from './badges.tsx';
import { emptyForm, type FormState, LinkButton } from './forms.tsx';
import { ActMenu } from './lists.tsx';
import { readerOf, renderScreen } from './screen.tsx';

type ShownSurvey = {
  id: string;
  name: string;
  status: 'draft' | 'active' | 'completed';
  completed_by: 'answers' | 'hand' | null;
};

type SurveyScreen = {
  survey: ShownSurvey;
  tab: keyof typeof tabs;
  /** The name of the survey by default. */
  title?: string;
  body: Child;
  /** Shown before the actions that every tab has. */
  actions?: Child;
  /** Sets the status: 422 with errors. */
  form?: FormState;
};

/** A page of a survey. All survey pages have the same heading, tabs and actions. */
export function renderSurveyScreen(c: Context, screen: SurveyScreen): Response {
  const { survey, tab, title = survey.name, body, actions, form = emptyForm() } = screen;
  const organization = readerOf(c).organization!;
  const list = `/o/${organization.slug}/surveys`;
  const here = `${list}/${survey.id}`;
  const mayEdit = organization.role !== 'viewer';
  const shown = Object.entries(tabs).filter(([name]) => mayEdit || name !== 'edit');
  return renderScreen(c, {
    title,
    heading: (
      <>
        <bdi>{survey.name}</bdi> <SurveyStatus status={survey.status} />
      </>
    ),
    section: 'surveys',
    trail: [{ text: 'Surveys', href: list }],
    actions: (
      <>
        {actions}
        {mayEdit ? (
          <SurveyActions
            survey={survey}
            here={here}
            tab={tab}
            isOwner={organization.role === 'owner'}
          />
        ) : null}
      </>
    ),
    tabs: (
      <nav class="tabs" aria-label="Survey">
        {shown.map(([name, [text, path]]) => (
          <a href={`${here}${path}`} aria-current={name === tab ? 'page' : undefined}>
            {text}
          </a>
        ))}
      </nav>
    ),
    body,
    form,
  });
}

const tabs = {
  results: ['Results', ''],
  edit: ['Edit', '/edit'],
  contacts: ['Contacts', '/contacts'],
  send: ['Send', '/send'],
  share: ['Share', '/share'],
} as const;

const statusLabels = {
  draft: { kind: 'skipped', text: 'Draft' },
  active: { kind: 'fine', text: 'Open' },
  completed: { kind: 'skipped', text: 'Closed' },
} as const;

export const SurveyStatus = ({ status }: Pick<ShownSurvey, 'status'>) => (
  <State kind={statusLabels[status].kind} code={status}>
    {statusLabels[status].text}
  </State>
);

type ActionsProps = Pick<SurveyScreen, 'survey' | 'tab'> & { here: string; isOwner: boolean };

/** The likely next step is the one primary button: opening a draft, else sending. */
function SurveyActions({ survey, here, tab, isOwner }: ActionsProps) {
  const isPrimary = tab === 'results' || tab === 'contacts' || tab === 'share';
  const post = (act: string, text: string, kind?: 'primary') => (
    <form method="post" action={`${here}/${act}`}>
      <button type="submit" class={kind}>
        {text}
      </button>
    </form>
  );
  return (
    <>
      {survey.status === 'draft' && isPrimary ? post('open', 'Open', 'primary') : null}
      {survey.status === 'active' && isPrimary ? (
        <LinkButton href={`${here}/send`} text="Send" kind="primary" icon="send" />
      ) : null}
      <ActMenu>
        {tab === 'edit' ? null : <li>{post('test-mail', 'Send me a test')}</li>}
        {survey.status === 'draft' && !isPrimary ? <li>{post('open', 'Open')}</li> : null}
        {survey.status === 'completed' ? <li>{post('reopen', 'Reopen')}</li> : null}
        <li>{post('copy', 'Copy')}</li>
        {survey.completed_by === 'hand' ? null : (
          <li>
            <a href={`${here}/close`}>Close</a>
          </li>
        )}
        {isOwner ? (
          <li>
            <a class="danger" href={`${here}/delete`}>
              Delete
            </a>
          </li>
        ) : null}
      </ActMenu>
    </>
  );
}
