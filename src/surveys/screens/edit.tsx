import type { Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import { type RefusalKind, toSentence } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { refusalIn } from '../../lib/http/http.ts';
import { isOutdated } from '../../lib/http/version.ts';
import type { SendProgress } from '../../sends/send.ts';
import { sendTestToMember } from '../../sends/test-mail.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { categories, surveyTypes, typeFacts } from '../../survey-types.ts';
import { FormErrors, Notice } from '../../web/app/badges.tsx';
import { type FlashNotice, redirectWith } from '../../web/app/flash.ts';
import {
  Checkbox,
  Choice,
  conflictErrors,
  emptyForm,
  Field,
  type FormState,
  readForm,
  readVersion,
  Select,
  type StoredForm,
  SubmitOrCancel,
  statusOf,
  TimeZoneSelect,
  Version,
} from '../../web/app/forms.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { languageChoices, languageName } from '../../web/language.ts';
import {
  fieldErrors,
  readSurveyFields,
  reminderNumbers,
  SurveyFields,
  surveyToFields,
} from '../form-fields.ts';
import { changeSurvey, createSurvey, versionOfSurvey } from '../lifecycle.ts';
import { findLatestSender, findUse, type ManagedSurvey } from '../queries.ts';
import { NewSurveyInput, SurveyChangeInput } from '../schemas.ts';
import { surveyOf, surveysPath } from './parts.tsx';

type EditTools = { db: Db; progress: Pick<SendProgress, 'watch'> };

export function addForms(app: Hono<ScreenEnv>, tools: EditTools) {
  return app
    .get('/new', async (c) => {
      const { orgId } = requireRole(c, 'editor');
      const { name } = c.var.organization;
      const sender = (await findLatestSender(tools.db, orgId)) ?? { from_name: name };
      const form = emptyForm({ type: 'nps', language: 'en', ...sender });
      return showForm(c, { form, survey: null, hasAnswers: false });
    })

    .post('/', (c) => saveForm(c, tools, null))

    .get('/:id/edit', async (c) => {
      requireRole(c, 'editor');
      const survey = await surveyOf(c, tools.db);
      const form = emptyForm(surveyToFields(survey));
      return showForm(c, { form, survey, hasAnswers: await hasAnswers(tools, survey) });
    })

    .post('/:id/edit', async (c) => {
      requireRole(c, 'editor');
      return await saveForm(c, tools, await surveyOf(c, tools.db));
    });
}

const hasAnswers = async ({ db }: EditTools, { org_id, id }: ManagedSurvey) =>
  (await findUse(db, org_id, id)).answered;

/** Makes a survey, or changes one; with answers its scale stays. */
async function saveForm(c: Context<ScreenEnv>, tools: EditTools, survey: ManagedSurvey | null) {
  const editor = requireRole(c, 'editor');
  const { values, typed } = await readForm(c, SurveyFields).then((form) => ({
    typed: {},
    ...form,
  }));
  const fields = values ?? typed;
  const answered = survey !== null && (await hasAnswers(tools, survey));
  if (fields['act'] === 'add-language') {
    return showForm(c, { survey, hasAnswers: answered, form: addLanguage(fields) });
  }
  const ifMatch = await readVersion(c);
  const wish = readSurveyFields(fields);
  const change = {
    ...wish,
    reply_to: wish.reply_to ?? wish.from_email,
    ...(answered && { type: undefined, audience: undefined }),
  };
  if (survey && fields['act'] === 'test-mail') {
    const { email } = c.var.member;
    const language = [fields['preview.language'] ?? []].flat()[0];
    const tested = await trySave(c, SurveyChangeInput, change, (content) =>
      sendTestToMember(tools, editor, { surveyId: survey.id, email, language, content }),
    );
    const { act: _act, ...typed } = fields;
    const form = { typed, errors: tested.errors ?? {} };
    return showForm(c, { survey, hasAnswers: answered, form, notice: tested.saved });
  }
  const outcome = survey
    ? await trySave(
        c,
        SurveyChangeInput,
        change,
        (changes) => changeSurvey(tools, editor, { id: survey.id, change: changes, ifMatch }),
        storedOf(survey, fields, answered),
      )
    : await trySave(
        c,
        NewSurveyInput,
        { ...wish, status: fields['draft'] === undefined ? 'active' : 'draft' },
        (input) => createSurvey(tools, editor, input),
      );
  if (outcome.errors) {
    const saved = outcome.typed && survey ? Object.keys(survey.texts) : [];
    const languages = [fields['languages'] ?? [], saved].flat();
    const form = {
      typed: {
        ...fields,
        ...outcome.typed,
        languages: [...new Set(languages)],
        ...(survey && answered && { type: survey.type, audience: survey.audience ?? '' }),
      },
      errors: outcome.errors,
    };
    return showForm(c, { survey, hasAnswers: answered, form });
  }
  const { id, name } = outcome.saved;
  return redirectWith(
    c,
    `${surveysPath(c.var.organization)}/${id}`,
    survey ? `“${name}” is saved.` : `“${name}” is made. Its link is under Share.`,
  );
}

type SaveOutcome<T> =
  | { saved: T; errors?: never }
  | (Pick<FormState, 'errors'> & Partial<FormState> & { saved?: never });

/** Shows above the form what only all fields together get wrong. */
async function trySave<const S extends v.GenericSchema, T>(
  c: Context,
  schema: S,
  wish: unknown,
  save: (input: v.InferOutput<S>) => Promise<T>,
  stored?: StoredForm,
): Promise<SaveOutcome<T>> {
  const result = v.safeParse(schema, wish);
  if (!result.success) return { errors: fieldErrors(result.issues) };
  try {
    return { saved: await save(result.output) };
  } catch (error) {
    if (isOutdated(error) && stored) return await conflictErrors(c, stored);
    const refusal = refusalIn(error);
    if (!refusal || !shownInForm.has(refusal.kind)) throw error;
    return { errors: { '': toSentence(refusal.message) } };
  }
}

const shownInForm = new Set<RefusalKind>(['invalid', 'conflict', 'rate_limited']);

/** What is stored of the fields of the form; those that only one of the two versions has are empty in the other. */
function storedOf(
  survey: ManagedSurvey,
  fields: FormState['typed'],
  answered: boolean,
): StoredForm {
  const hours = Object.fromEntries(hourFields.map(({ name, value }) => [name, value]));
  const stored: FormState['typed'] = { ...hours, ...surveyToFields(survey) };
  const names = Object.keys({ ...stored, ...fields })
    .filter((name) => surveyField.test(name))
    .filter((name) => !answered || (name !== 'type' && name !== 'audience'));
  return {
    version: versionOfSurvey(survey),
    fields: Object.fromEntries(names.map((name) => [name, stored[name]])),
  };
}

const surveyField =
  /^(name|question_text|type|audience|from_\w+|reply_to|language|subject|intro|ask_after_days|(follow_up|thanks|texts|reminders|send_window|embed)\b.*)$/;

/** The form with room for the texts of one more language; nothing is saved. */
function addLanguage(fields: FormState['typed']): FormState {
  const languages = [fields['languages'] ?? [], fields['add_language'] ?? []].flat();
  const { act: _act, ...typed } = fields;
  return emptyForm({ ...typed, languages: [...new Set(languages)] });
}

type ShownForm = {
  form: FormState;
  survey: ManagedSurvey | null;
  hasAnswers: boolean;
  notice?: FlashNotice | undefined;
};

function showForm(c: Context<ScreenEnv>, { form, survey, hasAnswers, notice }: ShownForm) {
  const surveys = surveysPath(c.var.organization);
  const here = survey ? `${surveys}/${survey.id}` : surveys;
  const list = { text: 'Surveys', href: surveys };
  return renderScreen(c, {
    title: survey ? `Edit “${survey.name}”` : 'New survey',
    section: 'surveys',
    status: statusOf(form),
    trail: survey ? [list, { text: survey.name, href: here }] : [list],
    body: (
      <>
        {notice ? <Notice {...notice} /> : null}
        <SurveyForm
          form={form}
          action={survey ? `${here}/edit` : surveys}
          cancel={here}
          surveys={surveys}
          existing={survey ? { hasAnswers, version: versionOfSurvey(survey) } : null}
        />
      </>
    ),
  });
}

type SurveyFormProps = {
  form: FormState;
  action: string;
  cancel: string;
  surveys: string;
  /** A survey that exists: with answers its scale stays. */
  existing: { hasAnswers: boolean; version: string } | null;
};

export function SurveyForm({ form, action, cancel, surveys, existing }: SurveyFormProps) {
  const languages = [form.typed['languages'] ?? []].flat();
  const taken = [form.typed['language'] ?? 'en', ...languages].flat();
  return (
    <form method="post" action={action} class="columns split" data-preview>
      <div class="fields">
        <FormErrors form={form} />
        <Version form={form} value={existing?.version} />
        <Basics form={form} existing={existing} />
        <Reveal title="More texts" isOpen={hasAny(form, /^(subject|intro|follow_up|thanks)/)}>
          <TextFields form={form} prefix="" />
        </Reveal>
        <Reveal title="Languages" isOpen={languages.length > 0 || hasMistake(form, /^texts/)}>
          <Languages form={form} languages={languages} taken={taken} />
        </Reveal>
        <Reveal
          title="When it asks"
          isOpen={
            hasAny(form, /^(reminders|ask_after|send_window\.days)/) ||
            hasMistake(form, /^send_window/)
          }
        >
          <AskingFields form={form} />
        </Reveal>
        <Reveal title="On a website" isOpen={hasAny(form, /^embed\.origins/)}>
          <EmbedFields form={form} />
        </Reveal>
        <SubmitOrCancel button="Save" cancel={cancel} />
      </div>
      <Preview surveys={surveys} languages={taken} form={form} isNew={existing === null} />
    </form>
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

const hasMistake = (form: FormState, names: RegExp) =>
  Object.keys(form.errors).some((name) => names.test(name));

type FieldsProps = { form: FormState; fields: readonly Parameters<typeof Field>[0][] };

const Fields = ({ form, fields }: FieldsProps) => (
  <>
    {fields.map((field) => (
      <Field {...field} form={form} />
    ))}
  </>
);

const senderFields = [
  { name: 'from_name', label: 'From name', autocomplete: 'off', required: true },
  { name: 'from_email', label: 'From email', type: 'email', autocomplete: 'off', required: true },
  {
    name: 'reply_to',
    label: 'Reply to',
    type: 'email',
    autocomplete: 'off',
    help: 'Where replies go. From email when it is empty.',
  },
] as const;

function Basics({ form, existing }: Pick<SurveyFormProps, 'form' | 'existing'>) {
  const type = surveyTypes.find((each) => each === form.typed['type']) ?? 'nps';
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
        <>
          <p class="small soft">Its scale stays, because it has answers: {typeFacts(type).name}.</p>
          {/* The preview needs them; a save ignores them. */}
          <input type="hidden" name="type" value={type} />
          <input type="hidden" name="audience" value={form.typed['audience'] ?? ''} />
        </>
      ) : (
        <>
          <Select
            name="type"
            label="Scale"
            form={form}
            options={surveyTypes.map((value) => ({ value, text: typeFacts(value).name }))}
          />
          <Checkbox
            name="audience"
            value="employee"
            label="It asks employees (0 to 10 only)"
            form={form}
            checked={form.typed['audience'] === 'employee'}
          />
        </>
      )}
      <Fields form={form} fields={senderFields} />
      <Select
        name="language"
        label="Language"
        form={form}
        options={languageChoices(form.typed['language'])}
      />
      {existing ? null : (
        <Checkbox
          name="draft"
          label="Draft: it is not sent and takes no answers until it is opened"
          form={form}
        />
      )}
    </>
  );
}

