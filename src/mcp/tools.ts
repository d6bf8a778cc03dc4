/** A tool that asks the API one question: its parameters are those of the route. */
type Question = { name: string; title: string; path: string; description: string };

export const questions: readonly Question[] = [
  {
    name: 'list_surveys',
    title: 'List surveys',
    path: '/api/v1/surveys',
    description: 'Surveys of the organization, newest first, with how many answers each has.',
  },
  {
    name: 'get_survey',
    title: 'Show a survey',
    path: '/api/v1/surveys/{id}',
    description: 'One survey with its settings and its totals.',
  },
  {
    name: 'list_responses',
    title: 'List responses',
    path: '/api/v1/responses',
    description: 'Answers with score, comment and contact, newest first. Filters can be combined.',
  },
  {
    name: 'get_nps',
    title: 'Show the score',
    path: '/api/v1/nps',
    description:
      'Net Promoter Score with its counts, shares and margin of error. A change inside the margin may be chance.',
  },
  {
    name: 'get_nps_trend',
    title: 'Show the score over time',
    path: '/api/v1/nps/trend',
    description: 'The score by day, week or month, each with its margin of error.',
  },
  {
    name: 'why',
    title: 'Explain an address',
    path: '/api/v1/people/{email}',
    description:
      'Everything that is known of one address: what it was asked, whether and why a mail was not sent, what it answered.',
  },
];

/** The part of the API document that describes the parameters of tools. */
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

/** A question as MCP describes it. What the route takes, the tool takes. */
export function describeQuestion(document: DescribedPaths, { path, ...question }: Question) {
  const parameters = (document.paths[path]?.['get']?.parameters ?? []).filter(
    (parameter) => parameter.in === 'query' || parameter.in === 'path',
  );
  return {
    ...question,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        parameters.map(({ name, description, schema }) => [
          name,
          { ...schema, ...(description && { description }) },
        ]),
      ),
      required: parameters.filter(({ required }) => required).map(({ name }) => name),
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
}

/** The address of a question with its arguments, or the name of a part of the path that is missing. */
export function addressOf({ path }: Question, given: Record<string, unknown>) {
  const rest = new Map(Object.entries(given).filter(([, value]) => value != null));
  let missing: string | undefined;
  const place = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (!rest.has(name)) missing ??= name;
    const value = textOf(rest.get(name));
    rest.delete(name);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const [name, value] of rest) {
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, textOf(one));
  }
  return { missing, address: query.size > 0 ? `${place}?${query}` : place };
}

const textOf = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value);
