import type { Child } from 'hono/jsx';
import type * as v from 'valibot';
import type { Response } from '../responses/schemas.ts';
import { LinkButton } from '../web/app/forms.tsx';
import { Facts } from '../web/app/lists.tsx';
import type { Question } from './definition.ts';
import { valuesOf } from './results.ts';

type ShownAnswer = v.InferOutput<typeof Response>['answers'][number];

type AnswerFactsProps = { answers: readonly ShownAnswer[]; path: string; surveyId: string };

/** The answers of a response. An option or value links to the responses that share it. */
export function AnswerFacts({ answers, path, surveyId }: AnswerFactsProps) {
  if (answers.length === 0) return null;
  return (
    <section aria-label="Follow-up answers">
      <Facts
        facts={answers.map((answer) => [
          answer.question,
          <AnswerValue {...{ answer, path, surveyId }} />,
        ])}
      />
    </section>
  );
}

function AnswerValue({
  answer,
  path,
  surveyId,
}: { answer: ShownAnswer } & Omit<AnswerFactsProps, 'answers'>) {
  const { kind, value, label, other, question_id } = answer;
  if (kind === 'text') {
    return (
      <span class="words" dir="auto">
        {String(value)}
      </span>
    );
  }
  const values = [value ?? []].flat().map(String);
  const labels = kind === 'scale' ? values : [label ?? []].flat();
  const parts: Child[] = values.map((each, at) => (
    <a href={`${path}?survey_id=${surveyId}&answer.${question_id}=${each}`}>
      <bdi>{labels[at] ?? each}</bdi>
    </a>
  ));
  if (other !== null) parts.push(<bdi>{other}</bdi>);
  return (
    <>
      {parts.map((part, at) => (
        <>
          {at > 0 ? ', ' : ''}
          {part}
        </>
      ))}
    </>
  );
}

type AnswerFiltersProps = { path: string; query: URLSearchParams; questions: readonly Question[] };

const prefix = 'answer.';

export const hasAnswerFilter = (query: URLSearchParams) =>
  [...query.keys()].some((name) => name.startsWith(prefix));

/** Active filters by answer, each with a link that removes it. */
export function AnswerFilters({ path, query, questions }: AnswerFiltersProps) {
  const filters = [...query].filter(([name]) => name.startsWith(prefix));
  if (filters.length === 0) return null;
  return (
    <ul class="acts" aria-label="Answer filters">
      {filters.map(([parameter, value]) => {
        const question = questions.find(({ id }) => id === parameter.slice(prefix.length));
        const option = question && valuesOf(question).find(({ id }) => id === value);
        const words = `${question?.text ?? 'Unknown question'}: ${option?.label ?? value}`;
        const rest = new URLSearchParams(query);
        rest.delete(parameter, value);
        rest.delete('page');
        return (
          <li>
            <span>
              <bdi>{words}</bdi>
            </span>{' '}
            <LinkButton
              href={`${path}?${rest}`}
              text="Remove"
              about={`the filter ${words}`}
              kind="quiet"
            />
          </li>
        );
      })}
    </ul>
  );
}
