import type { Context, Hono } from 'hono';
import * as v from 'valibot';
import { type RefusalKind, toSentence } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { refusalIn } from '../../lib/http/http.ts';
import { isOutdated } from '../../lib/http/version.ts';
import { getOrganization } from '../../organizations/queries.ts';
import { QuestionsEditor } from '../../questions/editor.tsx';
import { changeQuestions } from '../../questions/form-fields.ts';
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
  FoldCard,
  type FormState,
  LinkButton,
  optionsOf,
  readForm,
  readVersion,
  Segments,
  Select,
  type StoredForm,
  TimeZoneSelect,
  Version,
} from '../../web/app/forms.tsx';
import { Icon } from '../../web/app/icon.tsx';
import { counted } from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { renderSurveyScreen } from '../../web/app/survey-screen.tsx';
import { languageChoices, languageName } from '../../web/language.ts';
import {
  fieldErrors,
  listIn,
  readSurveyFields,
  reminderNumbers,
  SurveyFields,
  surveyToFields,
} from '../form-fields.ts';
import { changeSurvey, createSurvey, versionOfSurvey } from '../lifecycle.ts';
import { findLatestSender, findUse, type ManagedSurvey } from '../queries.ts';
import { NewSurveyInput, SurveyChangeInput } from '../schemas.ts';
import { templateFields, templateLanguage, translatedFields } from '../templates.ts';
import { surveyOf, surveyPath, surveysPath } from './parts.tsx';
import { renderTemplates } from './templates.tsx';

type EditTools = { db: Db; progress: Pick<SendProgress, 'watch'> };

export function addForms(app: Hono<ScreenEnv>, tools: EditTools) {
  return app
    .get('/new', async (c) => {
      const { orgId } = requireRole(c, 'editor');
      const { name, language: own } = await getOrganization(tools.db, orgId);
      const language = templateLanguage(c.req.query('language'), own);
      const template = c.req.query('template') ?? '';
      const fields =
        template === 'blank'
          ? { type: 'nps', language: own }
          : templateFields(template, { language, organization: name });
      if (!fields) return renderTemplates(c, language);
      const sender = (await findLatestSender(tools.db, orgId)) ?? { from_name: name };
      return showForm(c, { form: emptyForm({ ...fields, ...sender }), survey: null });
    })

    .post('/', (c) => saveForm(c, tools, null))

    .get('/:id/edit', async (c) => {
      requireRole(c, 'editor');
      const survey = await surveyOf(c, tools.db);
      const { answered } = await findUse(tools.db, survey.org_id, survey.id);
      return showForm(c, { form: emptyForm(surveyToFields(survey)), survey, answered });
    })

    .post('/:id/edit', async (c) => {
      requireRole(c, 'editor');
      return await saveForm(c, tools, await surveyOf(c, tools.db));
    });
}

async function saveForm(c: Context<ScreenEnv>, tools: EditTools, survey: ManagedSurvey | null) {
  const editor = requireRole(c, 'editor');
  const posted = await readForm(c, SurveyFields);
  const fields = posted.values ?? posted.typed;
  const use = survey && (await findUse(tools.db, survey.org_id, survey.id));
  const answered = use?.answered ?? false;
  const show = (form: FormState, notice?: FlashNotice) =>
    showForm(c, { survey, answered, form, notice });
  if (fields['act'] === 'add-language') return show(addLanguage(c, fields));
  const changedQuestions = changeQuestions(fields);
  if (changedQuestions) return show(emptyForm(changedQuestions));
  const ifMatch = await readVersion(c);
  const input = readSurveyFields(fields);
  const change = {
    ...input,
    reply_to: input.reply_to ?? input.from_email,
    ...(answered && { type: undefined, audience: undefined }),
  };
  if (survey && fields['act'] === 'test-mail') {
    const { email } = c.var.member;
    const [language] = listIn(fields, 'preview.language');
    const tested = await trySave(c, SurveyChangeInput, change, (content) =>
      sendTestToMember(tools, editor, { surveyId: survey.id, email, language, content }),
    );
    const { act: _act, ...typed } = fields;
    return show({ typed, errors: tested.errors ?? {} }, tested.saved);
  }
  const outcome = survey
    ? await trySave(
        c,
        SurveyChangeInput,
        change,
        (changes) => changeSurvey(tools, editor, { id: survey.id, change: changes, ifMatch }),
        storedOf(c, { survey, fields, answered }),
      )
    : await trySave(
        c,
        NewSurveyInput,
        { ...input, status: fields['draft'] === undefined ? 'active' : 'draft' },
        (survey) => createSurvey(tools, editor, survey),
      );
  if (outcome.errors) {
    const saved = outcome.typed && survey ? Object.keys(survey.texts) : [];
    const languages = [...listIn(fields, 'languages'), ...saved];
    const typed = {
      ...fields,
      ...outcome.typed,
      languages: [...new Set(languages)],
      ...(survey && answered && { type: survey.type, audience: survey.audience ?? '' }),
    };
    return show({ typed, errors: outcome.errors });
  }
  const { saved } = outcome;
  const done = survey ? 'saved.' : 'created. Find its link under Share.';
  return redirectWith(c, surveyPath(c, saved), `“${saved.name}” ${done}`);
}

