/** Every quarter of a second one is added: more than the longest lag that is tolerated has. */
const mostMarks = 16_384;

/**
 * How far a replica is behind, as the time since the primary was where the replica is now. A primary without writes
 * stays where it is, so that a replica which has everything is not behind.
 */
export function createLag() {
  /** Where the primary was at which time; the first is the last one that the replica has reached, if it has. */
  const marks: { position: number; at: number }[] = [];
  let reachedAt: number | undefined;

  return {
    primaryIsAt(position: number, at: number) {
      const last = marks.at(-1);
      // The time at which it was left counts, and not the time at which it was reached.
      if (last?.position === position) last.at = at;
      else marks.push({ position, at });
      if (marks.length > mostMarks) marks.splice(1, 1);
    },
    replicaIsAt(position: number, at: number) {
      while (marks.length > 1 && marks[1]!.position <= position) marks.shift();
      const first = marks[0];
      if (!first || first.position > position) return;
      reachedAt = marks.length === 1 ? at : first.at;
    },
    /** Endless until the replica has reached a place where the primary is known to have been. */
    seconds: (now: number) =>
      reachedAt === undefined ? Number.POSITIVE_INFINITY : Math.max(0, (now - reachedAt) / 1000),
  };
}
