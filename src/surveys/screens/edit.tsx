import type { Context, Hono } from 'hono';
import * as v from 'valibot';
import type { Db } from '../../lib/db/db.ts';
import { refusalIn } from '../../lib/http/http.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { flash } from '../../web/app/flash.ts';
import { emptyForm, type FormState, readForm } from '../../web/app/read-form.ts';
import { renderScreen } from '../../web/app/screen.tsx';
import { changeSurvey } from '../change.ts';
import { createSurvey } from '../create.ts';
import { findUse, type ManagedSurvey } from '../manage.queries.ts';
import { NewSurveyInput, SurveyChangeInput } from '../wish.schemas.ts';
import { SurveyForm } from './form.tsx';
import { fieldsOfSurvey, mistakesOf, SurveyFields, wishOf } from './form-fields.ts';
import { surveyOf } from './of.ts';
import { surveysPath } from './parts.tsx';

type EditTools = { db: Db };

/** The form of a new survey and of one that exists. */
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
      flash(c, { kind: 'fine', text: `“${saved.name}” is made. Its link is under Share.` });
      return c.redirect(`${surveysPath(c.var.organization)}/${saved.id}`, 303);
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
      flash(c, { kind: 'fine', text: `“${saved.name}” is saved.` });
      return c.redirect(`${surveysPath(c.var.organization)}/${survey.id}`, 303);
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

/** What only all fields together get wrong is said above the form. */
async function orMistake(save: () => Promise<ManagedSurvey>) {
  try {
    return await save();
  } catch (error) {
    const refusal = refusalIn(error);
    if (refusal?.kind !== 'invalid' && refusal?.kind !== 'conflict') throw error;
    const { message } = refusal;
    return { mistake: `${message.charAt(0).toUpperCase()}${message.slice(1)}.` };
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
