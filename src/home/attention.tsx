import type { Child } from 'hono/jsx';
import { noOwner } from '../responses/filter.cte.ts';
import { count, counted } from '../web/app/lists.tsx';
import { State, type StateKind, Time } from '../web/app/marks.tsx';
import type { ShownOrganization } from '../web/app/reader.ts';
import { type AttentionCounts, mostCounted } from './queries.ts';

type AttentionItem = {
  kind: StateKind;
  title: string;
  text: Child;
  href: string;
  act: string;
  /** What the link is about, read aloud. */
  about: string;
};

const manyMailsUsed = 80;
/** Below this share of all mails, failures are what mail is like. */
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