const categoryNames = { promoter: 'promoters', passive: 'passives', detractor: 'detractors' };

const textFields = [
  { name: 'subject', label: 'Subject of the mail', help: 'The question when it is empty.' },
  {
    name: 'intro',
    label: 'Before the question, in the mail',
    rows: 3,
    help: 'The mail greets the contact before it, so leave the greeting out. Texts may address the contact: {{name}}, {{first_name|there}}, {{properties.plan|your plan}}.',
  },
  { name: 'follow_up', label: 'Question above the comment' },
  { name: 'thanks', label: 'Thanks after the answer', rows: 2 },
];

const categoryFields = categories.flatMap((category) => {
  const people = categoryNames[category];
  const thanks = `thanks.${category}`;
  return [
    { name: `follow_up.${category}`, label: `Question above the comment, for ${people}` },
    { name: thanks, label: `Thanks to ${people}`, rows: 2 },
    {
      name: `${thanks}.link_url`,
      label: `Link for ${people}`,
      type: 'url' as const,
      help: 'An https address. Without a text of your own it follows the usual thanks.',
    },
    { name: `${thanks}.link_text`, label: `Words of the link for ${people}` },
  ];
});

function TextFields({ form, prefix }: { form: FormState; prefix: string }) {
  const filled = { ...form.typed, ...form.errors };
  const prefixed = <F extends { name: string }>(fields: readonly F[]) =>
    fields.map((field) => ({ ...field, name: `${prefix}${field.name}` }));
  const ofCategories = prefixed(categoryFields);
  return (
    <>
      <Fields form={form} fields={prefixed(textFields)} />
      <details class="reveal" open={ofCategories.some(({ name }) => filled[name]?.length)}>
        <summary>Other words for each category</summary>
        <div class="fields">
          <Fields form={form} fields={ofCategories} />
        </div>
      </details>
    </>
  );
}

