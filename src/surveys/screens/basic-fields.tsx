import { scaleNames, surveyTypes } from '../../scores.ts';
import { Field, Select, Tick } from '../../web/app/fields.tsx';
import type { FormState } from '../../web/app/read-form.ts';
import { languageChoices } from './language-names.ts';

type BasicsProps = {
  form: FormState;
  /** A survey that exists: with answers its scale stays. */
  existing: { hasAnswers: boolean } | null;
};

/** What every survey needs: its name, its question and its sender. */
export function Basics({ form, existing }: BasicsProps) {
  return (
    <>
      <Field
        name="name"
        label="Name"
        form={form}
        help="What you call it. Contacts do not see it."
        required
      />
      <Field name="question_text" label="Question" form={form} rows={2} required />
      {existing?.hasAnswers ? (
        <p class="small soft">
          Its scale stays, because it has answers: {scaleNames[typeOf(form)]}.
        </p>
      ) : (
        <>
          <Select
            name="type"
            label="Scale"
            form={form}
            options={surveyTypes.map((value) => ({ value, text: scaleNames[value] }))}
          />
          <Tick
            name="audience"
            value="employee"
            label="It asks employees (0 to 10 only)"
            form={form}
            checked={form.typed['audience'] === 'employee'}
          />
        </>
      )}
      <Field name="from_name" label="From name" form={form} autocomplete="off" required />
      <Field
        name="from_email"
        label="From email"
        type="email"
        form={form}
        autocomplete="off"
        required
      />
      <Field
        name="reply_to"
        label="Reply to"
        type="email"
        form={form}
        autocomplete="off"
        help="Where replies go. From email when it is empty."
      />
      <Select
        name="language"
        label="Language"
        form={form}
        options={languageChoices(form.typed['language'])}
      />
      {existing ? null : (
        <Tick
          name="draft"
          label="Draft: it is not sent and takes no answers until it is opened"
          form={form}
        />
      )}
    </>
  );
}

const typeOf = (form: FormState) =>
  surveyTypes.find((type) => type === form.typed['type']) ?? 'nps';
