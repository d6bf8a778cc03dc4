import type { Child } from 'hono/jsx';
import { type Category, type SurveyType, scoreText } from '../survey-types.ts';
import { Avatar, Chip, Time } from '../web/app/badges.tsx';

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
  /** The person's name for the initials, or null. */
  person?: string | null;
  time?: 'ago' | 'day';
  isOpen?: boolean;
  /** Shows all lines of the comment. */
  isWhole?: boolean;
  children?: Child;
};

export function ResponseRow(props: ResponseRowProps) {
  const { response, href, title, person, time = 'ago', isOpen = false, isWhole, children } = props;
  const { score, category, comment, created_at, type } = response;
  return (
    <>
      {person === undefined ? null : <Avatar name={person} />}
      <div>
        <p class="who">
          <a href={href} aria-current={isOpen ? 'true' : undefined}>
            <bdi>{title}</bdi>
          </a>{' '}
          <span class="meta">
            <Time at={created_at} show={time} />
          </span>
        </p>
        <p class={comment ? (isWhole ? 'words' : 'clamp') : 'soft'} dir="auto">
          {comment ?? 'No comment'}
        </p>
        {children}
      </div>
      <Chip score={scoreText(type, score)} category={category} />
    </>
  );
}
