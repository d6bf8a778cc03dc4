import * as v from 'valibot';
import { commandWriter, type Writer } from '../audit/acts.ts';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import { Refusal } from '../errors.ts';
import {
  type Command,
  columns,
  command,
  Email,
  flag,
  id,
  Line,
  Name,
  OneOf,
  option,
  optional,
  UsageError,
  Whole,
  withoutDefaults,
} from '../lib/cli/command.ts';
import { readTextFile } from '../lib/cli/files.ts';
import type { Db } from '../lib/db/db.ts';
import { parse, parseJson } from '../lib/validation/parse.ts';
import { longestQuestion } from '../limits.ts';
import { publicUrlOf } from '../open-database.ts';
import { getOrganization } from '../organizations/queries.ts';
import { surveyTypes } from '../survey-types.ts';
import {
  changeSurvey,
  closeSurvey,
  copySurvey,
  createSurvey,
  deleteSurvey,
  openSurvey,
  reopenByHand,
  shareUrl,
  surveyStats,
} from './lifecycle.ts';
import { allSurveys, findSurvey, getSurvey } from './queries.ts';
import { NewSurveyInput, SurveyChangeInput } from './schemas.ts';

const list = command({
  name: 'survey list',
  does: "lists an organization's surveys with their links, newest first",
  options: { org: id('the organization') },
  run: (tools: CommandTools, { org }) =>
    inDatabase(tools, async (db, config) => {
      await getOrganization(db, org);
      const publicUrl = await publicUrlOf(db, config);
      const surveys = (await allSurveys(db, org)).map((survey) => ({
        ...survey,
        share_url: shareUrl(publicUrl, survey),
      }));
      const rows = surveys.map((survey) => [
        survey.id,
        survey.type,
        survey.status,
        survey.sent_count,
        survey.response_count,
        survey.share_url,
        survey.name,
      ]);
      const head = ['id', 'type', 'status', 'mailed', 'responses', 'link', 'name'];
      return { data: surveys, text: columns([head, ...rows]) };
    }),
});

const show = command({
  name: 'survey show',
  does: 'shows a survey, its link and the score of its responses',
  options: { id: id('the survey') },
  run: (tools: CommandTools, given) =>
    inDatabase(tools, async (db, config) => {
      const survey = await getSurvey(db, given.id);
      const row = await findSurvey(db, survey.org_id, survey.id);
      const { stats } = surveyStats(row!);
      const share_url = shareUrl(await publicUrlOf(db, config), survey);
      const data = { ...survey, sent_count: row!.sent_count, share_url, stats };
      const shown = {
        id: data.id,
        organization: data.org_id,
        name: data.name,
        question: data.question_text,
        type: data.type,
        audience: data.audience,
        status: data.status,
        link: share_url,
        from: `${data.from_name} <${data.from_email}>`,
        'reply to': data.reply_to,
        subject: data.subject ?? data.question_text,
        language: data.language,
        mailed: data.sent_count,
        responses: stats.total_responses,
        nps: stats.nps,
        'average score': stats.avg_score,
        promoters: stats.promoters,
        passives: stats.passives,
        detractors: stats.detractors,
      };
      return { data, text: columns(Object.entries(shown)) };
    }),
});

export const textOptions = {
  'reply-to': optional(Email, 'E', "the address for replies (the sender's)"),
  subject: optional(Name, 'S', 'the subject of its mail (the question)'),
  language: optional(v.string(), 'TAG', 'the language of its texts (en)'),
  intro: optional(v.string(), 'TEXT', 'what its mail says before the question'),
  'follow-up': optional(v.string(), 'TEXT', 'the question above the comment'),
  thanks: optional(v.string(), 'TEXT', 'what its page says after an answer'),
  'ask-after-days': optional(
    Whole(0, 365),
    'N',
    'mail each contact so many days after it is added',
  ),
  fields: optional(
    v.string(),
    'FILE',
    'more as JSON, by the names of the API: texts, reminders, send_window, embed and others; - is standard input',
  ),
};

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

export const surveyCommands: readonly Command<CommandTools>[] = [
  create,
  update,
  open,
  close,
  reopen,
  copy,
  remove,
  list,
  show,
];

type GivenFields = {
  question?: string | undefined;
  draft?: boolean | undefined;
  fields?: string | undefined;
} & Readonly<Record<string, unknown>>;

async function fieldsOf<const S extends v.GenericSchema>(given: GivenFields, schema: S) {
  const { org, id, question, fields, draft, ...rest } = given;
  const named = Object.entries({ ...rest, 'question-text': question })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name.replaceAll('-', '_'), value]);
  const status = draft ? { status: 'draft' } : {};
  return parse(schema, { ...(await readFields(fields)), ...Object.fromEntries(named), ...status });
}

async function readFields(file: string | undefined): Promise<object> {
  if (file === undefined) return {};
  const { text, name } = await readTextFile(file);
  const value = parseJson(text, (where) => `${name} is not JSON${where}`);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Refusal('invalid', `${name} must hold a JSON object`);
}

type SurveyMoveCommand = {
  name: string;
  does: string;
  act: (tools: { db: Db }, by: Writer, surveyId: string) => Promise<unknown>;
  done: string;
};
