import type { Child } from 'hono/jsx';
import { nearLimitPercent } from '../limits.ts';
import { noOwner } from '../responses/filter.queries.ts';
import { Part, Time, toneOf } from '../web/app/badges.tsx';
import { LinkButton } from '../web/app/forms.tsx';
import { Icon, type IconName } from '../web/app/icon.tsx';
import { count, counted, EmptyState } from '../web/app/lists.tsx';
import type { NavOrganization } from '../web/app/screen.tsx';
import { type AttentionCounts, maxCounted } from './queries.ts';
import { attentionDays, failOften } from './rules.ts';
import { ScoreGauge } from './score.tsx';

type AttentionProps = { counts: AttentionCounts; organization: NavOrganization };

export function AttentionPart({ counts, organization }: AttentionProps) {
  const items = attentionItems(counts, organization);
  return (
    <Part id="attention" title="Needs attention" look="off-paper">
      {items.length === 0 ? <p class="soft">You’re all caught up.</p> : null}
      <ul class="rows">
        {items.map((item) => (
          <LinkItem {...item} />
        ))}
      </ul>
    </Part>
  );
}

function attentionItems(counts: AttentionCounts, { slug, role }: NavOrganization) {
  const { held, open_detractors, oldest_open, open_since } = counts;
  const { mails_used, monthly_send_limit, mails_sent, mails_failed, bounced } = counts;
  const base = `/o/${slug}`;
  const used = monthly_send_limit === 0 ? 0 : Math.floor((100 * mails_used) / monthly_send_limit);
  const detractors =
    open_detractors >= maxCounted
      ? `Over ${count(maxCounted - 1)} detractors`
      : counted(open_detractors, 'detractor');
  const items: (LinkItemProps | false)[] = [
    ...counts.webhooks.map(({ id, url, active, failure_count }) => {
      const host = URL.canParse(url) ? new URL(url).host : url;
      const times = failure_count === 1 ? 'once' : `${failure_count} times in a row`;
      return {
        tone: active ? toneOf.warning : toneOf.failed,
        icon: 'webhook' as const,
        title: active ? 'Webhook failing' : 'Webhook turned off',
        children: `${host} failed ${times}.`,
        href: `${base}/webhooks/${id}`,
        act: 'View',
        about: host,
      };
    }),
    ...counts.campaigns.map(({ id, survey_id, name, status, reason }) => ({
      tone: status === 'paused' ? toneOf.failed : toneOf.warning,
      icon: 'send' as const,
      title: status === 'paused' ? 'Campaign paused' : 'Campaign delayed by the mail server',
      children: `${name}: ${reason}`,
      href: `${base}/surveys/${survey_id}/send/${id}`,
      act: 'View',
      about: name,
    })),
    open_detractors > 0 &&
      oldest_open !== null && {
        tone: toneOf.waiting,
        icon: 'user-plus',
        title: `${detractors} unassigned`,
        children: (
          <>
            Last {attentionDays.detractors} days, oldest from <Time at={oldest_open} show="day" />.
          </>
        ),
        href: `${base}/responses?category=detractor&state=open&owner=${noOwner}&date_from=${open_since}`,
        act: role === 'viewer' ? 'View' : 'Assign',
        about: 'them',
      },
    held > 0 && {
      tone: toneOf.waiting,
      icon: 'inbox',
      title: `${counted(held, 'response')} on hold`,
      children: 'These look automated. They won’t count until you release them.',
      href: `${base}/responses?held=true`,
      act: 'Review',
      about: 'responses on hold',
    },
    used >= nearLimitPercent && {
      tone: used >= 100 ? toneOf.failed : toneOf.warning,
      icon: 'mail',
      title: `${used}% of this month’s emails used`,
      children: `${count(mails_used)} of ${count(monthly_send_limit)}.`,
      href: `${base}/settings/usage`,
      act: 'Usage',
      about: 'of this month',
    },
    failOften(mails_failed, mails_sent + mails_failed) && {
      tone: toneOf.failed,
      icon: 'mail',
      title: `${counted(mails_failed, 'email')} failed in the last ${attentionDays.mails} days`,
      children: `${count(mails_sent)} were sent. Check the mail settings.`,
      href: `${base}/settings/mail`,
      act: 'Mail',
      about: 'settings',
    },
    failOften(bounced, mails_sent) && {
      tone: toneOf.warning,
      icon: 'mail',
      title: `${counted(bounced, 'address', 'addresses')} bounced in the last ${attentionDays.mails} days`,
      children: 'These addresses are blocked and get no more emails.',
      href: `${base}/people`,
      act: 'People',
      about: 'that bounced',
    },
  ];
  return items.filter((item) => item !== false);
}

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

type LinkItemProps = {
  icon: IconName;
  tone?: string;
  title: string;
  href: string;
  act: string;
  about?: string;
  children?: Child;
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
    <LinkButton href={href} text={act} about={about} mini />
  </li>
);
