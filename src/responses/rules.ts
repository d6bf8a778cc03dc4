import { Refusal } from '../errors.ts';
import { isLongerThan, maxCommentLength, maxNameLength } from '../limits.ts';
import {
  isScore,
  netPromoterScore,
  npsInterval,
  percentage,
  type SurveyType,
  type Tally,
  typeFacts,
} from '../survey-types.ts';

/** Older visits say nothing about who gave the answer. */
const maxVisitAgeMs = 10_000;

/** A machine posts one score after another. People who change their mind take longer. */
const maxPostGapMs = 2_000;

export type Submission = {
  score: unknown;
  comment: unknown;
  honeypotHit: boolean;
  properties: Readonly<Record<string, unknown>> | null;
  traceparent: string | null;
};

export type CheckedAnswer = { score: number; comment: string | null };

export function checkSubmission(
  type: SurveyType,
  { score: posted, comment }: Pick<Submission, 'score' | 'comment'>,
): CheckedAnswer {
  const refuse = (code: string, message: string) => new Refusal('invalid', message, { code });
  const score = readScore(posted);
  if (score === null || !isScore(type, score)) {
    const { lowest, highest } = typeFacts(type);
    throw refuse('score_invalid', `score must be a whole number from ${lowest} to ${highest}`);
  }
  if (comment !== undefined && comment !== null && typeof comment !== 'string') {
    throw refuse('comment_invalid', 'comment must be text');
  }
  const text = storableText(comment ?? '');
  if (isLongerThan(text, maxCommentLength)) {
    throw refuse('comment_too_long', `comment must have at most ${maxCommentLength} characters`);
  }
  return { score, comment: text || null };
}

/** Text of a form as it is stored. Postgres stores no NUL. */
export const storableText = (text: string) =>
  text.replaceAll('\0', '').replace(/\r\n?/g, '\n').trim();

/** Forms post digits, JSON has numbers. No scale goes beyond two digits. */
export function readScore(posted: unknown): number | null {
  if (typeof posted === 'number') {
    return Number.isInteger(posted) && posted >= 0 && posted <= 99 ? posted : null;
  }
  return typeof posted === 'string' && /^\d{1,2}$/.test(posted) ? Number(posted) : null;
}

/** `trap`: the hidden link was followed. */
export type LinkVisit = { kind: 'view' | 'trap' | 'post'; score: number | null; agoMs: number };

export type HeldReason = 'hidden_field' | 'hidden_link' | 'scores_opened' | 'scores_posted';

type ScannerSigns = { score: number; honeypotHit: boolean; visits: readonly LinkVisit[] };

/** Detects scanners: they open every link, some follow hidden links, and a few submit forms. Speed is not a reason. */
export function findHoldReason({ score, honeypotHit, visits }: ScannerSigns): HeldReason | null {
  if (honeypotHit) return 'hidden_field';
  const recent = visits.filter(({ agoMs }) => agoMs <= maxVisitAgeMs);
  if (recent.some(({ kind }) => kind === 'trap')) return 'hidden_link';

  if (scoresOf('view', recent).size > 1) return 'scores_opened';
  const quick = recent.filter(({ agoMs }) => agoMs <= maxPostGapMs);
  const posted = scoresOf('post', quick);
  posted.delete(score);
  return posted.size > 0 ? 'scores_posted' : null;
}

function scoresOf(kind: LinkVisit['kind'], visits: readonly LinkVisit[]): Set<number> {
  const scores = visits.filter((visit) => visit.kind === kind).map(({ score }) => score);
  return new Set(scores.filter((score) => score !== null));
}

const changeableMs = 24 * 60 * 60 * 1000;

/** Follow-up answers can be changed for a day after the score, while the survey takes answers. */
export const areFinal = (
  { now, completed_by }: { now: Date; completed_by: string | null },
  { at }: { at: string },
) => completed_by === 'hand' || now.getTime() - Date.parse(at) > changeableMs;

const maxProperties = 20;
const maxValueLength = 500;

/** Reads the plain values among an embedded survey's properties, which visitors can forge. */
export function readEmbedProperties(
  input: unknown,
): Record<string, string | number | boolean> | null {
  const values = typeof input === 'string' ? tryParse(input) : input;
  if (typeof values !== 'object' || values === null || Array.isArray(values)) return null;
  const plain = Object.entries(values).filter((entry): entry is [string, Plain] => isPlain(entry));
  return plain.length === 0 ? null : Object.fromEntries(plain.slice(0, maxProperties));
}

type Plain = string | number | boolean;

function isPlain([name, value]: [string, unknown]): boolean {
  if (name === '' || name === '__proto__' || isLongerThan(name, maxNameLength)) return false;
  if (!isStorable(name)) return false;
  if (typeof value === 'string') return !isLongerThan(value, maxValueLength) && isStorable(value);
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
}

/** Postgres stores neither NUL nor lone surrogates. */
const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed();

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
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

export const dateHint = 'Enter a date, such as 2026-04-01.';
export const endBeforeStart = 'The end is before the start.';
export const propertyHint = 'Enter a property and a value, such as plan=pro.';

/** Reads a property typed as `plan=pro`. */
export function readPair(text: string): { name: string; value: string } | undefined {
  const [, name, value] = /^\s*([^=]*[^=\s])\s*=\s*(.*\S)\s*$/s.exec(text) ?? [];
  return name === undefined || value === undefined ? undefined : { name, value };
}
