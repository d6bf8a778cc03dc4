import { type CommandTools, inDatabase } from '../command-tools.ts';
import { type Command, columns, command } from '../lib/cli/command.ts';
import { id } from '../lib/cli/options.ts';
import { getOrganization } from '../organizations/queries.ts';
import { publicUrlOf } from '../service-record.ts';
import { surveyChanges } from './change.cli.ts';
import { shareUrl } from './create.ts';
import { allSurveys, getSurvey } from './manage.queries.ts';
import { findSurvey } from './queries.ts';
import { surveyStats } from './stats.ts';

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

export const surveyCommands: readonly Command<CommandTools>[] = [...surveyChanges, list, show];
