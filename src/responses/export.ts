import { type ReplicaTools, readFresh } from '../keys/replica-reads.ts';
import { inGroup } from '../lib/db/fair-pool.ts';
import { type ExportFormat, exportParts } from '../lib/export/answer.ts';
import type { Position } from '../lib/paging/page.ts';
import { nextResponses } from './export.queries.ts';
import type { ResponseFilter } from './filter.cte.ts';

const atOnce = 2_000;

const columns = [
  ...[
    'id',
    'created_at',
    'survey_id',
    'survey_name',
    'survey_type',
    'score',
    'category',
    'comment',
  ],
  ...['language', 'contact_email', 'contact_name', 'properties', 'tags', 'state', 'owner', 'held'],
  ...['ai_sentiment', 'ai_themes', 'ai_churn_risk', 'ai_summary'],
] as const;

type Exported = Record<string, string | number | boolean | null> & {
  tags: { name: string }[];
  ai_themes: string[];
  properties: object;
};

type ExportWish = { filter: ResponseFilter; format: ExportFormat };

/** All responses that a filter leaves, newest first. No connection is held while the reader takes a batch. */
export const exportResponses = (
  tools: ReplicaTools,
  orgId: string,
  { filter, format }: ExportWish,
) =>
  exportParts<Position, Exported>(format, {
    columns,
    next: (after) =>
      inGroup(
        orgId,
        () =>
          readFresh(tools, orgId, (sql) =>
            nextResponses(sql, orgId, { filter, after, limit: atOnce }),
          ),
        { kind: 'exports', costly: true },
      ),
    cells: ({ tags, ai_themes: themes, properties, ...rest }) => ({
      ...rest,
      tags: tags.map(({ name }) => name).join(';'),
      ai_themes: themes.join(';'),
      properties: JSON.stringify(properties),
    }),
  });
