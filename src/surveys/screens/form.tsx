import type { Child } from 'hono/jsx';
import { Field, Select } from '../../web/app/fields.tsx';
import { Mistakes } from '../../web/app/marks.tsx';
import type { FormState } from '../../web/app/read-form.ts';
import { AskingFields } from './asking-fields.tsx';
import { Basics } from './basic-fields.tsx';
import { EmbedFields } from './embed-fields.tsx';
import { languageChoices, nameOfLanguage } from './language-names.ts';
import { Preview } from './preview-pane.tsx';
import { TextFields } from './text-fields.tsx';

export type SurveyFormProps = {
  form: FormState;
  /** Where it is posted to, and where Cancel leads. */
  action: string;
  cancel: string;
  /** Below which the previews are. */
  surveys: string;
  /** A survey that exists: with answers its scale stays. */
  existing: { hasAnswers: boolean } | null;
};

/** All that is decided about a survey, with what its contacts will see next to it. */
export function SurveyForm({ form, action, cancel, surveys, existing }: SurveyFormProps) {
  const languages = [form.typed['languages'] ?? []].flat();
  return (
    <form method="post" action={action} class="columns split" data-preview>
      <div class="fields">
        <Mistakes form={form} />
        <Basics form={form} existing={existing} />
        <Reveal title="More texts" isOpen={hasAny(form, /^(subject|intro|follow_up|thanks)/)}>
          <TextFields form={form} prefix="" />
        </Reveal>
        <Reveal title="Languages" isOpen={languages.length > 0 || hasMistake(form, /^texts/)}>
          <Languages form={form} languages={languages} />
        </Reveal>
        <Reveal title="When it asks" isOpen={saysWhen(form)}>
          <AskingFields form={form} />
        </Reveal>
        <Reveal title="On a website" isOpen={hasAny(form, /^embed\.origins/)}>
          <EmbedFields form={form} />
        </Reveal>
        <div class="actions">
          <button type="submit" class="primary">
            Save
          </button>
          <a class="more" href={cancel}>
            Cancel
          </a>
        </div>
      </div>
      <Preview
        surveys={surveys}
        languages={[form.typed['language'] ?? 'en', ...languages].flat()}
      />
    </form>
  );
}

function Languages({ form, languages }: { form: FormState; languages: readonly string[] }) {
  const taken = [form.typed['language'] ?? 'en', ...languages].flat();
  const rest = languageChoices(undefined).filter(({ value }) => !taken.includes(value));
  return (
    <>
      <p class="small soft">
        A contact reads the survey in the language of its property “language”, else in one that its
        browser asks for. A language without a question is taken away.
      </p>
      {languages.map((tag) => (
        <fieldset class="fields">
          <legend>{nameOfLanguage(tag)}</legend>
          <input type="hidden" name="languages" value={tag} />
          <Field name={`texts.${tag}.question_text`} label="Question" form={form} rows={2} />
          <TextFields form={form} prefix={`texts.${tag}.`} />
        </fieldset>
      ))}
      {rest.length > 0 ? (
        <div class="inline">
          <Select name="add_language" label="Another language" options={rest} />
          <button type="submit" name="act" value="add-language" formnovalidate>
            Add language
          </button>
        </div>
      ) : null}
    </>
  );
}

type RevealProps = { title: string; isOpen: boolean; children: Child };

const Reveal = ({ title, isOpen, children }: RevealProps) => (
  <details class="reveal" open={isOpen}>
    <summary>{title}</summary>
    <div class="fields">{children}</div>
  </details>
);

const hasAny = (form: FormState, names: RegExp) =>
  hasMistake(form, names) ||
  Object.entries(form.typed).some(([name, typed]) => names.test(name) && typed.length > 0);

/** The hours and the time zone of the days to send on are filled in from the start. */
const saysWhen = (form: FormState) =>
  hasAny(form, /^(reminders|ask_after|send_window\.days)/) || hasMistake(form, /^send_window/);

const hasMistake = (form: FormState, names: RegExp) =>
  Object.keys(form.errors).some((name) => names.test(name));
