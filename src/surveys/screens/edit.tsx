import type { Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import { toSentence } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { refusalIn } from '../../lib/http/http.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { categories, surveyTypes, typeFacts } from '../../survey-types.ts';
import { Mistakes } from '../../web/app/badges.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import {
  Choice,
  emptyForm,
  Field,
  type FormState,
  readForm,
  Select,
  SubmitOrCancel,
  Tick,
} from '../../web/app/forms.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { languageChoices, nameOfLanguage } from '../../web/language.ts';
import {
  fieldsOfSurvey,
  mistakesOf,
  reminderNumbers,
  SurveyFields,
  wishOf,
} from '../form-fields.ts';
import { changeSurvey, createSurvey } from '../lifecycle.ts';
import { findUse, type ManagedSurvey } from '../queries.ts';
import { NewSurveyInput, SurveyChangeInput } from '../schemas.ts';
import { surveyOf, surveysPath } from './parts.tsx';

type EditTools = { db: Db };

export function addForms(app: Hono<ScreenEnv>, tools: EditTools) {
  return app
    .get('/new', (c) => {
      requireRole(c, 'editor');
      const { name } = c.var.organization;
      const typed = { type: 'nps', language: 'en', from_name: name };
      return showForm(c, { form: emptyForm(typed), survey: null, hasAnswers: false });
    })

    .post('/', async (c) => {
      const editor = requireRole(c, 'editor');
      const fields = await typedIn(c);
      const shown = { survey: null, hasAnswers: false };
      if (fields['act'] === 'add-language')
        return showForm(c, { ...shown, form: addLanguage(fields) });
      const status = fields['draft'] === undefined ? 'active' : 'draft';
      const result = v.safeParse(NewSurveyInput, { ...wishOf(fields), status });
      if (!result.success) {
        const form = { typed: fields, errors: mistakesOf(result.issues) };
        return showForm(c, { ...shown, form }, 422);
      }
      const saved = await orMistake(() => createSurvey(tools, editor, result.output));
      if ('mistake' in saved) {
        const form = { typed: fields, errors: { '': saved.mistake } };
        return showForm(c, { ...shown, form }, 422);
      }
      return redirectWith(
        c,
        `${surveysPath(c.var.organization)}/${saved.id}`,
        `“${saved.name}” is made. Its link is under Share.`,
      );
    })

    .get('/:id/edit', async (c) => {
      requireRole(c, 'editor');
      const survey = await surveyOf(c, tools.db);
      const form = emptyForm(fieldsOfSurvey(survey));
      return showForm(c, { form, survey, hasAnswers: await hasAnswers(tools, survey) });
    })

    .post('/:id/edit', async (c) => {
      const editor = requireRole(c, 'editor');
      const survey = await surveyOf(c, tools.db);
      const fields = await typedIn(c);
      const shown = { survey, hasAnswers: await hasAnswers(tools, survey) };
      if (fields['act'] === 'add-language')
        return showForm(c, { ...shown, form: addLanguage(fields) });
      const { type, audience, ...wish } = wishOf(fields);
      const scale = shown.hasAnswers ? {} : { type, audience };
      const reply_to = wish.reply_to ?? wish.from_email;
      const result = v.safeParse(SurveyChangeInput, { ...wish, ...scale, reply_to });
      const typed = { ...fields, ...(shown.hasAnswers && { type: survey.type }) };
      if (!result.success) {
        return showForm(c, { ...shown, form: { typed, errors: mistakesOf(result.issues) } }, 422);
      }
      const which = { id: survey.id, change: result.output };
      const saved = await orMistake(() => changeSurvey(tools, editor, which));
      if ('mistake' in saved) {
        return showForm(c, { ...shown, form: { typed, errors: { '': saved.mistake } } }, 422);
      }
      return redirectWith(
        c,
        `${surveysPath(c.var.organization)}/${survey.id}`,
        `“${saved.name}” is saved.`,
      );
    });
}

async function typedIn(c: Context<ScreenEnv>): Promise<Record<string, string | string[]>> {
  const form = await readForm(c, SurveyFields);
  return form.errors ? { ...form.typed } : form.values;
}

const hasAnswers = async ({ db }: EditTools, { org_id, id }: ManagedSurvey) =>
  (await findUse(db, org_id, id)).answered;

