import type { Analyst, Remark } from './analyst.ts';
import { type Analysis, scoreAnalysis } from './rules.ts';

/** Reads a comment, in a thread of its own; undefined when it could not in time. */
export type ReadComment = (remark: Remark) => Promise<Analysis | undefined>;

/** The analyst that needs no network. Of a comment that takes too long to read, only the score counts. */
export const createBuiltinAnalyst = (read: ReadComment): Analyst => ({
  name: 'built-in',
  analyze: async (remark) => ({ ok: true, value: (await read(remark)) ?? scoreAnalysis(remark) }),
  write: async () => ({ ok: true, value: null }),
});
