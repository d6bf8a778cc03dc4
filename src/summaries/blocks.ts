import type { Interval } from '../intervals.ts';
import { audienceText, type CountedKind, type Kind } from '../responses/kinds.ts';
import {
  compare,
  formatInterval,
  formatPoints,
  formatValue,
  measure,
  percentage,
  type Tally,
  typeFacts,
} from '../survey-types.ts';

/** The score of one kind of surveys in a summary. Kinds never add up. */
export type ScoreBlock = Kind & {
  score: number;
  interval: Interval | null;
  n: number;
  /** From the score of the period before; clear if the 95 % interval of the difference excludes 0. */
  change: { from: number; by: number; interval: Interval | null; is_clear: boolean } | null;
};

/** A block for each kind that was answered: customers' NPS first, the others by how much they are answered. */
export const blocksOf = (kinds: readonly CountedKind[]): ScoreBlock[] =>
  kinds
    .filter(({ now }) => now.responses > 0)
    .map(blockOf)
    .sort((one, other) => Number(isCustomersNps(other)) - Number(isCustomersNps(one)));

export const isCustomersNps = ({ type, audience }: Kind): boolean =>
  type === 'nps' && audience === 'customer';

function blockOf({ type, audience, now, earlier }: CountedKind): ScoreBlock {
  const [is, was] = [now, earlier].map((counts) => measure(type, counts, counts.variance));
  const change = compare(type, is!, was!);
  return {
    type,
    audience,
    score: is!.value!,
    interval: is!.interval,
    n: is!.total,
    change: change && {
      from: was!.value!,
      by: change.by,
      interval: change.interval,
      is_clear: change.meaning === 'better' || change.meaning === 'worse',
    },
  };
}

export const blockName = (kind: Kind, kinds: readonly Kind[]): string =>
  `${typeFacts(kind.type).number}${audienceText(kind, kinds)}`;

/** `up 7 points from +31`. */
export function changeText({ type, change }: Pick<ScoreBlock, 'type' | 'change'>): string {
  if (change === null) return 'none in the period before to compare with';
  const from = `from ${formatValue(type, change.from)}`;
  if (change.by === 0) return `unchanged ${from}`;
  if (!change.is_clear) return `no clear change ${from}`;
  return `${change.by > 0 ? 'up' : 'down'} ${formatPoints(type, Math.abs(change.by))} ${from}`;
}

/** `Net Promoter Score: +38 (margin of error +12 to +57.8, 40 answers), no clear change from +31.` */
export function blockSentence(block: ScoreBlock, blocks: readonly ScoreBlock[]): string {
  const { type, score, interval, n } = block;
  const answers = `${n} ${n === 1 ? 'answer' : 'answers'}`;
  const sure = interval ? `margin of error ${formatInterval(type, interval)}, ${answers}` : answers;
  return `${blockName(block, blocks)}: ${formatValue(type, score)} (${sure}), ${changeText(block)}.`;
}

/** How the answers of a Net Promoter Score fall into categories. */
export function sharesSentence({ promoters, passives, detractors }: Tally): string {
  const share = (part: number) => `${percentage(part, promoters + passives + detractors)}%`;
  return [
    `${share(promoters)} are promoters, ${share(passives)} passives and ${share(detractors)} detractors`,
    `(${promoters}, ${passives} and ${detractors}).`,
  ].join(' ');
}
