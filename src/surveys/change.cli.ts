import * as v from 'valibot';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import { notFound, Refusal } from '../errors.ts';
import { type Command, command, UsageError } from '../lib/cli/command.ts';
import { Email, flag, id, Line, Name, OneOf, option, optional } from '../lib/cli/options.ts';
import { longestQuestion } from '../limits.ts';
import { surveyTypes } from '../scores.ts';
import { publicUrlOf } from '../service-record.ts';
import { createSurvey, shareUrl } from './create.ts';
import { closeSurvey } from './lifecycle.ts';
import {
  getSurvey,
  openDraft,
  reopenCompleted,
  type SurveyChanges,
  updateSurvey,
} from './manage.queries.ts';

const Language = v.pipe(v.string(), v.check(isLanguage, 'must be a tag such as en'));

const create = command({
  name: 'survey create',
  does: 'makes a survey, active unless it is to be a draft',
  options: {
    org: id('its organization'),
    name: option(Name, 'N', 'its name in lists'),
    question: option(Line(longestQuestion), 'Q', 'the question it asks'),
    'from-name': option(Name, 'N', 'the sender of its mail'),
    'from-email': option(Email, 'E', "the sender's address"),
    'reply-to': optional(Email, 'E', "the address for replies (the sender's)"),
    type: {
      schema: v.optional(OneOf(surveyTypes), 'nps'),
      value: surveyTypes.join('|'),
      does: 'its scale (nps)',
    },
    audience: optional(OneOf(['employee']), 'employee', 'an nps survey that asks employees'),
    subject: optional(Name, 'S', 'the subject of its mail (the question)'),
    language: {
      schema: v.optional(Language, 'en'),
      value: 'TAG',
      does: 'the language of its question, mail and pages (en)',
    },
    draft: flag('make a draft: it is not sent and takes no answers until it is opened'),
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
    'reply-to': optional(Email, 'E', 'the address for replies'),
    subject: optional(Name, 'S', 'the subject of its mail'),
    language: optional(Language, 'TAG', 'the language of its question, mail and pages'),
  },
  async run(tools: CommandTools, given) {
    const wanted = {
      name: given.name,
      question_text: given.question,
      from_name: given['from-name'],
      from_email: given['from-email'],
      reply_to: given['reply-to'],
      subject: given.subject,
      language: given.language,
    };
    const changes = Object.fromEntries(
      Object.entries(wanted).filter(([, value]) => value !== undefined),
    ) as SurveyChanges;
    if (Object.keys(changes).length === 0) {
      throw new UsageError('nothing to change was given', update.usage);
    }
    return await inDatabase(tools, async (db) => {
      const survey = await updateSurvey(db, given.id, changes);
      if (!survey) throw notFound('survey');
      return { data: survey, text: `changed the survey ${survey.name}: ${survey.id}` };
    });
  },
});

const open = command({
  name: 'survey open',
  does: 'opens a draft: from now on it can be sent and answered',
  options: { id: id('the survey') },
  run: (tools: CommandTools, given) =>
    inDatabase(tools, async (db) => {
      const survey = (await openDraft(db, given.id)) ?? (await getSurvey(db, given.id));
      if (survey.status !== 'active') {
        throw new Refusal(
          'conflict',
          'the survey is completed: survey reopen makes it active again',
        );
      }
      return { data: survey, text: `${survey.name} is open: ${survey.id}` };
    }),
});

const close = command({
  name: 'survey close',
  does: 'closes a survey: its links show that it is closed, until it is reopened',
  options: { id: id('the survey') },
  run: (tools: CommandTools, given) =>
    inDatabase(tools, async (db) => {
      const { org_id } = await getSurvey(db, given.id);
      await closeSurvey({ db }, org_id, given.id);
      const survey = await getSurvey(db, given.id);
      return { data: survey, text: `${survey.name} is closed: ${survey.id}` };
    }),
});

const reopen = command({
  name: 'survey reopen',
  does: 'makes a completed survey active again, however it completed',
  options: { id: id('the survey') },
  run: (tools: CommandTools, given) =>
    inDatabase(tools, async (db) => {
      const survey = (await reopenCompleted(db, given.id)) ?? (await getSurvey(db, given.id));
      if (survey.status === 'draft') {
        throw new Refusal('conflict', 'the survey is a draft: survey open opens it');
      }
      return { data: survey, text: `${survey.name} is open again: ${survey.id}` };
    }),
});

/** The commands that make and change surveys. */
export const surveyChanges: readonly Command<CommandTools>[] = [
  create,
  update,
  open,
  close,
  reopen,
];

function isLanguage(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}
