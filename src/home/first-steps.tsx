import type { Child } from 'hono/jsx';
import type { ShownOrganization } from '../web/app/reader.ts';

type FirstStepsProps = {
  organization: ShownOrganization;
  /** The newest survey, if there is one. */
  survey: { id: string; name: string } | undefined;
  hasMailServer: boolean;
};

/** What to do until there is something to show. */
export function FirstSteps({ organization, survey, hasMailServer }: FirstStepsProps) {
  const base = `/o/${organization.slug}`;
  const mayEdit = organization.role !== 'viewer';
  return (
    <>
      <section aria-labelledby="first">
        <h2 id="first">Four steps to the first response</h2>
        <p class="soft">Your score appears here with the first response.</p>
        <ol class="steps">
          <Step title="Create the organization" done>
            <bdi>{organization.name}</bdi>; you are its {organization.role}.
          </Step>
          <Step
            title="Write a survey"
            done={survey !== undefined}
            act={
              mayEdit && !survey
                ? { href: `${base}/surveys/new`, text: 'New survey', primary: true }
                : undefined
            }
          >
            {survey ? (
              <a href={`${base}/surveys/${survey.id}`}>{survey.name}</a>
            ) : (
              'One question, a scale and a comment. You see the page and the mail while you write.'
            )}
          </Step>
          <Step
            title="Set up mail"
            done={hasMailServer}
            act={
              hasMailServer ? undefined : { href: `${base}/settings/mail`, text: 'Mail settings' }
            }
          >
            {hasMailServer
              ? 'Mails go out through the mail server of this deployment.'
              : 'No mail server is set. Mails stay in the built-in mailbox, where you can read them.'}
          </Step>
          <Step
            title="Ask people"
            act={
              mayEdit && survey
                ? { href: `${base}/surveys/${survey.id}/send`, text: 'Send', primary: true }
                : undefined
            }
          >
            Upload a list or share a link. Before anything is sent you see which addresses will be
            mailed, which will not, and why.
          </Step>
        </ol>
      </section>
      {organization.role === 'viewer' ? null : <Later base={base} role={organization.role} />}
    </>
  );
}

type StepProps = {
  title: string;
  done?: boolean;
  act?: { href: string; text: string; primary?: boolean } | undefined;
  children?: Child;
};

function Step({ title, done = false, act, children }: StepProps) {
  return (
    <li class={done ? 'did' : undefined}>
      <h3>
        {title}
        {done ? <span class="hidden"> (done)</span> : null}
      </h3>
      <p class="soft">{children}</p>
      {act ? (
        <div class="actions">
          <a class={act.primary ? 'button primary' : 'button'} href={act.href}>
            {act.text}
          </a>
        </div>
      ) : null}
    </li>
  );
}

function Later({ base, role }: { base: string; role: ShownOrganization['role'] }) {
  return (
    <section aria-labelledby="later">
      <h2 id="later">Later</h2>
      <ul class="rows look measure">
        {role === 'owner' ? (
          <li>
            <div>
              <p>Invite your team</p>
              <p class="meta">
                Viewers read everything; editors also send surveys and tag responses.
              </p>
            </div>
            <a class="more" href={`${base}/settings/members`}>
              Invite<span class="hidden"> members</span>
            </a>
          </li>
        ) : null}
        <li>
          <div>
            <p>Connect your other systems</p>
            <p class="meta">A webhook receives each response within seconds, signed.</p>
          </div>
          <a class="more" href={`${base}/webhooks/new`}>
            New webhook
          </a>
        </li>
        <li>
          <div>
            <p>Import earlier responses</p>
            <p class="meta">
              So that the trend starts in the past: the operator of this server imports a CSV file
              with scores and times by <code>askback import responses</code>.
            </p>
          </div>
        </li>
        <li>
          <div>
            <p>Write programs of your own</p>
            <p class="meta">The API reads and changes what you see here.</p>
          </div>
          <a class="more" href="/docs">
            API<span class="hidden"> documentation</span>
          </a>
        </li>
      </ul>
    </section>
  );
}
