import { jobActor, maskAddresses, recordAct, type Writer } from '../audit/acts.ts';
import { countEndedRounds } from '../contacts/rounds.ts';
import { countRejects, listRejects } from '../contacts/upload.queries.ts';
import { notFound, Refusal } from '../errors.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { csvLine } from '../lib/export/export.ts';
import { type IfMatch, refuseOtherVersion } from '../lib/http/version.ts';
import type { Log } from '../lib/log/log.ts';
import { readUsage } from '../organizations/queries.ts';
import { type Audience, filterOfAudience } from '../people/audience.ts';
import type { PeopleFilter } from '../people/filter.ts';
import { lockSegmentForUse, versionOfSegment } from '../people/segments.ts';
import { lockOpenSurvey } from '../sends/claim.ts';
import { findReader, listReaders } from '../sends/test-mail.ts';
import {
  countReached,
  getOrgSurvey,
  type ManagedSurvey,
  type OrgSurvey,
} from '../surveys/queries.ts';
import { languageFor, ownValue, placeholdersIn } from '../surveys/texts.ts';
import {
  type AdvanceTools,
  endCampaign,
  enqueueTurn,
  isMailed,
  judgeCampaign,
  startCampaign,
  withdrawBatches,
} from './advance.ts';
import { contactRow, type JudgedContact, judgeAskable } from './judge.ts';
import {
  type CampaignState,
  changeCampaign,
  findCampaignOfBatch,
  insertCampaign,
  lockCampaign,
} from './queries.ts';

export type NewCampaign = {
  surveyId: string;
  name?: string | null | undefined;
  send_at?: Date | null | undefined;
  per_hour?: number | null | undefined;
  audience?: Audience | null | undefined;
  /** The version of the segment that was reviewed. */
  ifMatch?: IfMatch;
};

/** Starts now, or at `send_at`. A time in the past means now. */
export async function createCampaign(tools: AdvanceTools, by: Writer, input: NewCampaign) {
  const { orgId, actor } = by;
  const now = tools.now?.() ?? new Date();
  const sendAt = input.send_at && input.send_at > now ? input.send_at : null;
  const audience = input.audience ?? null;
  return await inTransaction(tools.db, async (tx) => {
    const survey = { orgId, surveyId: input.surveyId };
    const { name } = await getOrgSurvey(tx, orgId, input.surveyId);
    const audited = await lockAudience(tx, orgId, input);
    const campaign = await insertCampaign(tx, {
      org_id: orgId,
      survey_id: input.surveyId,
      name: input.name ?? name,
      per_hour: input.per_hour ?? null,
      audience,
      status: sendAt ? 'scheduled' : 'running',
      send_at: input.send_at ?? null,
      next_at: sendAt ?? now,
      created_at: now,
    });
    if (sendAt) {
      await lockOpenSurvey(tx, survey);
      const filter = audience && (await filterOfAudience(tx, orgId, audience));
      // The current size. Starting the campaign judges contacts again and reserves the quota.
      const { total, mailed: waiting } = await judgeCampaign(tx, survey, { filter });
      await changeCampaign(tx, campaign, { total, waiting, duplicates: total - waiting });
    }
    const isOn = sendAt !== null || (await startCampaign(tx, campaign, now));
    if (isOn) await enqueueTurn(tx, campaign, sendAt ?? now);
    const target = { kind: 'campaign', id: campaign.id } as const;
    const details = { survey_id: input.surveyId, ...audited };
    await recordAct(tx, { orgId, actor, act: 'campaign.created', target, details });
    return campaign.id;
  });
}

/** Refuses a segment that has changed since its review. Returns the audience for the audit log, without addresses. */
async function lockAudience(tx: Sql, orgId: string, { audience, ifMatch }: NewCampaign) {
  if (!audience) return {};
  if (audience === 'people') return { audience };
  if ('filter' in audience) return { audience: 'filter' };
  const segment = await lockSegmentForUse(tx, orgId, audience.segment_id);
  refuseOtherVersion(versionOfSegment(segment), ifMatch);
  return { audience: maskAddresses(`segment ${segment.name}`), segment_id: segment.id };
}

