import * as v from 'valibot';
import type { Config } from '../config.ts';
import { inDatabase, type Tools } from '../deployment.ts';
import { notFound, Refusal } from '../errors.ts';
import { demandOrganization } from '../organizations/find.ts';
import { type Command, columns, command } from '../platform/command.ts';
import type { Db } from '../platform/db.ts';
import { createLog } from '../platform/log.ts';
import { createProgress } from '../platform/progress.ts';
import { id, Line, Moment, option, optional } from '../platform/words.ts';
import { redact } from '../responses/redact.ts';
import { analyzeAgain } from './analyze.ts';
import { chooseAnalyst } from './choose-analyst.ts';
import { countUnanalyzed, deleteTheme, listThemes, saveTheme } from './queries.ts';
import { summarize } from './summarize.ts';
import { lastMonth } from './summary.queries.ts';

const lookAgainMs = 500;

const create = command({
  name: 'summary create',
  does: 'writes an executive summary of a period and tells it to subscribers',
  options: {
    org: id('whose feedback'),
    from: optional(Moment, 'D', "the period's first moment (of the last calendar month)"),
    to: optional(Moment, 'D', 'the first moment after it'),
  },
  run: (tools: Tools, { org, from, to }) =>
    inDatabase(tools, async (db, config) => {
      const organization = await demandOrganization(db, org);
      const usual = await lastMonth(db, organization.time_zone);
      const period = { start: from ?? usual.start, end: to ?? (from ? new Date() : usual.end) };
      if (period.start >= period.end) throw new Refusal('invalid', '--from must be before --to');
      const summary = await summarize(summaryTools(db, config), {
        ...{ organization, period, scheduled: false },
      });
      if (!summary) throw new Error('a summary on demand is always kept');
      return { data: summary, text: summary.text };
    }),
});

const summaryTools = (db: Db, config: Config) => ({
  db,
  log: createLog({ level: config.logLevel }),
  analyst: chooseAnalyst(config),
  redact,
  pump: () => {},
});

const analyze = command({
  name: 'analyze',
  does: 'has all answers with a comment since a time analyzed again by the running service',
  options: { org: id('whose answers'), since: option(Moment, 'D', 'from when on') },
  run: (tools: Tools, { org, since }) =>
    inDatabase(tools, async (db) => {
      const organization = await demandOrganization(db, org);
      if (!organization.ai_enabled) {
        throw new Refusal('conflict', 'analysis is off for this organization: org update --ai');
      }
      const answers = await analyzeAgain({ db }, org, since);
      await watch(db, org, { since, answers });
      return { data: { answers }, text: `${answers} answers are analyzed by the running service` };
    }),
});

/** On a terminal one likes to see it go on; whoever has seen enough may leave. */
async function watch(db: Db, orgId: string, { since, answers }: { since: Date; answers: number }) {
  if (!process.stderr.isTTY) return;
  const show = createProgress('analyzed');
  for (let left = answers; left > 0; ) {
    left = await countUnanalyzed(db, orgId, since);
    show(answers - left, answers);
    if (left > 0) await new Promise((later) => setTimeout(later, lookAgainMs));
  }
}

const themeName = Line(100);

const addTheme = command({
  name: 'theme add',
  does: 'has comments searched for a theme, or gives it other words',
  options: {
    org: id('whose vocabulary'),
    name: option(themeName, 'N', 'what the theme is called'),
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
      ),
      'WORDS',
      'words or phrases that speak of it, with commas between them',
    ),
  },
  run: (tools: Tools, { org, name, words }) =>
    inDatabase(tools, async (db) => {
      await demandOrganization(db, org);
      const theme = await saveTheme(db, org, { name, words });
      return { data: theme, text: `${theme.name}: ${theme.words.join(', ')}` };
    }),
});

const allThemes = command({
  name: 'theme list',
  does: "lists an organization's own themes",
  options: { org: id('whose vocabulary') },
  run: (tools: Tools, { org }) =>
    inDatabase(tools, async (db) => {
      const themes = await listThemes(db, org);
      const rows = themes.map(({ name, words }) => [name, words.join(', ')]);
      return { data: themes, text: columns([['name', 'words'], ...rows]) };
    }),
});

const removeTheme = command({
  name: 'theme remove',
  does: 'forgets a theme of the organization',
  options: { org: id('whose vocabulary'), name: option(themeName, 'N', 'which theme') },
  run: (tools: Tools, { org, name }) =>
    inDatabase(tools, async (db) => {
      if (!(await deleteTheme(db, org, name))) throw notFound('theme');
      return { data: { name }, text: `forgot ${name}` };
    }),
});

export const summaryCommands: readonly Command<Tools>[] = [
  create,
  analyze,
  addTheme,
  allThemes,
  removeTheme,
];
