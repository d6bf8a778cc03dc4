/**
 * Stands in, in the binary, for the tables of character sets that mailauth brings to read mails. askback asks it about
 * DNS alone, which is ASCII; the tables are larger than all the rest of it.
 */
export const refuse = (): never => {
  throw new Error('this is not part of askback');
};
