import type { Child } from 'hono/jsx';
import { noOwner } from '../responses/filter.queries.ts';
import { type StateKind, Time, toneOf } from '../web/app/badges.tsx';
import { LinkButton } from '../web/app/forms.tsx';
import { Icon, type IconName } from '../web/app/icon.tsx';
import { count, counted } from '../web/app/lists.tsx';
import type { NavOrganization } from '../web/app/screen.tsx';
import { type AttentionCounts, maxCounted } from './queries.ts';

const nearLimitPercent = 80;
const maxFailedShare = 0.05;
const minFailures = 5;

type AttentionProps = { counts: AttentionCounts; organization: NavOrganization };

export function AttentionPart({ counts, organization }: AttentionProps) {
  const items = attentionItems(counts, organization);
  return (
    <section class="card off-paper" aria-labelledby="attention">
      <div class="title">
        <h2 id="attention">Needs attention</h2>
      </div>
      {items.length === 0 ? <p class="soft">You’re all caught up.</p> : null}
      <ul class="rows">
        {items.map(({ kind, text, ...item }) => (
          <LinkItem tone={toneOf[kind]} {...item}>
            {text}
          </LinkItem>
        ))}
      </ul>
    </section>
  );
}

type AttentionItem = {
  kind: StateKind;
  icon: IconName;
  title: string;
  text: Child;
  href: string;
  act: string;
  about: string;
};

function attentionItems(counts: AttentionCounts, { slug, role }: NavOrganization) {
  const base = `/o/${slug}`;
  const items = counts.webhooks.map(({ id, url, active, failure_count }): AttentionItem => {
    const host = URL.canParse(url) ? new URL(url).host : url;
    const times = failure_count === 1 ? 'once' : `${failure_count} times in a row`;
    return {
      kind: active ? 'warning' : 'failed',
      icon: 'webhook',
      title: active ? 'Webhook failing' : 'Webhook turned off',
      text: `${host} failed ${times}.`,
      href: `${base}/webhooks/${id}`,
      act: 'View',
      about: host,
    };
  });
  for (const { id, survey_id, name, status, reason } of counts.campaigns) {
    const isPaused = status === 'paused';
    items.push({
      kind: isPaused ? 'failed' : 'warning',
      icon: 'send',
      title: isPaused ? 'Campaign paused' : 'Campaign delayed by the mail server',
      text: `${name}: ${reason}`,
      href: `${base}/surveys/${survey_id}/send/${id}`,
      act: 'View',
      about: name,
    });
  }
  const { held, open_detractors, oldest_open, open_since } = counts;
  if (open_detractors > 0 && oldest_open) {
    const detractors =
      open_detractors >= maxCounted
        ? `Over ${count(maxCounted - 1)} detractors`
        : counted(open_detractors, 'detractor');
    items.push({
      kind: 'waiting',
      icon: 'user-plus',
      title: `${detractors} unassigned`,
      text: (
        <>
          Last 30 days, oldest from <Time at={oldest_open} show="day" />.
        </>
      ),
      href: `${base}/responses?category=detractor&state=open&owner=${noOwner}&date_from=${open_since}`,
      act: role === 'viewer' ? 'View' : 'Assign',
      about: 'them',
    });
  }
  if (held > 0) {
    items.push({
      kind: 'waiting',
      icon: 'inbox',
      title: `${counted(held, 'response')} on hold`,
      text: 'These look automated. They won’t count until you release them.',
      href: `${base}/responses?held=true`,
      act: 'Review',
      about: 'responses on hold',
    });
  }
  const { mails_used, monthly_send_limit, mails_sent, mails_failed, bounced } = counts;
  const used = monthly_send_limit === 0 ? 0 : Math.floor((100 * mails_used) / monthly_send_limit);
  if (used >= nearLimitPercent) {
    items.push({
      kind: used >= 100 ? 'failed' : 'warning',
      icon: 'mail',
      title: `${used}% of this month’s emails used`,
      text: `${count(mails_used)} of ${count(monthly_send_limit)}.`,
      href: `${base}/settings/usage`,
      act: 'Usage',
      about: 'of this month',
    });
  }
  if (mails_failed >= minFailures && mails_failed > maxFailedShare * (mails_sent + mails_failed)) {
    items.push({
      kind: 'failed',
      icon: 'mail',
      title: `${counted(mails_failed, 'email')} failed in the last 7 days`,
      text: `${count(mails_sent)} were sent. Check the mail settings.`,
      href: `${base}/settings/mail`,
      act: 'Mail',
      about: 'settings',
    });
  }
  if (bounced >= minFailures && bounced > maxFailedShare * mails_sent) {
    items.push({
      kind: 'warning',
      icon: 'mail',
      title: `${counted(bounced, 'address', 'addresses')} bounced in the last 7 days`,
      text: 'These addresses are blocked and get no more emails.',
      href: `${base}/people`,
      act: 'People',
      about: 'that bounced',
    });
  }
  return items;
}

