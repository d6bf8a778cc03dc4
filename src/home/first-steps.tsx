import type { Child } from 'hono/jsx';
import { Part } from '../web/app/badges.tsx';
import { LinkButton } from '../web/app/forms.tsx';
import { EmptyState } from '../web/app/lists.tsx';
import type { NavOrganization } from '../web/app/screen.tsx';
import { LinkItem } from './parts.tsx';
import { ScoreGauge } from './score.tsx';

type FirstStepsProps = {
  organization: NavOrganization;
  survey: { id: string; name: string } | undefined;
  hasMailServer: boolean;
};

export function FirstSteps({ organization, survey, hasMailServer }: FirstStepsProps) {
  const { role, slug } = organization;
  const base = `/o/${slug}`;
  if (role === 'viewer') {
    return (
      <EmptyState title="No responses yet" icon="inbox">
        <p>Scores and comments appear here within seconds, once an editor has sent a survey.</p>
        <LinkButton href={`${base}/settings/notifications`} text="Choose your emails" />
      </EmptyState>
    );
  }
  return (
    <div class="grid main-side">
      <Part id="first" title="Get your first response in four steps" look="flush">
        <ol class="steps">
          <Step title="Import your data" act={{ href: `${base}/settings/import`, text: 'Import' }}>
            Coming from Delighted or AskNicely? Bring responses, people and unsubscribes. You see
            what will be imported before anything changes. No earlier data? Skip this step.
          </Step>
          <Step
            title="Write a survey"
            state={survey ? 'did' : 'next'}
            act={{ href: `${base}/surveys/new`, text: 'New survey' }}
          >
            {survey ? (
              <a href={`${base}/surveys/${survey.id}`}>{survey.name}</a>
            ) : (
              'Start from a template: question, follow-ups and thank-you message are filled in.'
            )}
          </Step>
          <Step
            title="Set up mail"
            state={hasMailServer ? 'did' : undefined}
            act={{ href: `${base}/settings/mail`, text: 'Mail settings' }}
          >
            {hasMailServer
              ? 'Emails go out through the configured mail server.'
              : 'No mail server is configured. Emails stay in the built-in mailbox, where you can read them.'}
          </Step>
          <Step
            title="Ask people"
            state={survey ? 'next' : undefined}
            act={survey && { href: `${base}/surveys/${survey.id}/send`, text: 'Send' }}
          >
            Upload a list or share a link. Before anything is sent, you see who will get an email,
            who won’t, and why.
          </Step>
        </ol>
      </Part>
      <div class="stack">
        <section class="card" aria-labelledby="preview">
          <h2 id="preview">Net Promoter Score</h2>
          <ScoreGauge type="nps" measured={{ value: null, interval: null }} />
          <p class="sub">Your score appears here with the first response.</p>
        </section>
        <section class="card" aria-labelledby="later">
          <h2 id="later">Later</h2>
          <ul class="rows">
            {role === 'owner' ? (
              <LinkItem
                icon="user-plus"
                title="Invite your team"
                href={`${base}/settings/members`}
                act="Invite"
                about="members"
              >
                Viewers read everything; editors also send surveys and tag responses.
              </LinkItem>
            ) : null}
            <LinkItem
              icon="webhook"
              title="Connect other tools"
              href={`${base}/webhooks/new`}
              act="New webhook"
            >
              Send each response to your systems in seconds with a signed webhook.
            </LinkItem>
            <LinkItem icon="key" title="Use the API" href="/docs" act="API" about="documentation">
              Everything here is also available through the API.
            </LinkItem>
          </ul>
        </section>
      </div>
    </div>
  );
}

type StepProps = {
  title: string;
  /** The next step has the primary button. */
  state?: 'did' | 'next' | undefined;
  /** Offered until the step is done. */
  act?: { href: string; text: string } | false | undefined;
  children?: Child;
};

const Step = ({ title, state, act, children }: StepProps) => (
  <li class={state}>
    <div>
      <h3>
        {title}
        {state === 'did' ? <span class="hidden"> (done)</span> : null}
      </h3>
      <p class="sub">{children}</p>
    </div>
    {act && state !== 'did' ? (
      <LinkButton href={act.href} text={act.text} kind={state === 'next' ? 'primary' : undefined} />
    ) : null}
  </li>
);
