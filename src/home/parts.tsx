import { scaleOf } from '../scores.ts';
import { Funnel } from '../web/app/charts/parts.tsx';
import { count } from '../web/app/lists.tsx';
import { Chip, Time } from '../web/app/marks.tsx';
import type { ShownOrganization } from '../web/app/reader.ts';
import type { AskedCounts, NewestComment } from './figures.queries.ts';

export function AskedPart({ asked }: { asked: AskedCounts }) {
  const share = (part: number) => (
    <>
      {count(part)}{' '}
      {asked.asked === 0 ? null : (
        <small class="soft">{Math.round((100 * part) / asked.asked)}%</small>
      )}
    </>
  );
  return (
    <section aria-labelledby="asked">
      <div class="title">
        <h2 id="asked">Asked and answered</h2>
      </div>
      {asked.asked === 0 ? (
        <p class="soft">No contact was asked by mail.</p>
      ) : (
        <Funnel
          steps={[
            { name: 'Asked by mail', count: asked.asked, figure: count(asked.asked) },
            { name: 'Arrived', count: asked.arrived, figure: share(asked.arrived) },
            { name: 'Answered', count: asked.answered, figure: share(asked.answered) },
          ]}
        />
      )}
    </section>
  );
}

type CommentsProps = {
  comments: readonly NewestComment[];
  organization: ShownOrganization;
  total: number;
  all: string;
};

export function CommentsPart({ comments, organization, total, all }: CommentsProps) {
  return (
    <section class="part" aria-labelledby="newest">
      <div class="title">
        <h2 id="newest">Newest comments</h2>
        {total === 0 ? null : (
          <a class="more" href={all}>
            {total === 1 ? 'The only response' : `All ${count(total)} responses`}
          </a>
        )}
      </div>
      {comments.length === 0 ? <p class="soft">No comments on these days.</p> : null}
      <ul class="rows">
        {comments.map((comment) => (
          <li>
            <Chip
              score={comment.score}
              category={comment.category}
              scale={`of ${scaleOf(comment.type).highest}`}
            />
            <div>
              <p class="who">
                <a href={`/o/${organization.slug}/responses/${comment.id}`}>
                  <bdi>{comment.contact_name ?? comment.contact_email ?? 'Anonymous'}</bdi>
                </a>
                <span class="meta">
                  <Time at={comment.created_at} show="ago" />
                </span>
              </p>
              <p class="said" dir="auto">
                {comment.comment}
              </p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