export async function dryRunCampaign(
  { db }: { db: Db },
  { audience = null, ...survey }: OrgSurvey & { audience?: Audience | null | undefined },
) {
  const { name: surveyName } = await getOrgSurvey(db, survey.orgId, survey.surveyId);
  const filter = await inTransaction(db, async (tx) => {
    await lockOpenSurvey(tx, survey);
    return audience && (await filterOfAudience(tx, survey.orgId, audience));
  });
  return { ...(await judgeCampaign(db, survey, { filter })), surveyName };
}

export const pauseCampaign = (tools: AdvanceTools, by: Writer, id: string) =>
  control(tools, { by, id }, async (tx, campaign) => {
    if (campaign.status === 'paused') return;
    await withdrawBatches(tx, campaign);
    await changeCampaign(tx, campaign, { status: 'paused', next_at: null });
    await recordAct(tx, { ...by, act: 'campaign.paused', target: { kind: 'campaign', id } });
  });

/**
 * Pauses a campaign when the mail server refuses all of its mails, so that its contacts do not all fail. Returns true
 * if the mails were withdrawn. Automatic sends cannot be paused.
 */
export async function pauseRefusedCampaign(
  { db, log, orgId }: { db: Db; log: Log; orgId: string },
  batch: { id: string; reason: string },
) {
  return await inTransaction(db, async (tx) => {
    const campaignId = await findCampaignOfBatch(tx, orgId, batch.id);
    const campaign = campaignId ? await lockCampaign(tx, { orgId, campaignId }) : undefined;
    if (campaign?.kind !== 'campaign') return false;
    if (campaign.status !== 'running' && campaign.status !== 'paused') return false;
    // Withdraws from paused campaigns too, because mails in flight may have come back since the pause.
    await withdrawBatches(tx, campaign);
    if (campaign.status === 'paused') return true;
    const { reason } = batch;
    await changeCampaign(tx, campaign, { status: 'paused', reason, next_at: null });
    const target = { kind: 'campaign', id: campaign.id } as const;
    await recordAct(tx, { orgId, actor: jobActor('campaigns'), act: 'campaign.paused', target });
    log.warn({ org_id: orgId }, 'a campaign was paused: the mail server refuses its emails');
    return true;
  });
}

export const resumeCampaign = (tools: AdvanceTools, by: Writer, id: string) =>
  control(tools, { by, id }, async (tx, campaign, now) => {
    if (campaign.status !== 'paused') return;
    const turn = campaign.turn + 1;
    const status = campaign.started_at ? 'running' : 'scheduled';
    const at = { next_at: now, next_mail_at: now };
    await changeCampaign(tx, campaign, { status, turn, reason: null, ...at });
    await enqueueTurn(tx, { ...campaign, turn }, now);
    await recordAct(tx, { ...by, act: 'campaign.resumed', target: { kind: 'campaign', id } });
  });

export const stopCampaign = (tools: AdvanceTools, by: Writer, id: string) =>
  control(tools, { by, id }, (tx, campaign, now) =>
    endCampaign(tx, campaign, { now, actor: by.actor }),
  );

async function control(
  tools: AdvanceTools,
  { by, id }: { by: Writer; id: string },
  act: (tx: Sql, campaign: CampaignState, now: Date) => Promise<void>,
) {
  await inTransaction(tools.db, async (tx) => {
    const campaign = await lockCampaign(tx, { orgId: by.orgId, campaignId: id });
    if (campaign?.kind !== 'campaign') throw notFound('campaign');
    if (!['scheduled', 'running', 'paused'].includes(campaign.status)) {
      throw new Refusal('conflict', `the campaign has ended: it is ${campaign.status}`, {
        code: 'campaign_over',
      });
    }
    await act(tx, campaign, tools.now?.() ?? new Date());
  });
}

const maxExamples = 8;
const maxRejects = 1000;

export type JudgementView = Awaited<ReturnType<typeof viewJudgement>>;