/** The form with room for the texts of one more language; nothing is saved. */
function addLanguage(fields: Record<string, string | string[]>): FormState {
  const languages = [fields['languages'] ?? [], fields['add_language'] ?? []].flat();
  const { act: _act, ...typed } = fields;
  return emptyForm({ ...typed, languages: [...new Set(languages)] });
}

/** Shows above the form what only all fields together get wrong. */
async function orMistake(save: () => Promise<ManagedSurvey>) {
  try {
    return await save();
  } catch (error) {
    const refusal = refusalIn(error);
    if (refusal?.kind !== 'invalid' && refusal?.kind !== 'conflict') throw error;
    return { mistake: toSentence(refusal.message) };
  }
}

type ShownForm = { form: FormState; survey: ManagedSurvey | null; hasAnswers: boolean };

function showForm(
  c: Context<ScreenEnv>,
  { form, survey, hasAnswers }: ShownForm,
  status: 200 | 422 = 200,
) {
  const surveys = surveysPath(c.var.organization);
  const here = survey ? `${surveys}/${survey.id}` : surveys;
  const list = { text: 'Surveys', href: surveys };
  return renderScreen(c, {
    title: survey ? `Edit “${survey.name}”` : 'New survey',
    section: 'surveys',
    status,
    trail: survey ? [list, { text: survey.name, href: here }] : [list],
    body: (
      <SurveyForm
        form={form}
        action={survey ? `${here}/edit` : surveys}
        cancel={here}
        surveys={surveys}
        existing={survey ? { hasAnswers } : null}
      />
    ),
  });
}

type SurveyFormProps = {
  form: FormState;
  action: string;
  cancel: string;
  surveys: string;
  /** A survey that exists: with answers its scale stays. */
  existing: { hasAnswers: boolean } | null;
};

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
        <SubmitOrCancel button="Save" cancel={cancel} />
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

const saysWhen = (form: FormState) =>
  hasAny(form, /^(reminders|ask_after|send_window\.days)/) || hasMistake(form, /^send_window/);

const hasMistake = (form: FormState, names: RegExp) =>
  Object.keys(form.errors).some((name) => names.test(name));

const days = {
  mon: 'Monday',
  tue: 'Tuesday',
  wed: 'Wednesday',
  thu: 'Thursday',
  fri: 'Friday',
  sat: 'Saturday',
  sun: 'Sunday',
};

function AskingFields({ form }: { form: FormState }) {
  return (
    <>
      <Field
        name="ask_after_days"
        label="Ask by itself, so many days after a contact is added"
        form={form}
        inputmode="numeric"
        size="day"
        help="0 to 365. Empty: only when you send it."
      />
      {reminderNumbers.map((at) => (
        <div class="inline">
          <Field
            name={`reminders.${at}.after_days`}
            label={`Reminder ${at} after days`}
            form={form}
            inputmode="numeric"
            size="day"
          />
          <Field name={`reminders.${at}.subject`} label={`Subject of reminder ${at}`} form={form} />
        </div>
      ))}
      <Choice
        name="send_window.days"
        label="Days on which it may send"
        form={form}
        value={form.typed['send_window.days']}
        several
        options={Object.entries(days).map(([value, text]) => ({ value, text }))}
        help="For campaigns, reminders and mails by itself. Without a day: at any time."
      />
      <div class="inline">
        <Field name="send_window.from" label="From" form={form} value="09:00" size="day" />
        <Field name="send_window.to" label="To" form={form} value="17:00" size="day" />
        <Field
          name="send_window.time_zone"
          label="Time zone"
          form={form}
          value="UTC"
          help="Such as Europe/Berlin."
        />
      </div>
    </>
  );
}

const shown = [
  { value: 'page', text: 'Page' },
  { value: 'mail', text: 'Mail' },
  { value: 'promoter', text: 'Thanks to promoters' },
  { value: 'passive', text: 'Thanks to passives' },
  { value: 'detractor', text: 'Thanks to detractors' },
];

type PreviewProps = { surveys: string; languages: readonly string[] };

