import type { Context } from 'hono';
import type { ScreenEnv } from '../../sessions/session.ts';
import { State } from '../../web/app/marks.tsx';
import type { SurveyStatus } from '../queries.ts';

const statusTexts = { draft: 'Draft', active: 'Open', completed: 'Closed' } as Record<
  SurveyStatus,
  string
>;

export const surveysPath = ({ slug }: { slug: string }) => `/o/${slug}/surveys`;

export const mayEdit = (c: Context<ScreenEnv>) => c.var.organization.role !== 'viewer';

const kinds = { draft: 'waiting', active: 'fine', completed: 'skipped' } as const;

/** How a survey stands: shape, colour and word. */
export const StatusMark = ({ status }: { status: SurveyStatus }) => (
  <State kind={kinds[status]} code={status}>
    {statusTexts[status]}
  </State>
);

type TabsProps = { organization: { slug: string }; id: string; current: 'numbers' | 'share' };

/** The pages of a survey. */
export function SurveyTabs({ organization, id, current }: TabsProps) {
  const here = `${surveysPath(organization)}/${id}`;
  const tabs = [
    ['numbers', 'Numbers', here],
    ['contacts', 'Contacts', `${here}/contacts`],
    ['send', 'Send', `${here}/send`],
    ['share', 'Share', `${here}/share`],
  ] as const;
  return (
    <nav aria-label="Survey">
      <ul class="segments">
        {tabs.map(([tab, text, href]) => (
          <li>
            <a href={href} aria-current={tab === current ? 'page' : undefined}>
              {text}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