/** The review before a send. `invalid` counts the rows without a valid address in the last uploaded list. */
export async function viewJudgement(
  sql: Sql,
  survey: OrgSurvey,
  filter: PeopleFilter | null = null,
) {
  const texts = await getOrgSurvey(sql, survey.orgId, survey.surveyId);
  const fallbacks = new Map<string, Fallback>();
  let firstId: string | undefined;
  const [{ contacts }, ended, rejects, invalid, judged] = await Promise.all([
    countReached(sql, survey.orgId, survey.surveyId),
    countEndedRounds(sql, survey),
    listRejects(sql, survey, { atMost: maxExamples }),
    filter ? 0 : countRejects(sql, survey),
    judgeCampaign(sql, survey, {
      filter,
      async onJudged(batch) {
        const mailed = batch.filter(isMailed);
        firstId ??= mailed[0]?.id;
        await countFallbacks(sql, texts, { fallbacks, contacts: mailed });
      },
    }),
  ]);
  const alreadyAsked = filter ? 0 : Math.max(contacts - ended - judged.total, 0);
  const reasons = [...judged.reasons]
    .map(([code, { count, first }]) => ({
      code,
      people: count,
      examples: first.slice(0, maxExamples).map(({ email, reason }) => {
        return { email, remark: code === 'frequency' ? reason : null };
      }),
    }))
    .sort((one, other) => other.people - one.people);
  if (alreadyAsked > 0) {
    reasons.unshift({ code: 'already_sent', people: alreadyAsked, examples: [] });
  }
  if (invalid > 0) {
    const lines = rejects.map(({ line, value, reason }) => ({
      email: value === '' ? '(empty)' : value,
      remark: `line ${line}: ${reason}`,
    }));
    reasons.push({ code: 'invalid_email', people: invalid, examples: lines });
  }
  const { total, mailed, used, monthly_send_limit: monthlyLimit } = judged;
  const blocked = total - mailed;
  const reader = firstId && (await findReader(sql, survey, firstId));
  return {
    mailed,
    blocked,
    alreadyAsked,
    invalid,
    reasons,
    used,
    monthlyLimit,
    fallbacks: [...fallbacks.values()].sort((one, other) =>
      one.placeholder < other.placeholder ? -1 : 1,
    ),
    reader: reader || null,
  };
}

/** `without` counts the recipients who have no value for the placeholder, out of `readers`. */
type Fallback = { placeholder: string; fallbacks: Set<string>; readers: number; without: number };

const readerBatchSize = 1000;

async function countFallbacks(
  sql: Sql,
  survey: ManagedSurvey,
  { fallbacks, contacts }: { fallbacks: Map<string, Fallback>; contacts: readonly JudgedContact[] },
) {
  const languages = [survey.language, ...Object.keys(survey.texts)];
  const byLanguage = new Map(languages.map((tag) => [tag, placeholdersIn(survey, tag)]));
  if ([...byLanguage.values()].every((placeholders) => placeholders.length === 0)) return;
  for (let from = 0; from < contacts.length; from += readerBatchSize) {
    const ids = contacts.slice(from, from + readerBatchSize).map(({ id }) => id);
    const readers = await listReaders(sql, { orgId: survey.org_id, surveyId: survey.id }, ids);
    for (const person of readers) {
      const language = languageFor(survey, { property: person.properties['language'] });
      const read = Map.groupBy(byLanguage.get(language) ?? [], ({ value }) => value);
      for (const [value, placeholders] of read) {
        const none = { placeholder: value, fallbacks: new Set<string>(), readers: 0, without: 0 };
        const row = fallbacks.get(value) ?? none;
        fallbacks.set(value, row);
        row.readers += 1;
        if (ownValue(value, person) === '') row.without += 1;
        for (const { fallback } of placeholders) row.fallbacks.add(fallback);
      }
    }
  }
}

const head = ['email', 'will_be_mailed', 'reason', 'reason_code', 'line'];

export async function* exportJudgement(
  sql: Sql,
  survey: OrgSurvey,
  filter: PeopleFilter | null = null,
) {
  yield csvLine(head);
  const { frequency_days: frequencyDays } = await readUsage(sql, survey.orgId);
  for await (const judged of judgeAskable(sql, survey, { frequencyDays, filter })) {
    const lines = judged.map((each) => {
      const { reason, reason_code } = contactRow(each);
      return csvLine([each.email, reason_code === null, reason, reason_code, null]);
    });
    yield lines.join('');
  }
  if (filter) return;
  const rejects = await listRejects(sql, survey, { atMost: maxRejects });
  yield rejects
    .map(({ line, value, reason }) => csvLine([value, false, reason, 'invalid_email', line]))
    .join('');
}
