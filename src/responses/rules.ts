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
