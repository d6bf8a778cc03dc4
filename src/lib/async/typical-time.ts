/**
 * Estimates how long a piece of work takes at most, apart from rare outliers: its mean and four times its
 * mean deviation, both weighted towards the latest, as TCP estimates its round trips (RFC 6298).
 *
 *     const time = createTypicalTime();
 *     time.add(20);
 *     time.ms(); // 60
 */
export function createTypicalTime() {
  let [mean, deviation] = [0, 0];
  let isFirst = true;
  return {
    add(ms: number) {
      deviation = isFirst ? ms / 2 : deviation + (Math.abs(ms - mean) - deviation) / 4;
      mean = isFirst ? ms : mean + (ms - mean) / 8;
      isFirst = false;
    },
    /** 0 as long as nothing is known. */
    ms: () => mean + 4 * deviation,
  };
}
