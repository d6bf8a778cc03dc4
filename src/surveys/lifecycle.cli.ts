import { commandWriter, type Writer } from '../audit/actor.ts';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import { type Command, command } from '../lib/cli/command.ts';
import { flag, id } from '../lib/cli/options.ts';
import type { Db } from '../lib/db/db.ts';
import { copySurvey } from './copy.ts';
import { deleteSurvey } from './delete.ts';
import { closeSurvey, openSurvey, reopenByHand } from './lifecycle.ts';
import { getSurvey } from './manage.queries.ts';

type SurveyMoveCommand = {
  name: string;
  does: string;
  act: (tools: { db: Db }, by: Writer, surveyId: string) => Promise<unknown>;
  /** What follows the name of the survey. */
  done: string;
};

const moveCommand = ({ name, does, act, done }: SurveyMoveCommand) =>
  command({
    name,
    does,
    options: { id: id('the survey') },
    run: (tools: CommandTools, given) =>
      inDatabase(tools, async (db) => {
        const { org_id } = await getSurvey(db, given.id);
        await act({ db }, commandWriter(org_id), given.id);
        const survey = await getSurvey(db, given.id);
        return { data: survey, text: `${survey.name} ${done}: ${survey.id}` };
      }),
  });

const open = moveCommand({
  name: 'survey open',
  does: 'opens a draft: from now on it can be sent and answered',
  act: openSurvey,
  done: 'is open',
});

const close = moveCommand({
  name: 'survey close',
  does: 'closes a survey: its links show that it is closed, until it is reopened',
  act: closeSurvey,
  done: 'is closed',
});

const reopen = moveCommand({
  name: 'survey reopen',
  does: 'makes a completed survey active again, however it completed',
  act: reopenByHand,
  done: 'is open again',
});

const copy = command({
  name: 'survey copy',
  does: 'makes a draft that says and does the same as a survey',
  options: { id: id('the survey') },
  run: (tools: CommandTools, given) =>
    inDatabase(tools, async (db) => {
      const { org_id } = await getSurvey(db, given.id);
      const survey = await copySurvey({ db }, commandWriter(org_id), given.id);
      return { data: survey, text: `made the draft ${survey.name}: ${survey.id}` };
    }),
});

const remove = command({
  name: 'survey delete',
  does: 'deletes a survey with its contacts and mails',
  options: {
    id: id('the survey'),
    answers: flag('delete its answers too'),
  },
  run: (tools: CommandTools, given) =>
    inDatabase(tools, async (db) => {
      const { org_id, name } = await getSurvey(db, given.id);
      const which = { id: given.id, withAnswers: given.answers };
      await deleteSurvey({ db }, commandWriter(org_id), which);
      return { data: { id: given.id, name }, text: `deleted the survey ${name}: ${given.id}` };
    }),
});

/** The commands that open, close, copy and delete surveys. */
export const surveyMoves: readonly Command<CommandTools>[] = [open, close, reopen, copy, remove];
