import type { Child } from 'hono/jsx';
import type * as v from 'valibot';
import type { Response } from '../responses/schemas.ts';
import { anyPerson, fillIn } from '../surveys/texts.ts';
import { Facts } from '../web/app/lists.tsx';

type ShownAnswer = v.InferOutput<typeof Response>['answers'][number];

type AnswerFactsProps = { answers: readonly ShownAnswer[]; path: string; surveyId: string };

/** The answers of a response. An option or value links to the responses that share it. */
export function AnswerFacts({ answers, path, surveyId }: AnswerFactsProps) {
  if (answers.length === 0) return null;
  return (
    <section class="answers" aria-label="Follow-up answers">
      <Facts
        facts={answers.map((answer) => [
          fillIn(answer.question, anyPerson),
          <AnswerValue answer={answer} path={path} surveyId={surveyId} />,
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
    <a class="tag plain" href={`${path}?survey_id=${surveyId}&answer.${question_id}=${each}`}>
      <bdi>{labels[at] ?? each}</bdi>
    </a>
  ));
  if (other !== null) parts.push(<bdi>{other}</bdi>);
  return <span class="tags">{parts}</span>;
}
