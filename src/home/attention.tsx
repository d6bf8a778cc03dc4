import { nearLimitPercent } from '../limits.ts';
import { noOwner } from '../responses/filter.queries.ts';
import { Part, Time, toneOf } from '../web/app/badges.tsx';
import { count, counted } from '../web/app/lists.tsx';
import type { NavOrganization } from '../web/app/screen.tsx';
import { LinkItem, type LinkItemProps } from './parts.tsx';
import { type AttentionCounts, maxCounted } from './queries.ts';
import { attentionDays, failOften } from './rules.ts';

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