type SaveOutcome<T> =
  | { saved: T; errors?: never }
  | (Pick<FormState, 'errors'> & Partial<FormState> & { saved?: never });

/** Refusals that belong to no single field are shown above the form. */
async function trySave<const S extends v.GenericSchema, T>(
  c: Context,
  schema: S,
  input: unknown,
  save: (input: v.InferOutput<S>) => Promise<T>,
  stored?: StoredForm,
): Promise<SaveOutcome<T>> {
  const result = v.safeParse(schema, input);
  if (!result.success) return { errors: fieldErrors(result.issues) };
  try {
    return { saved: await save(result.output) };
  } catch (error) {
    if (isOutdated(error) && stored) return await conflictErrors(c, stored);
    const refusal = refusalIn(error);
    if (!refusal || !shownInForm.has(refusal.kind)) throw error;
    const [, number, field, message = ''] = questionMistake.exec(refusal.message) ?? [];
    if (number === undefined) return { errors: { '': toSentence(refusal.message) } };
    const name = `questions.${Number(number) + 1}${field ?? ''}`;
    return { errors: { [name]: toSentence(message) } };
  }
}

/** A refusal of one question: its number, its field and the error. */
const questionMistake = /^questions\.(\d+)(\.\w+)?[\w.]*: (.*)$/s;

const shownInForm = new Set<RefusalKind>(['invalid', 'conflict', 'rate_limited']);

type Edited = { survey: ManagedSurvey; fields: FormState['typed']; answered: boolean };

/** The stored values of the form's fields, including fields that only the form or only the survey has. */
function storedOf(c: Context<ScreenEnv>, { survey, fields, answered }: Edited): StoredForm {
  const hours = Object.fromEntries(hourFields.map(({ name, value }) => [name, value]));
  const stored: FormState['typed'] = { ...hours, ...zoneOf(c), ...surveyToFields(survey) };
  const names = Object.keys({ ...stored, ...fields })
    .filter((name) => surveyField.test(name))
    .filter((name) => !answered || (name !== 'type' && name !== 'audience'));
  return {
    version: versionOfSurvey(survey),
    fields: Object.fromEntries(names.map((name) => [name, stored[name]])),
  };
}

const surveyField =
  /^(name|question_text|type|audience|from_\w+|reply_to|language|subject|intro|ask_after_days|(follow_up|thanks|texts|reminders|send_window|embed|questions)\b.*)$/;

/** Adds fields for one more language without saving. Texts of a template come with their translation. */
function addLanguage(c: Context<ScreenEnv>, fields: FormState['typed']): FormState {
  const added = listIn(fields, 'add_language');
  const languages = new Set([...listIn(fields, 'languages'), ...added]);
  const translations = added.map((tag) => translatedFields(fields, c.var.organization.name, tag));
  return emptyForm(Object.assign({}, ...translations, fields, { languages: [...languages] }));
}

type ShownForm = {
  form: FormState;
  survey: ManagedSurvey | null;
  answered?: boolean;
  notice?: FlashNotice | undefined;
};

/** A survey without sending days starts with the time zone of its organization. */
const zoneOf = (c: Context<ScreenEnv>) => ({
  'send_window.time_zone': c.var.organization.timeZone,
});

