import * as v from 'valibot';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import { Refusal } from '../errors.ts';
import { type Command, columns, command, UsageError } from '../lib/cli/command.ts';
import { Email, flag, id, Line, Name, OneOf, option, optional } from '../lib/cli/options.ts';
import { surveyTypes } from '../scores.ts';
import { publicUrlOf } from '../service-record.ts';
import { createSurvey, shareUrl } from './create.ts';
import { closeSurvey } from './lifecycle.ts';
import { allSurveys, getSurvey, openDraft } from './manage.queries.ts';

const longestQuestion = 500;

const create = command({
  name: 'survey create',
  does: 'makes a survey, active unless it is to be a draft',
  options: {
    org: id('whose survey it is'),
    name: option(Name, 'N', 'what it is called among you'),
    question: option(Line(longestQuestion), 'Q', 'what is asked'),
    'from-name': option(Name, 'N', 'who the mail is from'),
    'from-email': option(Email, 'E', 'the address it is from'),
    'reply-to': optional(Email, 'E', 'where replies go (the address it is from)'),
    type: {
      schema: v.optional(OneOf(surveyTypes), 'nps'),
      value: surveyTypes.join('|'),
      does: 'its scale (nps)',
    },
    audience: optional(OneOf(['employee']), 'employee', 'an nps survey among employees'),
    subject: optional(Name, 'S', 'of the mail (the question)'),
    language: {
      schema: v.optional(v.pipe(v.string(), v.check(isLanguage, 'must be a tag such as en')), 'en'),
      value: 'TAG',
      does: 'of its question, mail and pages (en)',
    },
    draft: flag('neither send nor take answers before it is opened'),
  },
  async run(tools: CommandTools, given) {
    const { type, audience = null, subject = null, language } = given;
    if (audience && type !== 'nps') {
      throw new UsageError('--audience goes with --type nps only', create.usage);
    }
    return await inDatabase(tools, async (db, config) => {
      const survey = await createSurvey(db, given.org, {
        name: given.name,
        question_text: given.question,
        from_name: given['from-name'],
        from_email: given['from-email'],
        reply_to: given['reply-to'] ?? given['from-email'],
        ...{ type, audience, subject, language },
        status: given.draft ? 'draft' : 'active',
      });
      const share_url = shareUrl(await publicUrlOf(db, config), survey);
      const text = `made the survey ${survey.name}: ${survey.id}\nanybody may answer at ${share_url}`;
      return { data: { ...survey, share_url }, text };
    });
  },
});

const open = command({
  name: 'survey open',
  does: 'opens a draft: from now on it can be sent and answered',
  options: { id: id('which survey') },
  run: (tools: CommandTools, given) =>
    inDatabase(tools, async (db) => {
      const survey = (await openDraft(db, given.id)) ?? (await getSurvey(db, given.id));
      if (survey.status !== 'active') {
        throw new Refusal('conflict', `the survey is ${survey.status}: only a draft can be opened`);
      }
      return { data: survey, text: `${survey.name} is open: ${survey.id}` };
    }),
});

const close = command({
  name: 'survey close',
  does: 'closes a survey: its links show that it is closed',
  options: { id: id('which survey') },
  run: (tools: CommandTools, given) =>
    inDatabase(tools, async (db) => {
      const { org_id } = await getSurvey(db, given.id);
      await closeSurvey({ db }, org_id, given.id);
      const survey = await getSurvey(db, given.id);
      return { data: survey, text: `${survey.name} is closed: ${survey.id}` };
    }),
});

const list = command({
  name: 'survey list',
  does: "lists an organization's surveys, newest first",
  options: { org: id('whose surveys') },
  run: (tools: CommandTools, { org }) =>
    inDatabase(tools, async (db, config) => {
      const publicUrl = await publicUrlOf(db, config);
      const surveys = (await allSurveys(db, org)).map((survey) => ({
        ...survey,
        share_url: shareUrl(publicUrl, survey),
      }));
      const rows = surveys.map(({ id, type, status, name }) => [id, type, status, name]);
      return { data: surveys, text: columns([['id', 'type', 'status', 'name'], ...rows]) };
    }),
});

export const surveyCommands: readonly Command<CommandTools>[] = [create, open, close, list];

function isLanguage(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}
