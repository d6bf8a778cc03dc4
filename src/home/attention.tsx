import type { Child } from 'hono/jsx';
import { noOwner } from '../responses/filter.queries.ts';
import { State, type StateKind, Time } from '../web/app/badges.tsx';
import { count, counted } from '../web/app/lists.tsx';
import type { ShownOrganization } from '../web/app/screen.tsx';
import { type AttentionCounts, mostCounted } from './queries.ts';

type AttentionItem = {
  kind: StateKind;
  title: string;
  text: Child;
  href: string;
  act: string;
  about: string;
};

const manyMailsUsed = 80;
const troubledShare = 0.05;
const fewestFailures = 5;

type AttentionProps = { found: AttentionCounts; organization: ShownOrganization };

export function AttentionPart({ found, organization }: AttentionProps) {
  const items = attentionItems(found, organization);
  return (
    <section class="off-paper" aria-labelledby="attention">
      <div class="title">
        <h2 id="attention">Needs attention</h2>
      </div>
      {items.length === 0 ? <p class="soft">Nothing needs attention.</p> : null}
      <ul class="rows look">
        {items.map(({ kind, title, text, href, act, about }) => (
          <li>
            <div>
              <p>
                <State kind={kind}>{title}</State>
              </p>
              <p class="meta">{text}</p>
            </div>
            <a class="more" href={href}>
              {act}
              <span class="hidden"> {about}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function attentionItems(
  found: AttentionCounts,
  { slug, role }: ShownOrganization,
): AttentionItem[] {
  const base = `/o/${slug}`;
  return [
    ...webhookItems(found, base),
    ...responseItems(found, base, role),
    ...mailItems(found, base),
  ];
}

const webhookItems = ({ webhooks }: AttentionCounts, base: string): AttentionItem[] =>
  webhooks.map(({ id, url, active, failure_count }) => ({
    kind: active ? 'warning' : 'failed',
    title: active ? 'Webhook fails' : 'Webhook switched off',
    text: `${hostOf(url)} failed ${failure_count === 1 ? 'once' : `${failure_count} times in a row`}.`,
    href: `${base}/webhooks/${id}`,
    act: 'View',
    about: hostOf(url),
  }));

type ReaderRole = ShownOrganization['role'];

function responseItems(found: AttentionCounts, base: string, role: ReaderRole): AttentionItem[] {
  const { held, open_detractors, oldest_open, open_since } = found;
  const items: AttentionItem[] = [];
  if (open_detractors > 0 && oldest_open) {
    const many = open_detractors >= mostCounted;
    const detractors = many
      ? `Over ${count(mostCounted - 1)} detractors`
      : counted(open_detractors, 'detractor');
    items.push({
      kind: 'waiting',
      title: `${detractors} without an owner`,
      text: (
        <>
          Of the last 30 days. The oldest has waited since <Time at={oldest_open} show="day" />.
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
      title: `${counted(held, 'response')} on hold`,
      text: 'They look automated and are not counted until somebody releases them.',
      href: `${base}/responses?held=true`,
      act: 'Review',
      about: 'what is on hold',
    });
  }
  return items;
}

function mailItems(found: AttentionCounts, base: string): AttentionItem[] {
  const { mails_used, monthly_send_limit, mails_sent, mails_failed, bounced } = found;
  const items: AttentionItem[] = [];
  const used = monthly_send_limit === 0 ? 0 : Math.floor((100 * mails_used) / monthly_send_limit);
  if (used >= manyMailsUsed) {
    items.push({
      kind: used >= 100 ? 'failed' : 'warning',
      title: `${used}% of this month’s mails used`,
      text: `${count(mails_used)} of ${count(monthly_send_limit)}.`,
      href: `${base}/settings/usage`,
      act: 'Usage',
      about: 'of this month',
    });
  }
  const isTroubled = mails_failed > troubledShare * (mails_sent + mails_failed);
  if (mails_failed >= fewestFailures && isTroubled) {
    items.push({
      kind: 'failed',
      title: `${counted(mails_failed, 'mail')} failed in the last 7 days`,
      text: `${count(mails_sent)} were sent. The mail settings say what is wrong.`,
      href: `${base}/settings/mail`,
      act: 'Mail',
      about: 'settings',
    });
  }
  if (bounced >= fewestFailures && bounced > troubledShare * mails_sent) {
    items.push({
      kind: 'warning',
      title: `${counted(bounced, 'address', 'addresses')} bounced in the last 7 days`,
      text: 'They get no more mail.',
      href: `${base}/people`,
      act: 'People',
      about: 'that bounced',
    });
  }
  return items;
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : url);

type FirstStepsProps = {
  organization: ShownOrganization;
  survey: { id: string; name: string } | undefined;
  hasMailServer: boolean;
};

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