function showForm(c: Context<ScreenEnv>, { form, survey, answered = false, notice }: ShownForm) {
  const surveys = surveysPath(c.var.organization);
  const here = survey ? `${surveys}/${survey.id}` : surveys;
  const page = {
    form,
    actions: (
      <>
        <a class="button small-only" href="#preview">
          Preview
        </a>
        {/* First in the page, so that Enter in a field saves. */}
        <button type="submit" form="survey-form" class="primary">
          Save
        </button>
        {survey ? (
          <button type="submit" form="survey-form" name="act" value="test-mail" formnovalidate>
            Send me a test
          </button>
        ) : null}
      </>
    ),
    body: (
      <>
        {notice ? <Notice {...notice} /> : null}
        <SurveyForm
          form={{ ...form, typed: { ...zoneOf(c), ...form.typed } }}
          action={survey ? `${here}/edit` : surveys}
          cancel={here}
          surveys={surveys}
          existing={survey && { hasAnswers: answered, version: versionOfSurvey(survey) }}
        />
      </>
    ),
  } as const;
  if (survey) {
    return renderSurveyScreen(c, { ...page, survey, tab: 'edit', title: `Edit “${survey.name}”` });
  }
  return renderScreen(c, {
    ...page,
    title: 'New survey',
    section: 'surveys',
    trail: [
      { text: 'Surveys', href: surveys },
      { text: 'Templates', href: `${surveys}/new` },
    ],
  });
}

type SurveyFormProps = {
  form: FormState;
  action: string;
  cancel: string;
  surveys: string;
  /** Null for a new survey. */
  existing: { hasAnswers: boolean; version: string } | null;
};

export function SurveyForm({ form, action, cancel, surveys, existing }: SurveyFormProps) {
  const languages = listIn(form.typed, 'languages');
  const taken = [form.typed['language'] ?? 'en', ...languages].flat();
  const isAddingLanguage = form.typed['act'] === 'add-language';
  return (
    <form id="survey-form" method="post" action={action} class="grid editor" data-preview>
      <div class="stack">
        <FormErrors form={form} />
        <Version form={form} value={existing?.version} />
        <QuestionCard form={form} existing={existing} />
        <section class="card stack" aria-labelledby="follow-ups">
          <QuestionsEditor form={form} languages={languages} action={action} />
        </section>
        <EmailCard form={form} />
        <FoldCard
          title="Wording"
          about={counted(countTyped(form, /^(follow_up|thanks)/), 'custom text')}
          isOpen={hasMistake(form, /^(follow_up|thanks)/)}
        >
          <TextFields form={form} prefix="" fields={pageFields} />
        </FoldCard>
        <FoldCard
          title="Languages"
          about={taken.map(languageName).join(', ')}
          isOpen={isAddingLanguage || hasMistake(form, /^texts/)}
        >
          <Languages form={form} languages={languages} taken={taken} />
        </FoldCard>
        <FoldCard
          title="Scheduling and reminders"
          about={counted(countTyped(form, /^reminders\.\d\.after_days/), 'reminder')}
          isOpen={hasMistake(form, /^(reminders|ask_after|send_window)/)}
        >
          <AskingFields form={form} />
        </FoldCard>
        <FoldCard
          title="Website embed"
          about={countTyped(form, /^embed\.origins/) > 0 ? 'On' : 'Off'}
          isOpen={hasMistake(form, /^embed/)}
        >
          <EmbedFields form={form} />
        </FoldCard>
        <div class="acts">
          <button type="submit" class="primary">
            Save
          </button>
          <LinkButton href={cancel} text="Cancel" kind="quiet" />
        </div>
      </div>
      <Preview surveys={surveys} languages={taken} form={form} />
    </form>
  );
}

const countTyped = (form: FormState, names: RegExp) =>
  Object.entries(form.typed).filter(([name, typed]) => names.test(name) && typed.length > 0).length;

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
] as const;

