import { isLongerThan, maxCommentLength } from '../limits.ts';
import {
  isScore,
  netPromoterScore,
  npsInterval,
  percentage,
  type SurveyType,
  type Tally,
  typeFacts,
} from '../survey-types.ts';

/** How long before an answer the visits of a machine count: an earlier visitor did not give the answer. */
const suspectVisitMs = 10_000;

/** A machine presses one button after the other; a person who changes their mind takes longer than this. */
const secondThoughtMs = 2_000;

export type Submission = {
  score: unknown;
  comment: unknown;
  honeypotHit: boolean;
  properties: Readonly<Record<string, unknown>> | null;
  traceparent: string | null;
};

export type CheckedAnswer = { score: number; comment: string | null };

export type SubmissionError = {
  code: 'score_invalid' | 'comment_invalid' | 'comment_too_long';
  message: string;
};

export function checkSubmission(
  type: SurveyType,
  { score: posted, comment }: Pick<Submission, 'score' | 'comment'>,
): CheckedAnswer | SubmissionError {
  const score = readScore(posted);
  if (score === null || !isScore(type, score)) {
    const { lowest, highest } = typeFacts(type);
    const message = `score must be a whole number from ${lowest} to ${highest}`;
    return { code: 'score_invalid', message };
  }
  const text = typeof comment === 'string' ? comment.replace(/\r\n?/g, '\n').trim() : null;
  if (comment !== undefined && comment !== null && text === null) {
    return { code: 'comment_invalid', message: 'comment must be text' };
  }
  if (text !== null && isLongerThan(text, maxCommentLength)) {
    const message = `comment must have at most ${maxCommentLength} characters`;
    return { code: 'comment_too_long', message };
  }
  return { score, comment: text || null };
}

/** A form posts digits, JSON a number. No scale goes beyond two digits. */
export function readScore(posted: unknown): number | null {
  if (typeof posted === 'number') {
    return Number.isInteger(posted) && posted >= 0 && posted <= 99 ? posted : null;
  }
  return typeof posted === 'string' && /^\d{1,2}$/.test(posted) ? Number(posted) : null;
}

/** A visit to a contact's link: the page was shown, the hidden link was followed, or the form was posted. */
export type LinkVisit = { kind: 'view' | 'trap' | 'post'; score: number | null; agoMs: number };

export type HeldReason = 'hidden_field' | 'hidden_link' | 'scores_opened' | 'scores_posted';

type Circumstances = { score: number; honeypotHit: boolean; visits: readonly LinkVisit[] };

/**
 * Whether a response goes on hold instead of being counted: mail scanners open every link, some follow
 * hidden links, a few press buttons. A quick answer alone is no reason.
 */
export function judgeAnswer({ score, honeypotHit, visits }: Circumstances): HeldReason | null {
  if (honeypotHit) return 'hidden_field';
  const recent = visits.filter(({ agoMs }) => agoMs <= suspectVisitMs);
  if (recent.some(({ kind }) => kind === 'trap')) return 'hidden_link';

  if (scoresOf('view', recent).size > 1) return 'scores_opened';
  const quick = recent.filter(({ agoMs }) => agoMs <= secondThoughtMs);
  const posted = scoresOf('post', quick);
  posted.delete(score);
  return posted.size > 0 ? 'scores_posted' : null;
}

function scoresOf(kind: LinkVisit['kind'], visits: readonly LinkVisit[]): Set<number> {
  const scores = visits.filter((visit) => visit.kind === kind).map(({ score }) => score);
  return new Set(scores.filter((score) => score !== null));
}

export type HeldTally = Tally & { held: number };

export function rollUp({ promoters, passives, detractors, held }: HeldTally) {
  const total = promoters + passives + detractors;
  return {
    nps: netPromoterScore({ promoters, passives, detractors }),
    ...npsInterval({ promoters, passives, detractors }),
    total,
    promoters,
    passives,
    detractors,
    promoter_pct: percentage(promoters, total),
    passive_pct: percentage(passives, total),
    detractor_pct: percentage(detractors, total),
    held,
  };
}

export type NpsRollup = ReturnType<typeof rollUp>;

/** A property typed as `plan=pro`. */
export function readPair(text: string): { name: string; value: string } | undefined {
  const [, name, value] = /^\s*([^=]*[^=\s])\s*=\s*(.*\S)\s*$/s.exec(text) ?? [];
  return name === undefined || value === undefined ? undefined : { name, value };
}
