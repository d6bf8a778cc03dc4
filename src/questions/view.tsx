import type { Texts } from '../web/languages/en.ts';
import { oneLine, protectFirstBreak } from '../web/layout.tsx';
import type { StoredAnswer, StoredAnswers } from './check-answers.ts';
import { maxAnswerText, maxOtherText, type Question } from './definition.ts';

export type QuestionsProps = {
  /** Questions for the response's category, in the language of the page. */
  questions: readonly Question[];
  answers: StoredAnswers;
  language: string;
  texts: Texts;
  action: string;
  /** Hidden fields: the response in a frame, which has no cookie, or the score of a test. */
  carried?: Readonly<Record<string, string>>;
  finish: string;
  complaint?: { isNotSaved: boolean; missing: readonly string[] };
};

/** The follow-up questions as one form. A script saves each answer as it changes. Without it, the button saves all. */
export function QuestionsForm({
  questions,
  answers,
  language,
  texts,
  action,
  carried = {},
  finish,
  complaint = { isNotSaved: false, missing: [] },
}: QuestionsProps) {
  return (
    <form method="post" action={action} class="questions">
      {complaint.isNotSaved ? (
        <p class="complaint" role="alert">
          {texts.questions.notSaved}
        </p>
      ) : null}
      {Object.entries(carried).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {questions.map((question) => (
        <QuestionField
          question={question}
          answer={answers[question.id] ?? {}}
          language={language}
          texts={texts}
          isMissing={complaint.missing.includes(question.id)}
        />
      ))}
      <div class="send">
        <button type="submit">{texts.questions.send}</button>
        {questions.some(({ required }) => required) ? null : (
          <a href={finish}>{texts.questions.finish}</a>
        )}
        <output data-saved={texts.questions.saved} />
      </div>
      <p class="complaint" role="alert" hidden>
        {texts.questions.notSaved}
      </p>
    </form>
  );
}

type FieldProps = {
  question: Question;
  answer: StoredAnswer;
  language: string;
  texts: Texts;
  isMissing: boolean;
};

function QuestionField({ question, answer, language, texts, isMissing }: FieldProps) {
  const { id, kind, required } = question;
  const complaintId = `${id}-missing`;
  const describedBy = isMissing ? complaintId : undefined;
  const words = (
    <>
      <bdi lang={language} dir="auto">
        {question.text}
      </bdi>
      {required ? null : <small> ({texts.optional})</small>}
    </>
  );
  const complaint = isMissing ? (
    <p class="complaint" id={complaintId}>
      {texts.questions.missing}
    </p>
  ) : null;
  if (kind === 'text') {
    return (
      <div class="question">
        <label for={id}>{words}</label>
        {complaint}
        <textarea
          id={id}
          name={id}
          rows={3}
          maxlength={maxAnswerText}
          dir="auto"
          required={required}
          aria-describedby={describedBy}
        >
          {protectFirstBreak(answer.text ?? '')}
        </textarea>
      </div>
    );
  }
  return (
    <fieldset class="question" aria-describedby={describedBy} data-several={kind === 'choices'}>
      <legend>
        {words}
        {kind === 'choices' ? <small class="several">{texts.questions.several}</small> : null}
      </legend>
      {complaint}
      {/* Distinguishes a removed answer from a question that was not on the page. */}
      <input type="hidden" name={id} value="" />
      {kind === 'scale' ? (
        <ScaleField question={question} answer={answer} language={language} />
      ) : (
        <OptionFields question={question} answer={answer} language={language} texts={texts} />
      )}
    </fieldset>
  );
}

function ScaleField({ question, answer, language }: Omit<FieldProps, 'texts' | 'isMissing'>) {
  const { id, required, min_label, max_label } = question;
  const [min, max] = [question.min ?? 0, question.max ?? 0];
  const values = Array.from({ length: max - min + 1 }, (_, at) => min + at);
  const endOf = (value: number) => (value === min ? min_label : value === max ? max_label : null);
  return (
    <>
      <div class="scale">
        {values.map((value) => (
          <label class="choice">
            <input
              type="radio"
              name={id}
              value={value}
              checked={answer.value === value}
              required={required}
              aria-invalid="false"
            />
            <span>
              {value}
              {endOf(value) ? <span class="hidden"> {endOf(value)}</span> : null}
            </span>
          </label>
        ))}
      </div>
      {min_label || max_label ? (
        <p class="ends" aria-hidden="true" lang={language}>
          <bdi>{min_label}</bdi>
          <bdi>{max_label}</bdi>
        </p>
      ) : null}
    </>
  );
}

function OptionFields({ question, answer, language, texts }: Omit<FieldProps, 'isMissing'>) {
  const { id, kind, options, allow_other, required } = question;
  const chosen = [answer.value ?? []].flat();
  const isSingle = kind === 'choice';
  return (
    <>
      {(options ?? []).map((option) => (
        <label class="option">
          <input
            type={isSingle ? 'radio' : 'checkbox'}
            name={id}
            value={option.id}
            checked={chosen.includes(option.id)}
            required={isSingle && required}
          />
          <bdi lang={language} dir="auto">
            {option.label}
          </bdi>
        </label>
      ))}
      {allow_other ? (
        <div class="other">
          {isSingle ? (
            <label class="option">
              <input
                type="radio"
                name={id}
                value=""
                checked={answer.other !== undefined && chosen.length === 0}
                required={required}
              />
              {texts.questions.other}
            </label>
          ) : null}
          <input
            type="text"
            name={`${id}.other`}
            value={answer.other ?? ''}
            maxlength={maxOtherText}
            dir="auto"
            aria-label={`${texts.questions.other}: ${question.text}`}
            placeholder={isSingle ? undefined : texts.questions.other}
          />
        </div>
      ) : null}
    </>
  );
}

type RecapProps = { questions: readonly Question[]; answers: StoredAnswers; language: string };

/** Answers as items of the list that shows the score. */
export const AnswersRecap = ({ questions, answers, language }: RecapProps) => (
  <>
    {questions.map((question) => {
      const answer = answers[question.id];
      return answer ? (
        <>
          <dt lang={language} dir="auto">
            {question.text}
          </dt>
          <dd dir="auto">{answerInWords(question, answer)}</dd>
        </>
      ) : null;
    })}
  </>
);

/** An answer as text, with labels instead of option ids. */
export function answerInWords({ options }: Question, { value, other, text }: StoredAnswer): string {
  if (text !== undefined) return text;
  const labels = [value ?? []]
    .flat()
    .map((each) => options?.find(({ id }) => id === each)?.label ?? String(each));
  return [...labels, ...(other ? [other] : [])].join('; ');
}

/**
 * Saves a question as it changes. The complaint stays until each refused question is saved. It is below the button and
 * the confirmation has a fixed height: a button that moved would miss the click that causes the save.
 */
export const saveScript = [
  "const form=document.querySelector('.questions'),out=form.querySelector('output'),complaint=form.lastElementChild,refused=new Set()",
  "form.addEventListener('change',async({target})=>{const id=target.name.split('.')[0],open=form.querySelector('[type=radio][value=\"\"][name='+id+']');if(open&&target.name!==id&&target.value)open.checked=true;const data=new FormData(form),given=data.getAll(id).filter(Boolean),value=target.closest('[data-several=true]')?given:given[0]??null;out.textContent='';let ok=false;try{ok=(await fetch(form.action,{method:'POST',keepalive:true,headers:{'Content-Type':'application/json'},body:JSON.stringify({response_id:data.get('response_id')??undefined,answers:[{question_id:id,value,other:data.get(id+'.other')}]})})).ok}catch{}refused[ok?'delete':'add'](id);complaint.hidden=!refused.size;if(complaint.hidden)out.textContent=out.dataset.saved})",
].join(';');

export const questionsStyle = oneLine(`
.question { min-width: 0; margin: 0 0 2rem; padding: 0; border: 0 }
.question > label:not(.option), .question > legend { display: block; padding: 0; margin-bottom: .75rem; font-weight: 600; overflow-wrap: anywhere }
.question small { font-size: .875rem; font-weight: 400; color: var(--muted) }
.question .several { display: block }
.scale { display: flex; flex-wrap: wrap; gap: .25rem }
.scale .choice { flex: 1 0 14% }
.ends bdi:last-child { text-align: end }
.option { display: flex; align-items: center; gap: .75rem; min-height: 2.75rem; padding: .5rem .875rem; margin-bottom: .375rem; border: 1.5px solid var(--line); border-radius: .75rem; cursor: pointer; overflow-wrap: anywhere }
.option input { flex: none; width: 1.25rem; height: 1.25rem; margin: 0; accent-color: var(--accent) }
.option:has(:checked) { border-color: var(--accent); background: var(--soft) }
.other input[type=text] { width: 100%; min-height: 2.75rem; padding: .5rem .875rem; border: 1.5px solid var(--line); border-radius: .75rem; background: transparent; color: inherit; font: inherit }
.send a { display: inline-block; padding: .75rem; color: var(--muted) }
.send output { min-height: 1.5em; color: var(--muted); font-size: .9375rem }
.send + .complaint { margin: 1.5rem 0 0 }
`);
