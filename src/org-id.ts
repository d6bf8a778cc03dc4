import type { Part } from './lib/db/db.ts';

/** An organization's id, or the part of a statement that knows it. */
export type OrgId = string | Part;
