import { netPromoterScore, percentage, type Tally } from '../scores.ts';

/** What a search looks for, as a pattern in which the searcher's own % and _ stand for themselves. */
export const likePattern = (search: string) => `%${search.replace(/[\\%_]/g, '\\$&')}%`;

/** The rollup that the counts of the categories come to. */
export function rollUp({ promoters, passives, detractors }: Tally) {
  const total = promoters + passives + detractors;
  return {
    nps: netPromoterScore({ promoters, passives, detractors }),
    total,
    promoters,
    passives,
    detractors,
    promoter_pct: percentage(promoters, total),
    passive_pct: percentage(passives, total),
    detractor_pct: percentage(detractors, total),
  };
}
/** How long before an answer a machine's traces count: what opened the links earlier was not its giver. */
const tracesMs = 10_000;

/** A machine presses one button after the other; a person who thinks again takes longer than this. */
const secondThoughtMs = 2_000;

/** What a token's links saw: a page shown, the hidden link followed, or a form posted. */
export type ScannerSign = { kind: 'view' | 'trap' | 'post'; score: number | null; agoMs: number };

export type Given = {
  score: number;
  /** Something stood in the field that no person sees, or the form was that of the hidden link. */
  trapped: boolean;
  signals: readonly ScannerSign[];
};

export type HeldReason = 'hidden_field' | 'hidden_link' | 'scores_opened' | 'scores_posted';

/**
 * Whether an answer is held instead of counted: mail scanners open every link, some follow what nobody
 * sees, a few press buttons. That it came quickly means nothing.
 */
export function judgeAnswer({ score, trapped, signals }: Given): HeldReason | null {
  if (trapped) return 'hidden_field';
  const recent = signals.filter(({ agoMs }) => agoMs <= tracesMs);
  if (recent.some(({ kind }) => kind === 'trap')) return 'hidden_link';

  if (scoresOf('view', recent).size > 1) return 'scores_opened';
  const quick = recent.filter(({ agoMs }) => agoMs <= secondThoughtMs);
  const posted = scoresOf('post', quick);
  posted.delete(score);
  return posted.size > 0 ? 'scores_posted' : null;
}

function scoresOf(kind: ScannerSign['kind'], signals: readonly ScannerSign[]): Set<number> {
  const scores = signals.filter((each) => each.kind === kind).map(({ score }) => score);
  return new Set(scores.filter((score) => score !== null));
}
