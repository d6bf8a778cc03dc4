import type { Db } from '../lib/db/db.ts';
import { inGroup } from '../lib/db/fair-pool.ts';
import { type ExportFormat, exportParts } from '../lib/export/answer.ts';
import type { Position } from '../lib/paging/page.ts';
import { nextContacts } from './queries.ts';

const atOnce = 2_000;

const columns = [
  ...['id', 'created_at', 'survey_id', 'survey_name', 'email', 'name', 'properties', 'status'],
  ...['failure_reason', 'sent_at', 'responded_at'],
] as const;

type Exported = Record<string, string | null> & { properties: object };
type ExportWish = { surveyId: string | null; format: ExportFormat };

/** All contacts of an organization or a survey, newest first. No connection is held while the reader takes a batch. */
export const exportContacts = (db: Db, orgId: string, { surveyId, format }: ExportWish) =>
  exportParts<Position, Exported>(format, {
    columns,
    next: (after) =>
      inGroup(orgId, () => nextContacts(db, orgId, { surveyId, after, limit: atOnce }), {
        kind: 'exports',
        costly: true,
      }),
    cells: ({ properties, ...rest }) => ({ ...rest, properties: JSON.stringify(properties) }),
  });
