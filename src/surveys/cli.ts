import * as v from 'valibot';
import { commandWriter, type Writer } from '../audit/acts.ts';
import {
  type CommandTools,
  databaseCommand,
  findOrgId,
  inDatabase,
  listCommand,
  orgOption,
} from '../command-tools.ts';
import { Refusal } from '../errors.ts';
import {
  command,
  Email,
  flag,
  id,
  Name,
  OneOf,
  option,
  optional,
  UsageError,
  withoutDefaults,
} from '../lib/cli/command.ts';
import { readTextFile } from '../lib/cli/files.ts';
import type { Db } from '../lib/db/db.ts';
import { Line, parse, parseJson } from '../lib/validation/parse.ts';
import { maxQuestionLength } from '../limits.ts';
import { publicUrlOf } from '../open-database.ts';
import { surveyTypes } from '../survey-types.ts';
import { changeSurvey, closeSurvey, createSurvey, openSurvey, shareUrl } from './lifecycle.ts';
import { allSurveys, getSurvey } from './queries.ts';
import { NewSurveyInput, SurveyChangeInput } from './schemas.ts';

const list = listCommand({
  name: 'survey list',
  does: "lists an organization's surveys with their links, newest first",
  options: { org: orgOption('the organization') },
  async run(db, { org }, { config }) {
    const publicUrl = await publicUrlOf(db, config);
    const surveys = await allSurveys(db, org);
    return surveys.map((survey) => ({ ...survey, share_url: shareUrl(publicUrl, survey) }));
  },
  head: ['id', 'type', 'status', 'mailed', 'responses', 'link', 'name'],
  cells: (survey) => [
    survey.id,
    survey.type,
    survey.status,
    survey.sent_count,
    survey.response_count,
    survey.share_url,
    survey.name,
  ],
});

const commonOptions = {
  'reply-to': optional(Email, 'E', "the address for replies (the sender's)"),
  fields: optional(
    v.string(),
    'FILE',
    'all other fields as JSON, named as in the API: subject, intro, texts, reminders and so on; - is standard input',
  ),
};

const questionsOption = optional(
  v.string(),
  'FILE',
  'its follow-up questions as a JSON list, as in the API; - is standard input',
);

const create = command({
  name: 'survey create',
  does: 'creates a survey, active unless --draft is given',
  options: {
    org: orgOption('the organization'),
    name: option(Name, 'N', 'its internal name'),
    question: option(Line(maxQuestionLength), 'Q', 'the question it asks'),
    'from-name': option(Name, 'N', 'the name of the sender'),
    'from-email': option(Email, 'E', "the sender's address"),
    type: optional(OneOf(surveyTypes), surveyTypes.join('|'), 'its scale (nps)'),
    audience: optional(OneOf(['employee']), 'employee', 'an nps survey that asks employees'),
    ...commonOptions,
    questions: questionsOption,
    draft: flag('create a draft, which cannot be sent or answered until you open it'),
  },
  async run(tools: CommandTools, options) {
    const input = await readOptions(options, NewSurveyInput);
    if (input.audience && input.type !== 'nps') {
      throw new UsageError('--audience requires --type nps', create.usage);
    }
    return await inDatabase(tools, async (db, config) => {
      const orgId = await findOrgId(db, options.org, create.usage);
      const survey = await createSurvey({ db }, commandWriter(orgId), input);
      const share_url = shareUrl(await publicUrlOf(db, config), survey);
      const text = `created the survey ${survey.name}: ${survey.id}\nanyone can answer at ${share_url}`;
      return { data: { ...survey, share_url }, text };
    });
  },
});

const update = command({
  name: 'survey update',
  does: 'changes a survey; pages and later emails show the new texts',
  options: {
    id: id('the survey'),
    name: optional(Name, 'N', 'its internal name'),
    question: optional(Line(maxQuestionLength), 'Q', 'the question it asks'),
    'from-name': optional(Name, 'N', 'the name of the sender'),
    'from-email': optional(Email, 'E', "the sender's address"),
    type: optional(
      OneOf(surveyTypes),
      surveyTypes.join('|'),
      'its scale; cannot change once there are responses',
    ),
    ...withoutDefaults(commonOptions),
    questions: questionsOption,
  },
  async run(tools: CommandTools, options) {
    const change = await readOptions(options, SurveyChangeInput);
    if (Object.values(change).every((value) => value === undefined)) {
      throw new UsageError('no changes were given', update.usage);
    }
    return await inDatabase(tools, async (db) => {
      const { org_id } = await getSurvey(db, options.id);
      const survey = await changeSurvey({ db }, commandWriter(org_id), { id: options.id, change });
      return { data: survey, text: `changed the survey ${survey.name}: ${survey.id}` };
    });
  },
});

type StatusCommand = {
  name: string;
  does: string;
  act: (tools: { db: Db }, by: Writer, surveyId: string) => Promise<unknown>;
  done: string;
};

const statusCommand = ({ name, does, act, done }: StatusCommand) =>
  databaseCommand({
    name,
    does,
    options: { id: id('the survey') },
    async run(db, { id }) {
      const { org_id } = await getSurvey(db, id);
      await act({ db }, commandWriter(org_id), id);
      const survey = await getSurvey(db, id);
      return { data: survey, text: `${survey.name} ${done}: ${id}` };
    },
  });

const open = statusCommand({
  name: 'survey open',
  does: 'opens a draft, so that it can be sent and answered',
  act: openSurvey,
  done: 'is open',
});

const close = statusCommand({
  name: 'survey close',
  does: 'closes a survey; its links show that it is closed until you reopen it',
  act: closeSurvey,
  done: 'is closed',
});

export const surveyCommands = [create, update, open, close, list];

type FieldOptions = {
  question?: string | undefined;
  draft?: boolean | undefined;
  fields?: string | undefined;
  questions?: string | undefined;
} & Readonly<Record<string, unknown>>;

async function readOptions<const S extends v.GenericSchema>(options: FieldOptions, schema: S) {
  const { org, id, question, questions, fields, draft, ...rest } = options;
  const named = Object.entries({ ...rest, 'question-text': question })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name.replaceAll('-', '_'), value]);
  const status = draft ? { status: 'draft' } : {};
  return parse(schema, {
    ...(await readFields(fields)),
    ...(questions !== undefined && { questions: await readJson(questions) }),
    ...Object.fromEntries(named),
    ...status,
  });
}

async function readJson(file: string): Promise<unknown> {
  const { text, name } = await readTextFile(file);
  return parseJson(text, (where) => `${name} is not JSON${where}`);
}

async function readFields(file: string | undefined): Promise<object> {
  if (file === undefined) return {};
  const value = await readJson(file);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Refusal('invalid', `${file} must contain a JSON object`);
}
