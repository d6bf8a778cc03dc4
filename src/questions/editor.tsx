import { randomBytes } from 'node:crypto';
import { categories } from '../survey-types.ts';
import { Checkbox, Choice, Field, type FormState } from '../web/app/forms.tsx';
import { Icon } from '../web/app/icon.tsx';
import { languageName } from '../web/language.ts';
import { maxQuestions } from './definition.ts';
import { optionNumbers, questionFields } from './form-fields.ts';

type EditorProps = { form: FormState; languages: readonly string[]; action: string };

const kinds = {
  text: { name: 'Text', add: 'Add text question' },
  scale: { name: 'Scale', add: 'Add scale question' },
  choice: { name: 'Single choice', add: 'Add single-choice question' },
  choices: { name: 'Multiple choice', add: 'Add multiple-choice question' },
};
type Kind = keyof typeof kinds;

/** The follow-up questions in the form of a survey. Its buttons post the form, which is shown again without saving. */
export function QuestionsEditor({ form, languages, action }: EditorProps) {
  const questions = questionFields(form.typed).map((own, at) => ({ own, number: at + 1 }));
  const isArchived = ({ own }: { own: FormState['typed'] }) => own['archived'] === 'true';
  const asked = questions.filter((each) => !isArchived(each));
  return (
    <>
      <div class="title">
        <h2 id="follow-ups">Follow-up questions</h2>
        <span class="sub">
          {asked.length} of {maxQuestions}
        </span>
      </div>
      <p class="sub">Asked after the score. Respondents can answer for 24 hours.</p>
      {asked.map(({ own, number }, at) => (
        <QuestionFields
          own={own}
          number={number}
          form={form}
          languages={languages}
          action={action}
          isFirst={at === 0}
          isLast={at === asked.length - 1}
        />
      ))}
      <details class="menu">
        <summary class="button">
          <Icon name="plus" />
          Add question
        </summary>
        <ul class="list">
          {Object.entries(kinds).map(([kind, { add }]) => (
            <li>
              <Act
                action={action}
                act={`question-add:${kind}`}
                to={questions.length + 1}
                text={add}
              />
            </li>
          ))}
        </ul>
      </details>
      {questions.filter(isArchived).map(({ own, number }) => (
        <div class="inline">
          {Object.entries(own).map(([name, values]) =>
            [values]
              .flat()
              .map((value) => (
                <input type="hidden" name={`questions.${number}.${name}`} value={value} />
              )),
          )}
          <span class="sub">
            Archived: <bdi>{own['text']}</bdi>
          </span>
          <Act action={action} act={`question-restore:${number}`} to={number} text="Restore" />
        </div>
      ))}
    </>
  );
}

type ActProps = {
  action: string;
  act: string;
  to: number;
  text: string;
  danger?: boolean;
};

/** The fragment brings the browser back to the question. */
const Act = ({ action, act, to, text, danger = false }: ActProps) => (
  <button
    class={danger ? 'mini danger' : 'mini'}
    type="submit"
    name="act"
    value={act}
    formaction={`${action}#question-${Math.max(to, 1)}`}
    formnovalidate
  >
    {text}
  </button>
);

type QuestionProps = EditorProps & {
  own: FormState['typed'];
  number: number;
  isFirst: boolean;
  isLast: boolean;
};

function QuestionFields({ own, number, form, languages, action, isFirst, isLast }: QuestionProps) {
  const prefix = `questions.${number}.`;
  const kind = (own['kind'] ?? 'text') as Kind;
  const isTicked = (name: string) => ['true', 'on'].includes(String(own[name] ?? ''));
  const error = form.errors[`questions.${number}`];
  const isNew = !own['text'];
  const hasError = Object.keys(form.errors).some(
    (name) => name === `questions.${number}` || name.startsWith(prefix),
  );
  return (
    <details class="question" open={isNew || hasError}>
      <summary>
        <span class="num">{number}</span>
        <span class="grow">
          <b>{isNew ? 'New question' : <bdi>{own['text']}</bdi>}</b>
          <small>
            {kinds[kind]?.name ?? kind} · {askedOf(own)}
          </small>
        </span>
        <Icon name="chevron-down" />
      </summary>
      <fieldset class="stack" id={`question-${number}`} tabindex={-1}>
        <legend class="hidden">
          Question {number}: {kinds[kind]?.name ?? kind}
        </legend>
        {error ? <p class="error">{error}</p> : null}
        <input type="hidden" name={`${prefix}id`} value={own['id'] ?? ''} />
        <input type="hidden" name={`${prefix}kind`} value={kind} />
        <Field name={`${prefix}text`} label="Text" form={form} required />
        {kind === 'scale' ? <ScaleFields prefix={prefix} form={form} /> : null}
        {kind === 'choice' || kind === 'choices' ? (
          <>
            <OptionFields own={own} number={number} form={form} action={action} />
            <Checkbox
              name={`${prefix}allow_other`}
              label="Allow other answers, in the respondent’s own words"
              checked={isTicked('allow_other')}
            />
          </>
        ) : null}
        <Checkbox name={`${prefix}required`} label="Required" checked={isTicked('required')} />
        <Choice
          name={`${prefix}categories`}
          label="Ask only"
          form={form}
          value={[own['categories'] ?? []].flat()}
          several
          options={categories.map((value) => ({ value, text: categoryNames[value] }))}
          help="Select none to ask everyone."
        />
        {languages.map((tag) => (
          <TranslationFields own={own} number={number} form={form} kind={kind} tag={tag} />
        ))}
        <div class="acts">
          {isFirst ? null : (
            <Act action={action} act={`question-up:${number}`} to={number - 1} text="Move up" />
          )}
          {isLast ? null : (
            <Act action={action} act={`question-down:${number}`} to={number + 1} text="Move down" />
          )}
          <Act
            action={action}
            act={`question-remove:${number}`}
            to={number - 1}
            text="Remove question"
            danger
          />
        </div>
      </fieldset>
    </details>
  );
}

