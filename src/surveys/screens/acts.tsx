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
import { surveyOf } from './of.ts';
import { surveysPath } from './parts.tsx';

const opened = (name: string) => `“${name}” is open: it can be sent and answered.`;

const reopened = (name: string) => `“${name}” is open again.`;

const closed = (name: string) => `“${name}” is closed: its links say so.`;

type ActTools = { db: Db };
type ByHand = (tools: ActTools, by: Writer, surveyId: string) => Promise<{ name: string }>;

/** Open, close, reopen, copy and delete. */
export function addActs(app: Hono<ScreenEnv>, tools: ActTools) {
  return app
    .post('/:id/open', (c) => move(c, tools, { act: openSurvey, done: opened }))
    .post('/:id/reopen', (c) => move(c, tools, { act: reopenByHand, done: reopened }))

    .get('/:id/close', async (c) => {
      requireRole(c, 'editor');
      return showClose(c, await surveyOf(c, tools.db));
    })
    .post('/:id/close', (c) => move(c, tools, { act: closeSurvey, done: closed }))

    .post('/:id/copy', async (c) => {
      const editor = requireRole(c, 'editor');
      const { id } = await surveyOf(c, tools.db);
      const copy = await copySurvey(tools, editor, id);
      flash(c, {
        kind: 'fine',
        text: `“${copy.name}” is a draft with the same texts and settings.`,
      });
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
        const form = await withMistake(c, { name: 'This is not its name.' });
        return showDelete(c, tools, { survey, form });
      }
      await deleteSurvey(tools, owner, { id: survey.id, withAnswers: true });
      flash(c, { kind: 'fine', text: `“${survey.name}” is deleted.` });
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
    title: `Close “${name}”`,
    section: 'surveys',
    trail: trailOf(c, { id, name }),
    body: (
      <Confirm action={`${here}/close`} button="Close" cancel={here}>
        <p>
          Its links say that it is closed, and nothing more is sent or answered. What was answered
          stays. Reopen takes it back.
        </p>
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
    title: `Delete “${name}”`,
    section: 'surveys',
    status: Object.keys(form.errors).length > 0 ? 422 : 200,
    trail: trailOf(c, survey),
    body: (
      <Confirm
        action={`${here}/delete`}
        button="Delete"
        cancel={here}
        typed={{ name: 'name', label: 'Name of the survey', expected: name }}
        form={form}
      >
        <p>
          {counted(contacts, 'contact')} and {counted(answers, 'answer')} are deleted with it, and
          so are its mails and totals. Nothing brings them back.
        </p>
      </Confirm>
    ),
  });
}

const trailOf = (c: Context<ScreenEnv>, { id, name }: Pick<ManagedSurvey, 'id' | 'name'>) => {
  const list = surveysPath(c.var.organization);
  return [
    { text: 'Surveys', href: list },
    { text: name, href: `${list}/${id}` },
  ];
};
