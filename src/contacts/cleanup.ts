import type { Db } from '../lib/db/db.ts';
import { deleteOldUploads } from './upload.queries.ts';

const keptDays = 7;

/** Deletes lists that were uploaded more than a week ago, with the lines that were left out of them. */
export const cleanUpUploads = ({ db }: { db: Db }) => deleteOldUploads(db, { days: keptDays });