function QuestionCard({ form, existing }: Pick<SurveyFormProps, 'form' | 'existing'>) {
  const type = surveyTypes.find((each) => each === form.typed['type']) ?? 'nps';
  return (
    <div class="card stack">
      <h2>Survey</h2>
      <Field
        name="question_text"
        label="Question"
        form={form}
        rows={2}
        required
        help={
          <>
            Personalize with <code>{'{{first_name|there}}'}</code> and{' '}
            <code>{'{{properties.plan}}'}</code>.
          </>
        }
      />
      {existing?.hasAnswers ? (
        <div class="field">
          <span class="name">Scale</span>
          <p class="locked">
            <Icon name="lock" />
            {typeFacts(type).name}. Locked since the first response.
          </p>
          {/* For the preview only. Saving ignores them. */}
          <input type="hidden" name="type" value={type} />
          <input type="hidden" name="audience" value={form.typed['audience'] ?? ''} />
        </div>
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
            label="Employee survey"
            help="Only with the 0 to 10 scale."
            form={form}
            checked={form.typed['audience'] === 'employee'}
          />
        </>
      )}
      <div class="pair">
        <Field name="name" label="Name" form={form} help="Respondents don’t see it." required />
        <Select
          name="language"
          label="Language"
          form={form}
          options={languageChoices(form.typed['language'])}
        />
      </div>
      {existing ? null : (
        <Checkbox
          name="draft"
          label="Save as draft"
          help="You can’t send it or collect responses until you open it."
          form={form}
        />
      )}
    </div>
  );
}

const EmailCard = ({ form }: { form: FormState }) => (
  <div class="card stack">
    <h2>Email</h2>
    <div class="pair">
      <Fields form={form} fields={senderFields} />
    </div>
    <Field
      name="reply_to"
      label="Reply to"
      type="email"
      autocomplete="off"
      form={form}
      help="Where replies go. Defaults to From email."
    />
    <Fields form={form} fields={mailFields} />
  </div>
);

const mailFields = [
  { name: 'subject', label: 'Subject', help: 'Defaults to the question.' },
  {
    name: 'intro',
    label: 'Introduction',
    rows: 3,
    help: 'In the email, after the greeting.',
  },
];

const pageFields = [
  { name: 'follow_up', label: 'Question above the comment' },
  { name: 'thanks', label: 'Thank-you message', rows: 2 },
];

const categoryFields = categories.flatMap((category) => {
  const people = `${category}s`;
  const thanks = `thanks.${category}`;
  return [
    { name: `follow_up.${category}`, label: `Question above the comment, for ${people}` },
    { name: thanks, label: `Thank-you message for ${people}`, rows: 2 },
    {
      name: `${thanks}.link_url`,
      label: `Button link for ${people}`,
      type: 'url' as const,
      help: 'An https URL. The button appears below the thank-you message.',
    },
    { name: `${thanks}.link_text`, label: `Button label for ${people}` },
  ];
});

type TextProps = FieldsProps & { prefix: string };

function TextFields({ form, prefix, fields }: TextProps) {
  const filled = { ...form.typed, ...form.errors };
  const prefixed = <F extends { name: string }>(fields: readonly F[]) =>
    fields.map((field) => ({ ...field, name: `${prefix}${field.name}` }));
  const ofCategories = prefixed(categoryFields);
  return (
    <>
      <Fields form={form} fields={prefixed(fields)} />
      <details class="reveal" open={ofCategories.some(({ name }) => filled[name]?.length)}>
        <summary>Different wording by category</summary>
        <div class="stack">
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
      <p class="sub">
        Contacts see the survey in the language of their “language” property, or in the language of
        their browser. Saving removes languages without a question.
      </p>
      {languages.map((tag) => (
        <fieldset class="stack">
          <legend>{languageName(tag)}</legend>
          <input type="hidden" name="languages" value={tag} />
          <Field name={`texts.${tag}.question_text`} label="Question" form={form} rows={2} />
          <TextFields
            form={form}
            prefix={`texts.${tag}.`}
            fields={[...mailFields, ...pageFields]}
          />
        </fieldset>
      ))}
      {rest.length > 0 ? (
        <div class="inline">
          <Select name="add_language" label="Language to add" options={rest} />
          <button type="submit" name="act" value="add-language" formnovalidate>
            Add language
          </button>
        </div>
      ) : null}
    </>
  );
}

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
        label="Send automatically, days after a contact is added"
        form={form}
        help="0 to 365. Leave empty to send manually."
      />
      {reminderNumbers.map((at) => (
        <div class="inline">
          <Field
            {...inNumber}
            name={`reminders.${at}.after_days`}
            label={`Reminder ${at}, days after the first email`}
            form={form}
          />
          <Field name={`reminders.${at}.subject`} label={`Subject of reminder ${at}`} form={form} />
        </div>
      ))}
      <Choice
        name="send_window.days"
        label="Sending days"
        form={form}
        value={form.typed['send_window.days']}
        several
        options={optionsOf(days)}
        help="Applies to campaigns, reminders and automatic sends. None selected: any time."
      />
      <div class="inline">
        <Fields form={form} fields={hourFields} />
        <TimeZoneSelect name="send_window.time_zone" label="Time zone" form={form} />
      </div>
    </>
  );
}

