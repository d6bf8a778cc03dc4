import * as v from 'valibot';
import type { Db } from '../lib/db/db.ts';
import { Uuid } from '../lib/validation/parse.ts';
import { readInstants } from '../responses/range.ts';
import { countThemes } from './queries.ts';

const Day = v.pipe(
  v.string(),
  v.check((text) => readInstants(text) !== undefined, 'must be an ISO 8601 date or time'),
);

export const ThemesInput = v.object({
  survey_id: v.optional(Uuid),
  date_from: v.optional(Day),
  date_to: v.optional(Day),
  limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(50)), 20),
});

export const themesTool = {
  name: 'list_themes',
  title: 'List themes',
  description:
    'What comments speak of, most mentioned first, with how many of the mentions are by detractors. Empty unless comments are analyzed.',
  inputSchema: {
    type: 'object',
    properties: {
      survey_id: { type: 'string', format: 'uuid', description: 'limit to one survey' },
      date_from: { type: 'string', description: 'on or after this ISO 8601 date or time' },
      date_to: { type: 'string', description: 'on or before this ISO 8601 date or time' },
      limit: { type: 'integer', minimum: 1, maximum: 50, default: 20 },
    },
    required: [],
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

export async function listThemes(
  db: Db,
  orgId: string,
  given: v.InferOutput<typeof ThemesInput>,
): Promise<object> {
  const { survey_id, date_from, date_to, limit } = given;
  const themes = await countThemes(db, orgId, {
    surveyId: survey_id ?? null,
    from: date_from ? readInstants(date_from)!.first : null,
    until: date_to ? readInstants(date_to)!.end : null,
    limit,
  });
  return { data: themes };
}
