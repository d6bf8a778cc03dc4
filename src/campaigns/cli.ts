import { commandWriter, type Writer } from '../audit/acts.ts';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import { notFound } from '../errors.ts';
import {
  type Command,
  columns,
  command,
  flag,
  id,
  Moment,
  Name,
  optional,
  Whole,
} from '../lib/cli/command.ts';
import type { Db } from '../lib/db/db.ts';
import { warnWithoutJobs } from '../open-database.ts';
import { getSurvey } from '../surveys/queries.ts';
import type { AdvanceTools } from './advance.ts';
import {
  createCampaign,
  pauseCampaign,
  resumeCampaign,
  stopCampaign,
  tryCampaign,
} from './campaign.ts';
import {
  type CampaignRecord,
  findCampaign,
  findOrganizationOfCampaign,
  latestCampaigns,
} from './queries.ts';
import { allResults } from './results.ts';

const toolsOf = (db: Db): AdvanceTools => ({ db });

const create = command({
  name: 'campaign create',
  does: 'mails a survey to all of its contacts that are still to be asked; the running service mails them',
  options: {
    survey: id('which survey'),
    name: optional(Name, 'N', "what it is called in lists (the survey's name)"),
    'send-at': optional(Moment, 'ISO', 'when it starts (now)'),
    'per-hour': optional(Whole(1, 1_000_000), 'N', 'at most so many mails an hour (no limit)'),
    'dry-run': flag('say what would be mailed; write and send nothing'),
  },
  run: (tools: CommandTools, { survey: surveyId, name, 'dry-run': dryRun, ...given }) =>
    inDatabase(tools, async (db) => {
      const { org_id: orgId } = await getSurvey(db, surveyId);
      if (dryRun) return await tried(db, { orgId, surveyId });
      const wish = { surveyId, name, send_at: given['send-at'], per_hour: given['per-hour'] };
      const id = await createCampaign(toolsOf(db), commandWriter(orgId), wish);
      const made = (await findCampaign(db, orgId, id))!;
      const waits = made.status !== 'finished';
      if (waits) await warnWithoutJobs(tools, db, 'the campaign waits for it');
      return shown(made);
    }),
});

const list = command({
  name: 'campaign list',
  does: "lists a survey's campaigns, newest first",
  options: { survey: id('whose campaigns') },
  run: (tools: CommandTools, { survey }) =>
    inDatabase(tools, async (db) => {
      const { org_id } = await getSurvey(db, survey);
      const campaigns = await latestCampaigns(db, { orgId: org_id, surveyId: survey });
      const rows = campaigns.map((each) => [
        each.id,
        each.status,
        each.total,
        each.sent,
        each.duplicates,
        each.failed,
        each.remaining,
        each.name,
      ]);
      const head = ['id', 'status', 'total', 'sent', 'duplicates', 'failed', 'remaining', 'name'];
      return { data: campaigns, text: columns([head, ...rows]) };
    }),
});

const show = command({
  name: 'campaign show',
  does: 'shows a campaign and how far it is',
  options: { id: id('which campaign') },
  run: (tools: CommandTools, given) =>
    inDatabase(tools, async (db) => shown(await getCampaign(db, given.id))),
});

const results = command({
  name: 'campaign results',
  does: 'lists what became of each contact of a campaign',
  options: { id: id('which campaign') },
  run: (tools: CommandTools, given) =>
    inDatabase(tools, async (db) => {
      const data = await allResults(db, await organizationOf(db, given.id), given.id);
      const rows = data.map(({ email, status, reason, at }) => [email, status, at, reason]);
      return { data, text: columns([['email', 'status', 'at', 'reason'], ...rows]) };
    }),
});

type Verb = (tools: AdvanceTools, by: Writer, id: string) => Promise<void>;

const act = (word: string, does: string, verb: Verb) =>
  command({
    name: `campaign ${word}`,
    does,
    options: { id: id('which campaign') },
    run: (tools: CommandTools, given) =>
      inDatabase(tools, async (db) => {
        await verb(toolsOf(db), commandWriter(await organizationOf(db, given.id)), given.id);
        return shown(await getCampaign(db, given.id));
      }),
  });

export const campaignCommands: readonly Command<CommandTools>[] = [
  create,
  list,
  show,
  act('pause', 'pauses a campaign: no further mail begins', pauseCampaign),
  act('resume', 'lets a paused campaign go on', resumeCampaign),
  act(
    'stop',
    'stops a campaign for good, and gives back the quota of what was not mailed',
    stopCampaign,
  ),
  results,
];

async function tried(db: Db, survey: { orgId: string; surveyId: string }) {
  const { total, mailed, reasons } = await tryCampaign({ db }, survey);
  const data = {
    survey_id: survey.surveyId,
    dry_run: true,
    total,
    remaining: mailed,
    duplicates: total - mailed,
    reasons: Object.fromEntries(reasons),
  };
  const rows = [...reasons].map(([code, count]) => [`not mailed: ${code}`, count]);
  return { data, text: columns([['would be mailed', mailed], ...rows]) };
}

async function organizationOf(db: Db, campaignId: string): Promise<string> {
  const orgId = await findOrganizationOfCampaign(db, campaignId);
  if (orgId === undefined) throw notFound('campaign');
  return orgId;
}

async function getCampaign(db: Db, campaignId: string): Promise<CampaignRecord> {
  return (await findCampaign(db, await organizationOf(db, campaignId), campaignId))!;
}

function shown(campaign: CampaignRecord) {
  const rows = Object.entries(campaign).map(([name, value]) => [name.replaceAll('_', ' '), value]);
  return { data: campaign, text: columns(rows) };
}
