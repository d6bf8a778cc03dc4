import { Hono } from 'hono';

/** What a language model reads first at this address: https://llmstxt.org */
export const llmsText = (publicUrl: string) => `# askback

> Survey feedback: NPS, CSAT, CES, stars and thumbs. Surveys go out by mail or by link, answers come back through an
> API and signed webhooks, and scores stand with their margin of error.

Every request carries an API key as \`Authorization: Bearer KEY\` or \`X-API-Key: KEY\`. A key belongs to one organization;
a read key may call every GET, the rest needs a write key. 100 requests a minute a key unless the operator says otherwise:
the headers \`RateLimit\` and \`Retry-After\` say how much is left. Lists are \`{"data": [...], "meta": {...}}\`;
\`meta.next_cursor\` goes into \`cursor\`. An error is \`{"error", "code", "request_id"}\`. A POST with an
\`Idempotency-Key\` runs once.

## Documents

- [API reference](${publicUrl}/docs): every endpoint with its fields, limits, errors and examples
- [OpenAPI 3.1](${publicUrl}/openapi.json): the same for programs, with the payloads of webhooks
- [MCP](${publicUrl}/mcp): tools for language models over streamable HTTP, with an API key as bearer token

## First steps

- \`GET ${publicUrl}/api/v1/surveys\`: the surveys of the organization
- \`GET ${publicUrl}/api/v1/nps\`: the score, its counts and shares
- \`GET ${publicUrl}/api/v1/responses?category=detractor\`: the newest answers of detractors
- \`POST ${publicUrl}/api/v1/surveys/{id}/send?dry_run=true\`: what a send would do, without sending
- \`POST ${publicUrl}/api/webhooks\`: have events delivered, signed as Standard Webhooks
`;

const oneHour = 'public, max-age=3600';

export const llmsRoutes = (publicUrl: string) =>
  new Hono().get('/llms.txt', (c) =>
    c.text(llmsText(publicUrl), 200, { 'Cache-Control': oneHour }),
  );