type FirstStepsProps = {
  organization: NavOrganization;
  survey: { id: string; name: string } | undefined;
  hasMailServer: boolean;
};

export function FirstSteps({ organization, survey, hasMailServer }: FirstStepsProps) {
  const { name, role, slug } = organization;
  const base = `/o/${slug}`;
  const mayEdit = role !== 'viewer';
  return (
    <>
      <section class="card flush" aria-labelledby="first">
        <div class="title">
          <h2 id="first">Get your first response in four steps</h2>
          <p class="sub">Your score appears here with the first response.</p>
        </div>
        <ol class="steps">
          <Step title="Create the organization" done>
            You are the {role} of <bdi>{name}</bdi>.
          </Step>
          <Step
            title="Write a survey"
            done={survey !== undefined}
            act={mayEdit && { href: `${base}/surveys/new`, text: 'New survey', primary: true }}
          >
            {survey ? (
              <a href={`${base}/surveys/${survey.id}`}>{survey.name}</a>
            ) : (
              'A question, a scale and a comment, with a live preview of the page and the email.'
            )}
          </Step>
          <Step
            title="Set up mail"
            done={hasMailServer}
            act={{ href: `${base}/settings/mail`, text: 'Mail settings' }}
          >
            {hasMailServer
              ? 'Emails go out through the configured mail server.'
              : 'No mail server is configured. Emails stay in the built-in mailbox, where you can read them.'}
          </Step>
          <Step
            title="Ask people"
            act={
              mayEdit &&
              survey && { href: `${base}/surveys/${survey.id}/send`, text: 'Send', primary: true }
            }
          >
            Upload a list or share a link. Before anything is sent, you see who will get an email,
            who won’t, and why.
          </Step>
        </ol>
      </section>
      {mayEdit ? (
        <section class="card" aria-labelledby="later">
          <h2 id="later">Later</h2>
          <ul class="rows">
            <LinkItem
              icon="upload"
              title="Coming from Delighted or AskNicely?"
              href={`${base}/settings/import`}
              act="Import"
              about="responses from another service"
            >
              Bring your history: responses, people and unsubscribes. You see what will be imported
              before anything changes.
            </LinkItem>
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
              Everything you see here is available by API.
            </LinkItem>
          </ul>
        </section>
      ) : null}
    </>
  );
}

type StepProps = {
  title: string;
  done?: boolean;
  /** Offered until the step is done. */
  act?: { href: string; text: string; primary?: boolean } | false | undefined;
  children?: Child;
};

function Step({ title, done = false, act, children }: StepProps) {
  return (
    <li class={done ? 'did' : undefined}>
      <div>
        <h3>
          {title}
          {done ? <span class="hidden"> (done)</span> : null}
        </h3>
        <p class="sub">{children}</p>
      </div>
      {act && !done ? (
        <LinkButton href={act.href} text={act.text} kind={act.primary ? 'primary' : undefined} />
      ) : null}
    </li>
  );
}

type LinkItemProps = {
  icon: IconName;
  tone?: string;
  title: string;
  href?: string;
  act?: string;
  about?: string;
  children: Child;
};

const LinkItem = ({ icon, tone = 'is-even', title, href, act, about, children }: LinkItemProps) => (
  <li>
    <span class={`badge ${tone}`}>
      <Icon name={icon} />
    </span>
    <div>
      <p class="who">{title}</p>
      <p class="sub">{children}</p>
    </div>
    {href ? <LinkButton href={href} text={act} about={about} mini /> : null}
  </li>
);