const shownParts = [
  { value: 'page', text: 'Page' },
  { value: 'questions', text: 'Questions' },
  { value: 'thanks', text: 'Thank-you' },
  { value: 'mail', text: 'Email' },
];

const thanksParts = [
  { value: 'promoter', text: 'Promoters', tone: 'is-promoter' },
  { value: 'passive', text: 'Passives', tone: 'is-passive' },
  { value: 'detractor', text: 'Detractors', tone: 'is-detractor' },
];

const devices = [
  { value: 'phone', text: 'Phone', icon: 'smartphone' },
  { value: 'desktop', text: 'Desktop', icon: 'monitor' },
] as const;

const schemes = [
  { value: 'light', text: 'Light', icon: 'sun' },
  { value: 'dark', text: 'Dark', icon: 'moon' },
] as const;

const timingFields = [
  { ...inNumber, name: 'embed.delay_seconds', label: 'Delay (seconds)', value: 5 },
  { ...inNumber, name: 'embed.every_days', label: 'Show again after (days)', value: 30 },
];

function EmbedFields({ form }: { form: FormState }) {
  return (
    <>
      <Field
        name="embed.origins"
        label="Websites"
        form={form}
        rows={2}
        help="Sites that may show this survey, such as https://www.example.com, one per line. Get the code under Share."
      />
      <Choice
        name="embed.position"
        label="Position"
        form={form}
        value={form.typed['embed.position'] ?? 'corner'}
        options={optionsOf({
          corner: 'In a corner',
          inline: 'Inline, where you place the code',
        })}
      />
      <Fields form={form} fields={timingFields} />
    </>
  );
}

type PreviewProps = { surveys: string; languages: readonly string[]; form: FormState };

/** The button posts the unsaved form to the frame. A script clicks it as the form changes. */
function Preview({ surveys, languages, form }: PreviewProps) {
  const chosen = (name: string, first: string) => String(form.typed[`preview.${name}`] ?? first);
  return (
    <section class="preview" aria-labelledby="preview">
      <div class="spread">
        <h2 id="preview">Preview</h2>
        <div class="acts">
          <Segments name="preview.device" label="Device" value="phone" options={devices} />
          <Segments name="preview.scheme" label="Theme" value="light" options={schemes} />
          <button
            class="mini"
            type="submit"
            formaction={`${surveys}/preview`}
            formtarget="preview-frame"
            formnovalidate
            data-preview-button
          >
            Preview
          </button>
        </div>
      </div>
      <div class="acts opts">
        <Segments
          name="preview.show"
          label="Show"
          value={chosen('show', 'page')}
          options={shownParts}
        />
        {languages.length > 1 ? (
          <Select
            name="preview.language"
            label="Preview language"
            form={form}
            options={languages.map((value) => ({ value, text: languageName(value) }))}
          />
        ) : null}
        <div class="of-thanks">
          <Segments
            name="preview.category"
            label="Thank-you for"
            value={chosen('category', 'promoter')}
            options={thanksParts}
          />
        </div>
      </div>
      <div class="stage">
        <div class="device">
          <iframe name="preview-frame" title="Preview of the survey" />
        </div>
      </div>
      <p class="sub">Shown as the example contact Robin Reader sees it.</p>
      <a class="button small-only" href="#main">
        Back to the form
      </a>
    </section>
  );
}
