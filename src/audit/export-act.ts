import type { Db } from '../lib/db/db.ts';
import type { Actor } from './actor.ts';
import { recordAct } from './record.ts';

type Exporter = { orgId: string; actor: Actor };

/** Records that a file of everything was begun: reading is no act, taking it all away is one. */
export const recordExport = (
  db: Db,
  { orgId, actor }: Exporter,
  act: 'responses.exported' | 'contacts.exported',
) => recordAct(db, { orgId, actor, act });
