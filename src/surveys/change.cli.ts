import { commandWriter } from '../audit/actor.ts';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import { type Command, command, UsageError } from '../lib/cli/command.ts';
import {
  Email,
  flag,
  id,
  Line,
  Name,
  OneOf,
  option,
  optional,
  withoutDefaults,
} from '../lib/cli/options.ts';
import { longestQuestion } from '../limits.ts';
import { surveyTypes } from '../scores.ts';
import { publicUrlOf } from '../service-record.ts';
import { changeSurvey } from './change.ts';
import { fieldsOf, textOptions } from './content.cli.ts';
import { createSurvey, shareUrl } from './create.ts';
import { surveyMoves } from './lifecycle.cli.ts';
import { getSurvey } from './manage.queries.ts';
import { NewSurveyInput, SurveyChangeInput } from './wish.schemas.ts';

const create = command({
  name: 'survey create',
  does: 'makes a survey, active unless it is to be a draft',
  options: {
    org: id('its organization'),
    name: option(Name, 'N', 'its name in lists'),
    question: option(Line(longestQuestion), 'Q', 'the question it asks'),
    'from-name': option(Name, 'N', 'the sender of its mail'),
    'from-email': option(Email, 'E', "the sender's address"),
    type: optional(OneOf(surveyTypes), surveyTypes.join('|'), 'its scale (nps)'),
    audience: optional(OneOf(['employee']), 'employee', 'an nps survey that asks employees'),
    ...textOptions,
    draft: flag('make a draft: it is not sent and takes no answers until it is opened'),
  },
  async run(tools: CommandTools, given) {
    const wish = await fieldsOf(given, NewSurveyInput);
    if (wish.audience && wish.type !== 'nps') {
      throw new UsageError('--audience goes with --type nps only', create.usage);
    }
    return await inDatabase(tools, async (db, config) => {
      const survey = await createSurvey({ db }, commandWriter(given.org), wish);
      const share_url = shareUrl(await publicUrlOf(db, config), survey);
      const text = `made the survey ${survey.name}: ${survey.id}\nanyone can answer at ${share_url}`;
      return { data: { ...survey, share_url }, text };
    });
  },
});

const update = command({
  name: 'survey update',
  does: 'changes what a survey says, on its pages and in mails sent from now on',
  options: {
    id: id('the survey'),
    name: optional(Name, 'N', 'its name in lists'),
    question: optional(Line(longestQuestion), 'Q', 'the question it asks'),
    'from-name': optional(Name, 'N', 'the sender of its mail'),
    'from-email': optional(Email, 'E', "the sender's address"),
    type: optional(OneOf(surveyTypes), surveyTypes.join('|'), 'its scale, without answers only'),
    ...withoutDefaults(textOptions),
  },
  async run(tools: CommandTools, given) {
    const change = await fieldsOf(given, SurveyChangeInput);
    if (Object.values(change).every((value) => value === undefined)) {
      throw new UsageError('nothing to change was given', update.usage);
    }
    return await inDatabase(tools, async (db) => {
      const { org_id } = await getSurvey(db, given.id);
      const survey = await changeSurvey({ db }, commandWriter(org_id), { id: given.id, change });
      return { data: survey, text: `changed the survey ${survey.name}: ${survey.id}` };
    });
  },
});

/** The commands that make and change surveys. */
export const surveyChanges: readonly Command<CommandTools>[] = [create, update, ...surveyMoves];
