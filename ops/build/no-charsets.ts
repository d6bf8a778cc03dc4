/** Replaces the character set tables of mailauth in the binary. askback only uses its DNS checks, which are ASCII. */
export const refuse = (): never => {
  throw new Error('this is not part of askback');
};