type LanguagesProps = {
  form: FormState;
  languages: readonly string[];
  taken: readonly string[];
};

function Languages({ form, languages, taken }: LanguagesProps) {
  const rest = languageChoices(undefined).filter(({ value }) => !taken.includes(value));
  return (
    <>
      <p class="small soft">
        A contact reads the survey in the language of its property “language”, else in one that its
        browser asks for. A language without a question is taken away.
      </p>
      {languages.map((tag) => (
        <fieldset class="fields">
          <legend>{languageName(tag)}</legend>
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

/** A number of days or seconds. */
const inNumber = { inputmode: 'numeric', size: 'day' } as const;

const days = {
  mon: 'Monday',
  tue: 'Tuesday',
  wed: 'Wednesday',
  thu: 'Thursday',
  fri: 'Friday',
  sat: 'Saturday',
  sun: 'Sunday',
};

const optionsOf = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([value, text]) => ({ value, text }));

const hourFields = [
  { name: 'send_window.from', label: 'From', value: '09:00', size: 'day' },
  { name: 'send_window.to', label: 'To', value: '17:00', size: 'day' },
] as const;

function AskingFields({ form }: { form: FormState }) {
  return (
    <>
      <Field
        {...inNumber}
        name="ask_after_days"
        label="Ask by itself, so many days after a contact is added"
        form={form}
        help="0 to 365. Empty: only when you send it."
      />
      {reminderNumbers.map((at) => (
        <div class="inline">
          <Field
            {...inNumber}
            name={`reminders.${at}.after_days`}
            label={`Reminder ${at} after days`}
            form={form}
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
        options={optionsOf(days)}
        help="For campaigns, reminders and mails by itself. Without a day: at any time."
      />
      <div class="inline">
        <Fields form={form} fields={hourFields} />
        <TimeZoneSelect name="send_window.time_zone" label="Time zone" form={form} value="UTC" />
      </div>
    </>
  );
}

const shownParts = {
  page: 'Page',
  mail: 'Mail',
  promoter: 'Thanks to promoters',
  passive: 'Thanks to passives',
  detractor: 'Thanks to detractors',
};

const timingFields = [
  { ...inNumber, name: 'embed.delay_seconds', label: 'Shows after so many seconds', value: 5 },
  { ...inNumber, name: 'embed.every_days', label: 'Again after so many days', value: 30 },
];

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
        options={optionsOf({
          corner: 'In a corner',
          inline: 'In the page, where its line stands',
        })}
      />
      <Fields form={form} fields={timingFields} />
    </>
  );
}

type PreviewProps = {
  surveys: string;
  languages: readonly string[];
  form: FormState;
  isNew: boolean;
};

/** The button shows the unsaved form in the frame; a script presses it. */
function Preview({ surveys, languages, form, isNew }: PreviewProps) {
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
        {isNew ? null : (
          <button type="submit" name="act" value="test-mail" formnovalidate>
            Send me a test
          </button>
        )}
      </div>
      <div class="inline">
        <Select name="preview.show" label="Of" form={form} options={optionsOf(shownParts)} />
        <Select
          name="preview.language"
          label="In"
          form={form}
          options={languages.map((value) => ({ value, text: languageName(value) }))}
        />
        <Choice
          name="preview.device"
          label="On a"
          value="phone"
          options={optionsOf({ phone: 'Phone', desktop: 'Desktop' })}
        />
        <Choice
          name="preview.scheme"
          label="When it is"
          value="light"
          options={optionsOf({ light: 'Light', dark: 'Dark' })}
        />
      </div>
      <div class="screen">
        <iframe name="preview-frame" title="Preview of the survey" />
      </div>
    </section>
  );
}