/** The button shows the unsaved form in the frame; a script presses it. */
function Preview({ surveys, languages }: PreviewProps) {
  return (
    <section class="preview" aria-labelledby="preview">
      <div class="title">
        <h2 id="preview">Preview</h2>
        <button
          type="submit"
          formaction={`${surveys}/preview`}
          formtarget="preview-frame"
          formnovalidate
          data-preview-button
        >
          Preview
        </button>
      </div>
      <div class="inline">
        <Select name="preview.show" label="Of" options={shown} />
        <Select
          name="preview.language"
          label="In"
          options={languages.map((value) => ({ value, text: nameOfLanguage(value) }))}
        />
        <Choice
          name="preview.device"
          label="On a"
          value="phone"
          options={[
            { value: 'phone', text: 'Phone' },
            { value: 'desktop', text: 'Desktop' },
          ]}
        />
        <Choice
          name="preview.scheme"
          label="When it is"
          value="light"
          options={[
            { value: 'light', text: 'Light' },
            { value: 'dark', text: 'Dark' },
          ]}
        />
      </div>
      <div class="screen">
        <iframe name="preview-frame" title="Preview of the survey" />
      </div>
    </section>
  );
}

type BasicsProps = {
  form: FormState;
  /** A survey that exists: with answers its scale stays. */
  existing: { hasAnswers: boolean } | null;
};

function Basics({ form, existing }: BasicsProps) {
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
          Its scale stays, because it has answers: {typeFacts(typeOf(form)).name}.
        </p>
      ) : (
        <>
          <Select
            name="type"
            label="Scale"
            form={form}
            options={surveyTypes.map((value) => ({ value, text: typeFacts(value).name }))}
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

const names = { promoter: 'promoters', passive: 'passives', detractor: 'detractors' } as const;

type TextFieldsProps = { form: FormState; prefix: string };

function TextFields({ form, prefix }: TextFieldsProps) {
  const linked = /^(?:follow_up|thanks)\.(?:promoter|passive|detractor)/;
  const isOpen = Object.entries({ ...form.typed, ...form.errors }).some(
    ([name, typed]) =>
      name.startsWith(prefix) && linked.test(name.slice(prefix.length)) && typed.length > 0,
  );
  return (
    <>
      <Field
        name={`${prefix}subject`}
        label="Subject of the mail"
        form={form}
        help="The question when it is empty."
      />
      <Field
        name={`${prefix}intro`}
        label="Before the question, in the mail"
        form={form}
        rows={3}
        help="Texts may address the contact: {{name}}, {{first_name|there}}, {{properties.plan|your plan}}."
      />
      <Field name={`${prefix}follow_up`} label="Question above the comment" form={form} />
      <Field name={`${prefix}thanks`} label="Thanks after the answer" form={form} rows={2} />
      <details class="reveal" open={isOpen}>
        <summary>Other words for each category</summary>
        <div class="fields">
          {categories.map((category) => (
            <>
              <Field
                name={`${prefix}follow_up.${category}`}
                label={`Question above the comment, for ${names[category]}`}
                form={form}
              />
              <Field
                name={`${prefix}thanks.${category}`}
                label={`Thanks to ${names[category]}`}
                form={form}
                rows={2}
              />
              <Field
                name={`${prefix}thanks.${category}.link_url`}
                label={`Link for ${names[category]}`}
                type="url"
                form={form}
                help="An https address."
              />
              <Field
                name={`${prefix}thanks.${category}.link_text`}
                label={`Words of the link for ${names[category]}`}
                form={form}
              />
            </>
          ))}
        </div>
      </details>
    </>
  );
}

function EmbedFields({ form }: { form: FormState }) {
  return (
    <>
      <Field
        name="embed.origins"
        label="Websites"
        form={form}
        rows={2}
        help="The origins that may show it, such as https://www.example.com, one a line. The lines to put there are under Share."
      />
      <Choice
        name="embed.position"
        label="Where"
        form={form}
        value={form.typed['embed.position'] ?? 'corner'}
        options={[
          { value: 'corner', text: 'In a corner' },
          { value: 'inline', text: 'In the page, where its line stands' },
        ]}
      />
      <Field
        name="embed.delay_seconds"
        label="Shows after so many seconds"
        form={form}
        inputmode="numeric"
        value={5}
        size="day"
      />
      <Field
        name="embed.every_days"
        label="Again after so many days"
        form={form}
        inputmode="numeric"
        value={30}
        size="day"
      />
    </>
  );
}
