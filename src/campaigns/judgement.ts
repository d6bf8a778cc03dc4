import { listRejects } from '../contacts/upload.queries.ts';
import type { Sql } from '../lib/db/db.ts';
import { csvLine } from '../lib/export/csv-line.ts';
import { readUsage } from '../organizations/usage.queries.ts';
import type { OrgSurvey } from '../surveys/queries.ts';
import { countContacts } from './contacts.queries.ts';
import { type JudgedContact, judgeAskable } from './judge.ts';
import { judgeCampaign } from './start.ts';

const examplesOfReason = 8;
const mostRejects = 1000;

type Example = { email: string; remark: string | null };

/** What a person sees before anything goes out. */
export type JudgementView = {
  mailed: number;
  /** Of those that are still to be asked, kept from being mailed by a rule. */
  blocked: number;
  /** Lines of the list uploaded last that have no usable address. */
  invalid: number;
  /** Contacts that were mailed or have answered before. */
  alreadyAsked: number;
  reasons: { code: string; people: number; examples: Example[] }[];
  used: number;
  monthlyLimit: number;
};

/** The judgement of a dry run, with a few names for each reason. */
export async function viewJudgement(sql: Sql, survey: OrgSurvey): Promise<JudgementView> {
  const examples = new Map<string, Example[]>();
  const [contacts, rejects, judged] = await Promise.all([
    countContacts(sql, survey),
    listRejects(sql, survey, mostRejects),
    judgeCampaign(sql, survey, (some) => keepExamples(examples, some)),
  ]);
  const alreadyAsked = Math.max(contacts - judged.total, 0);
  const reasons = [...judged.reasons]
    .map(([code, people]) => ({ code, people, examples: examples.get(code) ?? [] }))
    .sort((one, other) => other.people - one.people);
  if (alreadyAsked > 0) {
    reasons.unshift({ code: 'already_sent', people: alreadyAsked, examples: [] });
  }
  if (rejects.length > 0) {
    const lines = rejects.slice(0, examplesOfReason).map(({ line, value, reason }) => ({
      email: value === '' ? '(empty)' : value,
      remark: `line ${line}: ${reason}`,
    }));
    reasons.push({ code: 'invalid_email', people: rejects.length, examples: lines });
  }
  return {
    mailed: judged.mailed,
    blocked: judged.total - judged.mailed,
    alreadyAsked,
    invalid: rejects.length,
    reasons,
    used: judged.used,
    monthlyLimit: judged.monthly_send_limit,
  };
}

function keepExamples(examples: Map<string, Example[]>, judged: readonly JudgedContact[]) {
  for (const { email, judgement } of judged) {
    if ('send' in judgement) continue;
    const known = examples.get(judgement.reason_code) ?? [];
    if (known.length < examplesOfReason) {
      const remark = judgement.reason_code === 'frequency' ? judgement.reason : null;
      examples.set(judgement.reason_code, [...known, { email, remark }]);
    }
  }
}

const head = ['email', 'will_be_mailed', 'reason', 'reason_code', 'line'];

/** The judgement of each contact that is still to be asked, and the unusable lines of the list uploaded last. */
export async function* exportJudgement(sql: Sql, survey: OrgSurvey) {
  yield csvLine(head);
  const { frequency_days: frequencyDays } = await readUsage(sql, survey.orgId);
  for await (const judged of judgeAskable(sql, survey, frequencyDays)) {
    yield judged.map(lineOf).join('');
  }
  const rejects = await listRejects(sql, survey, mostRejects);
  yield rejects
    .map(({ line, value, reason }) => csvLine([value, false, reason, 'invalid_email', line]))
    .join('');
}

function lineOf({ email, judgement }: JudgedContact): string {
  if ('send' in judgement) return csvLine([email, true, null, null, null]);
  return csvLine([email, false, judgement.reason, judgement.reason_code, null]);
}