function askedOf(own: FormState['typed']): string {
  const asked = [own['categories'] ?? []].flat();
  return asked.length === 0
    ? 'everybody'
    : categories
        .filter((each) => asked.includes(each))
        .map((each) => categoryNames[each].toLowerCase())
        .join(', ');
}

const categoryNames = { promoter: 'Promoters', passive: 'Passives', detractor: 'Detractors' };

function ScaleFields({ prefix, form }: { prefix: string; form: FormState }) {
  const inNumber = { inputmode: 'numeric', size: 'day' } as const;
  return (
    <>
      <div class="inline">
        <Field {...inNumber} name={`${prefix}min`} label="Lowest value" form={form} value={0} />
        <Field {...inNumber} name={`${prefix}max`} label="Highest value" form={form} value={10} />
      </div>
      <EndLabels prefix={prefix} form={form} />
    </>
  );
}

const EndLabels = ({ prefix, form }: { prefix: string; form: FormState }) => (
  <>
    <Field name={`${prefix}min_label`} label="Label of the lowest value" form={form} />
    <Field name={`${prefix}max_label`} label="Label of the highest value" form={form} />
  </>
);

const spareOptions = 2;
const minOptions = 4;

type OptionsProps = Pick<QuestionProps, 'own' | 'number' | 'form' | 'action'>;

/** Includes empty rows for more options. Each row has an id from the start, so that translations can refer to it. */
function OptionFields({ own, number, form, action }: OptionsProps) {
  const prefix = `questions.${number}.options.`;
  const filled = optionNumbers(own).filter((at) => own[`options.${at}.label`] !== '');
  const next = Math.max(0, ...optionNumbers(own)) + 1;
  const spare = Math.max(spareOptions, minOptions - filled.length);
  const rows = [...filled, ...Array.from({ length: spare }, (_, at) => next + at)];
  const error = form.errors[`questions.${number}.options`];
  return (
    <fieldset class="field opts">
      <legend>Options</legend>
      {error ? <p class="error">{error}</p> : null}
      {rows.map((at, place) => (
        <>
          <input
            type="hidden"
            name={`${prefix}${at}.id`}
            value={own[`options.${at}.id`] ?? `o_${randomBytes(4).toString('hex')}`}
          />
          <Field name={`${prefix}${at}.label`} label={`Option ${place + 1}`} form={form} />
        </>
      ))}
      <Act action={action} act={`question-options:${number}`} to={number} text="More options" />
    </fieldset>
  );
}

type TranslationProps = Pick<QuestionProps, 'own' | 'number' | 'form'> & {
  kind: Kind;
  tag: string;
};

function TranslationFields({ own, number, form, kind, tag }: TranslationProps) {
  const prefix = `questions.${number}.texts.${tag}.`;
  const options = optionNumbers(own).filter((at) => own[`options.${at}.label`]);
  return (
    <details class="reveal">
      <summary>{languageName(tag)}</summary>
      <div class="stack">
        <Field name={`${prefix}text`} label="Text" form={form} />
        {kind === 'scale' ? <EndLabels prefix={prefix} form={form} /> : null}
        {kind === 'choice' || kind === 'choices'
          ? options.map((at) => (
              <Field
                name={`${prefix}options.${String(own[`options.${at}.id`])}`}
                label={String(own[`options.${at}.label`])}
                form={form}
              />
            ))
          : null}
      </div>
    </details>
  );
}
