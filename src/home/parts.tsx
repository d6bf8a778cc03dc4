import type { Child } from 'hono/jsx';
import { ResponseRow } from '../responses/response-row.tsx';
import { Field, type FormState, LinkButton } from '../web/app/forms.tsx';
import { Icon, type IconName } from '../web/app/icon.tsx';
import { count, LinkSegments, withQuery } from '../web/app/lists.tsx';
import type { NavOrganization } from '../web/app/screen.tsx';
import type { NewestComment } from './figures.ts';
import { type HomePeriod, periodDays, type ScopeQuery } from './rules.ts';

type CommentsProps = {
  comments: readonly NewestComment[];
  organization: Pick<NavOrganization, 'slug'>;
  total: number;
  all: string;
};

export function CommentsPart({ comments, organization, total, all }: CommentsProps) {
  return (
    <section class="card" aria-labelledby="newest">
      <div class="title">
        <h2 id="newest">Newest comments</h2>
        {total === 0 ? null : (
          <a href={all}>{total === 1 ? 'View response' : `All ${count(total)} responses`}</a>
        )}
      </div>
      {comments.length === 0 ? <p class="soft">No comments in this period.</p> : null}
      <ul class="rows">
        {comments.map((comment) => (
          <li>
            <ResponseRow
              response={comment}
              href={`/o/${organization.slug}/responses/${comment.id}`}
              title={comment.contact_name ?? comment.contact_email ?? 'Anonymous'}
              person={comment.contact_name ?? comment.contact_email}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

type PeriodChoiceProps = {
  path: string;
  scope: ScopeQuery;
  period: HomePeriod;
  form: FormState;
};

export function PeriodChoice({ path, scope, period, form }: PeriodChoiceProps) {
  const hasMistake = Object.keys(form.errors).length > 0;
  const isCustom = period.name === 'custom' || hasMistake;
  return (
    <>
      <LinkSegments
        label="Period"
        links={Object.entries(periodDays).map(([name, days]) => ({
          text: `${days} days`,
          href: withQuery(path, { ...scope, period: name }),
          current: !isCustom && name === period.name,
        }))}
      />
      <details class="unfold" open={hasMistake}>
        <summary class={isCustom ? 'button chosen' : 'button'}>Custom</summary>
        <form method="get" action={path} class="inline gap">
          {Object.entries(scope).map(([name, value]) => (
            <input type="hidden" name={name} value={value} />
          ))}
          <Field
            name="date_from"
            label="From"
            type="date"
            form={form}
            value={period.from}
            required
          />
          <Field name="date_to" label="To" type="date" form={form} value={period.to} required />
          <button type="submit">Apply</button>
        </form>
      </details>
    </>
  );
}

export type LinkItemProps = {
  icon: IconName;
  tone?: string;
  title: string;
  href: string;
  act: string;
  about?: string;
  children?: Child;
};

export const LinkItem = ({
  icon,
  tone = 'is-even',
  title,
  href,
  act,
  about,
  children,
}: LinkItemProps) => (
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
