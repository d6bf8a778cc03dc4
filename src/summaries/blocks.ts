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

/** The score of one scale and audience. Never add up several blocks. */
export type ScoreBlock = Kind & {
  score: number;
  interval: Interval | null;
  n: number;
  /** `from` is the score of the period before. */
  change: { from: number; by: number; interval: Interval | null; is_clear: boolean } | null;
};

/** Customer NPS first, then by number of responses. */
export const blocksOf = (kinds: readonly CountedKind[]): ScoreBlock[] =>
  kinds
    .filter(({ now }) => now.responses > 0)
    .map(blockOf)
    .sort((one, other) => Number(isCustomersNps(other)) - Number(isCustomersNps(one)));

export const isCustomersNps = ({ type, audience }: Kind): boolean =>
  type === 'nps' && audience === 'customer';

function blockOf({ type, audience, now, earlier }: CountedKind): ScoreBlock {
  const current = measure(type, now, now.variance);
  const previous = measure(type, earlier, earlier.variance);
  const change = compare(type, current, previous);
  return {
    type,
    audience,
    score: current.value!,
    interval: current.interval,
    n: current.total,
    change: change && {
      from: previous.value!,
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
  if (change === null) return 'no earlier score to compare';
  const from = `from ${formatValue(type, change.from)}`;
  if (change.by === 0) return `unchanged ${from}`;
  if (!change.is_clear) return `no clear change ${from}`;
  return `${change.by > 0 ? 'up' : 'down'} ${formatPoints(type, Math.abs(change.by))} ${from}`;
}

/** `Net Promoter Score: +38 (margin of error +12 to +57.8, 40 responses), no clear change from +31.` */
export function blockSentence(block: ScoreBlock, blocks: readonly ScoreBlock[]): string {
  const { type, score, interval, n } = block;
  const responses = `${n} ${n === 1 ? 'response' : 'responses'}`;
  const margin = interval ? `margin of error ${formatInterval(type, interval)}, ` : '';
  return `${blockName(block, blocks)}: ${formatValue(type, score)} (${margin}${responses}), ${changeText(block)}.`;
}

export function sharesSentence({ promoters, passives, detractors }: Tally): string {
  const share = (part: number) => `${percentage(part, promoters + passives + detractors)}%`;
  return [
    `${share(promoters)} are promoters, ${share(passives)} passives and ${share(detractors)} detractors`,
    `(${promoters}, ${passives} and ${detractors}).`,
  ].join(' ');
}
