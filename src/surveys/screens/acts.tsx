import type { Context, Hono } from 'hono';
import * as v from 'valibot';
import type { Writer } from '../../audit/actor.ts';
import type { Db } from '../../lib/db/db.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { Confirm } from '../../web/app/acts.tsx';
import { flash } from '../../web/app/flash.ts';
import { counted } from '../../web/app/lists.tsx';
import { emptyForm, type FormState, readForm, withMistake } from '../../web/app/read-form.ts';
import { renderScreen } from '../../web/app/screen.tsx';
import { copySurvey } from '../copy.ts';
import { deleteSurvey } from '../delete.ts';
import { closeSurvey, openSurvey, reopenByHand } from '../lifecycle.ts';
import type { ManagedSurvey } from '../manage.queries.ts';
import { countReached, countScores } from '../screen.queries.ts';
import { surveyTexts } from '../screen-texts.ts';
import { surveyOf } from './of.ts';
import { surveysPath } from './parts.tsx';

type ActTools = { db: Db };
type ByHand = (tools: ActTools, by: Writer, surveyId: string) => Promise<{ name: string }>;

/** Open, close, reopen, copy and delete. */
export function addActs(app: Hono<ScreenEnv>, tools: ActTools) {
  return app
    .post('/:id/open', (c) => move(c, tools, { act: openSurvey, done: surveyTexts.opened }))
    .post('/:id/reopen', (c) => move(c, tools, { act: reopenByHand, done: surveyTexts.reopened }))

    .get('/:id/close', async (c) => {
      requireRole(c, 'editor');
      return showClose(c, await surveyOf(c, tools.db));
    })
    .post('/:id/close', (c) => move(c, tools, { act: closeSurvey, done: surveyTexts.closed }))

    .post('/:id/copy', async (c) => {
      const editor = requireRole(c, 'editor');
      const { id } = await surveyOf(c, tools.db);
      const copy = await copySurvey(tools, editor, id);
      flash(c, { kind: 'fine', text: surveyTexts.copied(copy.name) });
      return c.redirect(`${surveysPath(c.var.organization)}/${copy.id}/edit`, 303);
    })

    .get('/:id/delete', async (c) => {
      requireRole(c, 'owner');
      return showDelete(c, tools, { survey: await surveyOf(c, tools.db), form: emptyForm() });
    })
    .post('/:id/delete', async (c) => {
      const owner = requireRole(c, 'owner');
      const survey = await surveyOf(c, tools.db);
      const { values } = await readForm(c, v.object({ name: v.optional(v.string(), '') }));
      if (values?.name.trim() !== survey.name) {
        const form = await withMistake(c, { name: surveyTexts.deleteWrong });
        return showDelete(c, tools, { survey, form });
      }
      await deleteSurvey(tools, owner, { id: survey.id, withAnswers: true });
      flash(c, { kind: 'fine', text: surveyTexts.deleted(survey.name) });
      return c.redirect(surveysPath(c.var.organization), 303);
    });
}

type SurveyMoveScreen = { act: ByHand; done: (name: string) => string };

async function move(c: Context<ScreenEnv>, tools: ActTools, { act, done }: SurveyMoveScreen) {
  const editor = requireRole(c, 'editor');
  const { id, name } = await surveyOf(c, tools.db);
  await act(tools, editor, id);
  flash(c, { kind: 'fine', text: done(name) });
  return c.redirect(`${surveysPath(c.var.organization)}/${id}`, 303);
}

function showClose(c: Context<ScreenEnv>, { id, name }: ManagedSurvey) {
  const here = `${surveysPath(c.var.organization)}/${id}`;
  return renderScreen(c, {
    title: surveyTexts.closeTitle(name),
    section: 'surveys',
    trail: trailOf(c, { id, name }),
    body: (
      <Confirm action={`${here}/close`} button="Close" cancel={here}>
        <p>{surveyTexts.closeMeans}</p>
      </Confirm>
    ),
  });
}

type ShownDelete = { survey: ManagedSurvey; form: FormState };

async function showDelete(c: Context<ScreenEnv>, { db }: ActTools, { survey, form }: ShownDelete) {
  const { id, name, org_id } = survey;
  const here = `${surveysPath(c.var.organization)}/${id}`;
  const { contacts } = await countReached(db, org_id, id);
  const scores = await countScores(db, org_id, { surveyId: id, since: null });
  const answers = scores.reduce((sum, { count }) => sum + count, 0);
  return renderScreen(c, {
    title: surveyTexts.deleteTitle(name),
    section: 'surveys',
    status: Object.keys(form.errors).length > 0 ? 422 : 200,
    trail: trailOf(c, survey),
    body: (
      <Confirm
        action={`${here}/delete`}
        button="Delete"
        cancel={here}
        typed={{ name: 'name', label: surveyTexts.deleteName, expected: name }}
        form={form}
      >
        <p>{surveyTexts.deleteMeans(counted(contacts, 'contact'), counted(answers, 'answer'))}</p>
      </Confirm>
    ),
  });
}

const trailOf = (c: Context<ScreenEnv>, { id, name }: Pick<ManagedSurvey, 'id' | 'name'>) => {
  const list = surveysPath(c.var.organization);
  return [
    { text: surveyTexts.title, href: list },
    { text: name, href: `${list}/${id}` },
  ];
};
