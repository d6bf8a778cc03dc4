import * as v from 'valibot';
import { commandActor, commandWriter, recordAct } from '../audit/acts.ts';
import { databaseCommand, listCommand, orgOption } from '../command-tools.ts';
import { Refusal } from '../errors.ts';
import { DayOrMoment, Moment, option, optional } from '../lib/cli/command.ts';
import { type Db, inTransaction } from '../lib/db/db.ts';
import { createLog } from '../lib/log/log.ts';
import { Line } from '../lib/validation/parse.ts';
import { warnWithoutJobs } from '../open-database.ts';
import { getOrganization } from '../organizations/queries.ts';
import { createRedactionWorker } from '../redaction-worker.ts';
import { addDays, startOfLocalDay } from '../responses/period.ts';
import { insertWaitingSince } from '../responses/waiting-analyses.ts';
import type { Config } from '../settings.ts';
import { chooseAnalyst } from './analyst.ts';
import { listThemes } from './queries.ts';
import { endBy, lastMonth, maxTheme, type SummaryPeriod } from './rules.ts';
import { summarize } from './summarize.ts';
import { addTheme, plain, removeTheme } from './themes.ts';

const create = databaseCommand({
  name: 'summary create',
  does: 'writes an executive summary of a period and notifies subscribers',
  options: {
    org: orgOption('the organization'),
    from: optional(DayOrMoment, 'D', 'the first day or moment (default: the last month)'),
    to: optional(DayOrMoment, 'D', 'the last day or moment (default: now)'),
  },
  async run(db, { org, from, to }, { config }) {
    const organization = await getOrganization(db, org);
    const period = periodOf(organization.time_zone, from, to);
    const request = { organization, period, scheduled: false, actor: commandActor() };
    const summary = await summarize(summaryTools(db, config), request);
    return { data: summary!, text: summary!.text };
  },
});

type PeriodOption = v.InferOutput<typeof DayOrMoment> | undefined;

function periodOf(timeZone: string, from: PeriodOption, to: PeriodOption): SummaryPeriod {
  if (to && !from) throw new Refusal('invalid', '--to needs --from');
  if (!from) return lastMonth(timeZone);
  const now = new Date();
  const start = from.day ? startOfLocalDay(from.day, timeZone) : from.moment!;
  const end = to?.day ? startOfLocalDay(addDays(to.day, 1), timeZone) : (to?.moment ?? now);
  const period = endBy({ start, end }, now);
  if (period.start >= period.end) {
    throw new Refusal('invalid', '--from must not be after --to or in the future');
  }
  return period;
}

function summaryTools(db: Db, config: Config) {
  const reader = createRedactionWorker();
  const log = createLog({ level: config.logLevel });
  const analyst = chooseAnalyst(config, reader);
  return { db, log, analyst, redact: reader.redact };
}

const analyze = databaseCommand({
  name: 'analyze',
  does: 'queues all comments since a time for a new analysis',
  options: {
    org: orgOption('the organization'),
    since: option(Moment, 'D', 'the first day or moment'),
  },
  async run(db, { org, since }, { tools }) {
    const organization = await getOrganization(db, org);
    if (!organization.ai_enabled) {
      throw new Refusal(
        'conflict',
        'analysis is off for this organization: turn it on with org update --ai',
      );
    }
    const answers = await inTransaction(db, async (tx) => {
      const { answers } = await insertWaitingSince(tx, org, since);
      const details = { since: since.toISOString(), answers };
      await recordAct(tx, { ...commandWriter(org), act: 'analysis.requested', details });
      return answers;
    });
    if (answers > 0) await warnWithoutJobs(tools, db, 'the comments wait for it');
    return {
      data: { answers },
      text: `${answers} ${answers === 1 ? 'comment' : 'comments'} queued for analysis`,
    };
  },
});

const themeName = Line(maxTheme);
const Word = v.pipe(
  Line(100),
  v.check((word) => plain(word) !== '', 'must contain a letter or digit in each word'),
);

const themeAdd = databaseCommand({
  name: 'theme add',
  does: 'adds a theme, or replaces its words',
  options: {
    org: orgOption('the organization'),
    name: option(themeName, 'N', 'its name'),
    words: option(
      v.pipe(
        v.string(),
        v.transform((text) =>
          text
            .split(',')
            .map((word) => word.trim())
            .filter((word) => word !== ''),
        ),
        v.minLength(1, 'must name at least one word'),
        v.maxLength(100, 'must name at most 100 words'),
        v.array(Word),
      ),
      'WORDS',
      'words or phrases to look for, separated by commas',
    ),
  },
  async run(db, { org, name, words }) {
    await getOrganization(db, org);
    const theme = await addTheme(db, commandWriter(org), { name, words });
    return { data: theme, text: `${theme.name}: ${theme.words.join(', ')}` };
  },
});

const themeList = listCommand({
  name: 'theme list',
  does: "lists an organization's own themes",
  options: { org: orgOption('the organization') },
  run: (db, { org }) => listThemes(db, org),
  head: ['name', 'words'],
  cells: ({ name, words }) => [name, words.join(', ')],
});

const themeRemove = databaseCommand({
  name: 'theme remove',
  does: 'removes a theme',
  options: { org: orgOption('the organization'), name: option(themeName, 'N', 'its name') },
  async run(db, { org, name }) {
    await removeTheme(db, commandWriter(org), name);
    return { data: { name }, text: `removed ${name}` };
  },
});

export const summaryCommands = [create, analyze, themeAdd, themeList, themeRemove];
