import type { Child } from 'hono/jsx';
import { type Category, type SurveyType, scoreText } from '../survey-types.ts';
import { Chip, Time } from '../web/app/badges.tsx';

type ResponseRowProps = {
  response: {
    score: number;
    category: Category;
    comment: string | null;
    created_at: Date | string;
    type: SurveyType;
  };
  href: string;
  title: string;
  time?: 'ago' | 'day';
  children?: Child;
};

/** Score, title, time and comment of a response in a list. */
export function ResponseRow({ response, href, title, time = 'ago', children }: ResponseRowProps) {
  const { score, category, comment, created_at, type } = response;
  return (
    <>
      <Chip score={scoreText(type, score)} category={category} />
      <div>
        <p class="who">
          <a href={href}>
            <bdi>{title}</bdi>
          </a>{' '}
          <span class="meta">
            <Time at={created_at} show={time} />
          </span>
        </p>
        <p class={comment ? 'said' : 'soft'} dir="auto">
          {comment ?? 'No comment'}
        </p>
        {children}
      </div>
    </>
  );
}
