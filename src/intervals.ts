/** 95 % confidence intervals of scores, explained in `ops/numbers.md`. */

export type Interval = { low: number; high: number };

/** An interval before it is rounded and cut to its scale. */
export type Estimate = { center: number; half: number };

type Limits = { lowest: number; highest: number };

const deviations = 1.96;

/** Adjusted Wald (Rocks 2016): adds 0.75 promoters, 1.5 passives and 0.75 detractors. */
export function estimateNps(promoters: number, detractors: number, responses: number): Estimate {
  const n = responses + 3;
  const p = (promoters + 3 / 4) / n;
  const d = (detractors + 3 / 4) / n;
  return {
    center: 100 * (p - d),
    half: 100 * deviations * Math.sqrt((p + d - (p - d) ** 2) / n),
  };
}

/** Agresti-Coull, in percent. */
export function estimateShare(part: number, whole: number): Estimate {
  const n = whole + deviations ** 2;
  const share = (part + deviations ** 2 / 2) / n;
  return { center: 100 * share, half: 100 * deviations * Math.sqrt((share * (1 - share)) / n) };
}

type Sample = {
  mean: number;
  responses: number;
  variance: number | null;
  /** The number of scores that the variance covers. */
  scores: number;
};

/** Student's t. Null for one response or without variance. */
export function estimateMean({ mean, responses, variance, scores }: Sample): Estimate | null {
  if (responses < 2 || !variance) return null;
  return { center: mean, half: studentT(scores - 1) * Math.sqrt(variance / responses) };
}

/** The 0.975 quantile for 1 to 10 degrees of freedom. */
const smallT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];

/** Beyond the table, the Cornish-Fisher expansion is exact to three decimals. */
export function studentT(freedom: number): number {
  const z = deviations;
  return (
    smallT[freedom - 1] ??
    z +
      (z ** 3 + z) / (4 * freedom) +
      (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2) +
      (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * freedom ** 3)
  );
}

/** Rounds an interval and cuts it to its scale. The result is at least one unit of the last decimal wide. */
export function intervalOf({ center, half }: Estimate, limits: Limits, decimals: number): Interval {
  const unit = 10 ** -decimals;
  const low = Math.max(limits.lowest, Math.min(center - half, limits.highest - unit));
  const high = Math.min(limits.highest, Math.max(center + half, roundTo(low, decimals) + unit));
  return { low: roundTo(low, decimals), high: roundTo(high, decimals) };
}

export const marginOf = ({ low, high }: Interval, decimals: number): number =>
  roundTo(roundTo(high - low, decimals) / 2, decimals);

/** The difference of two independent scores. */
export const differenceOf = (now: Estimate, before: Estimate): Estimate => ({
  center: now.center - before.center,
  half: Math.hypot(now.half, before.half),
});

/** Adding 0 turns -0 into 0. */
const roundTo = (value: number, decimals: number): number =>
  Math.round(value * 10 ** decimals) / 10 ** decimals + 0;
