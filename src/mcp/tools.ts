import { hash } from 'node:crypto';
import * as v from 'valibot';
import { Refusal } from '../errors.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Sql } from '../lib/db/db.ts';
import { Uuid } from '../lib/validation/parse.ts';
import { readInstants } from '../responses/period.ts';

/** Tools that call one route of the API and take its parameters. */
export const readTools = [
  {
    name: 'list_surveys',
    title: 'List surveys',
    path: '/api/v1/surveys',
    description: 'Surveys of the organization, newest first, with their number of responses.',
  },
  {
    name: 'get_survey',
    title: 'Get a survey',
    path: '/api/v1/surveys/{id}',
    description: 'One survey with its settings and totals.',
  },
  {
    name: 'list_responses',
    title: 'List responses',
    path: '/api/v1/responses',
    description:
      'Responses with score, comment, follow-up answers and contact, newest first. Filters can be combined.',
  },
  {
    name: 'get_question_results',
    title: 'Count follow-up answers',
    path: '/api/v1/surveys/{id}/questions',
    description:
      'For each follow-up question of a survey: how many were asked and answered, counts by option, the mean of a scale.',
  },
  {
    name: 'get_nps',
    title: 'Get the score',
    path: '/api/v1/nps',
    description:
      'Net Promoter Score with its counts, shares and 95 % interval. Scores whose intervals overlap may differ by chance.',
  },
  {
    name: 'get_nps_trend',
    title: 'Get the score over time',
    path: '/api/v1/nps/trend',
    description: 'The score by day, week or month, each with its 95 % interval.',
  },
  {
    name: 'why',
    title: 'Explain a person',
    path: '/api/v1/people/{email}',
    description:
      'The history of one email address: surveys sent or not sent, with reasons, and responses.',
  },
] as const;

type ReadTool = (typeof readTools)[number];

export type DescribedPaths = {
  paths: Record<string, Record<string, { parameters?: readonly DescribedParameter[] }>>;
};
type DescribedParameter = {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: object;
};

export function describeTool(document: DescribedPaths, { path, ...tool }: ReadTool) {
  const parameters = (document.paths[path]?.['get']?.parameters ?? []).filter(
    (parameter) => parameter.in === 'query' || parameter.in === 'path',
  );
  return {
    ...tool,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        parameters.map(({ name, description, schema }) => [
          name,
          { ...schema, ...(description && { description }) },
        ]),
      ),
      required: parameters.flatMap(({ name, required }) => (required ? [name] : [])),
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
}

export function requestPath({ path }: ReadTool, args: Record<string, unknown>): string {
  const rest = new Map(Object.entries(args).filter(([, value]) => value != null));
  const pathname = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (!rest.has(name)) throw new Refusal('invalid', `${name} is required`);
    const value = textOf(rest.get(name));
    rest.delete(name);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const [name, value] of rest) {
    if (typeof value === 'object' && !Array.isArray(value)) {
      // Fields are separate parameters, such as `property.plan`.
      for (const [field, each] of Object.entries(value as object))
        query.append(field, textOf(each));
      continue;
    }
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, textOf(one));
  }
  return query.size > 0 ? `${pathname}?${query}` : pathname;
}

const textOf = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value);

const confirmMs = 10 * 60_000;

export const SendInput = v.object({
  survey_id: Uuid,
  contacts: v.array(v.unknown()),
  confirm: v.optional(v.string()),
});

export type SendInput = v.InferOutput<typeof SendInput>;

export const sendTool = {
  name: 'send_survey',
  title: 'Send a survey',
  description:
    'Emails a survey to contacts. The first call is a dry run that returns the outcome for each contact and a `confirm` token. Show the outcome to the user. Only a second call with the same contacts and that token, within 10 minutes, sends emails.',
  inputSchema: {
    type: 'object',
    properties: {
      survey_id: { type: 'string', format: 'uuid' },
      contacts: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          properties: {
            email: { type: 'string' },
            name: { type: 'string' },
            properties: { type: 'object', additionalProperties: true },
          },
          required: ['email'],
        },
      },
      confirm: { type: 'string', description: 'the token from the dry run' },
    },
    required: ['survey_id', 'contacts'],
  },
  annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
};

type Receipt = { contacts: string; until: number };

/** A sealed receipt of a dry run. It is stored nowhere, and every process can check it. */
export function confirmWord(secrets: Secrets, orgId: string, input: SendInput): string {
  const receipt: Receipt = { contacts: hashOf(input.contacts), until: Date.now() + confirmMs };
  return secrets.seal(ownerOf(orgId, input), JSON.stringify(receipt)).toString('base64url');
}

export function checkConfirm(secrets: Secrets, orgId: string, input: SendInput) {
  let receipt: Receipt | undefined;
  try {
    const sealed = Buffer.from(input.confirm ?? '', 'base64url');
    receipt = JSON.parse(secrets.open(ownerOf(orgId, input), sealed));
  } catch {
    // Forged, or from another organization or survey.
  }
  if (receipt?.contacts !== hashOf(input.contacts)) {
    throw new Refusal(
      'invalid',
      'confirm does not match a dry run of this survey and these contacts: call again without it',
      { code: 'confirm_unknown' },
    );
  }
  if (receipt.until < Date.now()) {
    throw new Refusal('invalid', 'confirm has expired after 10 minutes: call again without it', {
      code: 'confirm_too_old',
    });
  }
}

const ownerOf = (orgId: string, { survey_id }: SendInput) => ({
  owner: orgId,
  id: `mcp send ${survey_id}`,
});

/** Independent of the order of object keys. */
const hashOf = (contacts: readonly unknown[]): string =>
  hash('sha256', JSON.stringify(contacts, sortKeys), 'base64url');

const sortKeys = (_: string, part: unknown) =>
  typeof part === 'object' && part !== null && !Array.isArray(part)
    ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
    : part;

const Day = v.pipe(
  v.string(),
  v.check((text) => readInstants(text) !== undefined, 'must be an ISO 8601 date or time'),
  v.transform((text) => readInstants(text)!),
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
    'Themes of comments, most mentioned first, with their mentions by detractors. Empty unless comments are analyzed.',
  inputSchema: {
    type: 'object',
    properties: {
      survey_id: { type: 'string', format: 'uuid', description: 'only this survey' },
      date_from: { type: 'string', description: 'on or after this ISO 8601 date or time' },
      date_to: { type: 'string', description: 'on or before this ISO 8601 date or time' },
      limit: { type: 'integer', minimum: 1, maximum: 50, default: 20 },
    },
    required: [],
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

export async function listThemes(
  sql: Sql,
  orgId: string,
  { survey_id, date_from, date_to, limit }: v.InferOutput<typeof ThemesInput>,
) {
  const [surveyId = null, from = null, until = null] = [survey_id, date_from?.first, date_to?.end];
  return await sql<{ theme: string; mentions: number; detractors: number }[]>`
    select theme,
           count(*)::int as mentions,
           count(*) filter (where r.category = 'detractor')::int as detractors
    from responses r
    join analyses a on a.org_id = r.org_id and a.response_id = r.id
    cross join lateral unnest(a.themes) as theme
    where r.org_id = ${orgId} and r.held_reason is null
      and (${surveyId}::uuid is null or r.survey_id = ${surveyId}::uuid)
      and (${from}::timestamptz is null or r.created_at >= ${from}::timestamptz)
      and (${until}::timestamptz is null or r.created_at < ${until}::timestamptz)
    group by theme
    order by mentions desc, theme
    limit ${limit}`;
}
