import { Hono } from 'hono';
import { campaignSection } from './campaigns/api.ts';
import { contactSection } from './contacts/api.ts';
import { type CodeRow, errorCodes } from './errors.ts';
import { examplesOf } from './examples.ts';
import { accountSection } from './keys/api.ts';
import { cachedPage } from './lib/http/read-answer.ts';
import { docsHeaders, renderDocs } from './lib/openapi/docs.tsx';
import { type ApiSection, describeApi } from './lib/openapi/openapi.ts';
import { withReferences } from './lib/openapi/references.ts';
import { defaultLimit } from './lib/paging/page.ts';
import { peopleSection } from './people/api.ts';
import { segmentSection } from './people/segments-api.ts';
import { questionSection } from './questions/results.ts';
import { answeringSection, responseSection } from './responses/api.ts';
import { sendSection } from './sends/api.ts';
import { summarySection } from './summaries/api.ts';
import { surveySection } from './surveys/api.ts';
import { tagSection } from './tags/api.ts';
import { webhookSection } from './webhooks/api.ts';
import { messageHeaders, messages } from './webhooks/events.ts';

type Settings = { serviceName: string; maxContacts: number };

/** Sections in the order of the document. */
const sections = ({ maxContacts }: Settings): ApiSection[] => [
  surveySection,
  questionSection,
  sendSection({ maxContacts }),
  campaignSection,
  contactSection,
  responseSection,
  answeringSection,
  tagSection,
  peopleSection,
  segmentSection,
  accountSection,
  summarySection,
  webhookSection,
];

export const apiDocument = (settings: Settings) =>
  describeApi({
    info: {
      title: 'askback',
      version: '1',
      description: guide,
      contact: { name: 'The operator of this askback' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    sections: sections(settings),
    examples: examplesOf(sections(settings), messages),
    messages,
    messageHeaders: messageHeaders(settings.serviceName),
  });

export const docsRoutes = ({ settings, publicUrl }: { settings: Settings; publicUrl: string }) =>
  new Hono()
    .get(
      '/openapi.json',
      cachedPage({ 'Content-Type': 'application/json' }, () =>
        JSON.stringify(withReferences(apiDocument(settings))),
      ),
    )
    .get(
      '/docs',
      cachedPage(docsHeaders, () => renderDocs(apiDocument(settings), publicUrl)),
    );

/** Also the content of ops/errors.md. */
export const errorTable = [
  '| Code | Status | For example | What to do |',
  '|---|---|---|---|',
  ...Object.entries<CodeRow>(errorCodes).map(
    ([code, { status, error, remedy }]) =>
      `| \`${code}\` | ${status.join(', ')} | ${error} | ${remedy} |`,
  ),
].join('\n');

const guide = `
Create surveys, send them to your contacts, and read responses and scores.

## Keys
Owners create keys in the app under Settings, API Keys. Send your key in \`X-API-Key\` or as \`Authorization: Bearer\`. Only
survey links work without a key. A key belongs to one organization and does not find the data of another. A read key can
call every GET. All other methods need a write key.

## Lists
\`page\` and \`limit\` (default ${defaultLimit}, at most 200) select a page. \`meta\` contains the page and the total number of rows.
Pass \`meta.next_cursor\` as \`cursor\` to read the next page without repeats while rows are added.

## Errors
Every error is \`{"error", "code", "request_id"}\`: a sentence that lists all errors of a body at once, a stable word for
programs, and the value of \`X-Request-Id\`. Unknown fields and parameters are ignored, and lists return the ignored
parameters in \`meta.ignored\`. Writes refuse a parameter that differs from a known one only in case or punctuation:
\`dryRun\` gets 400, because the request would otherwise send emails.

## Error codes
${errorTable}

## Changes
Send \`If-Match\` with the \`ETag\` of a GET to change a survey, a webhook or a tag only if nobody else has changed it since.
Otherwise the request gets 412 and nothing is changed.

## Text
Text is UTF-8. NUL characters (U+0000) and JSON objects with a key \`__proto__\` are refused with 400. Times are
ISO 8601. Responses always use UTC.

## Limits
Each key can make 100 requests per clock minute, unless the operator has set another limit. \`RateLimit\` shows the remaining
requests. Above the limit, requests get 429, and \`Retry-After\` has the seconds to wait. Requests without a valid key are
limited to 60 per minute and IP address. A body can have at most 1 MiB.

## Repeats
A POST can have an \`Idempotency-Key\`. A repeat with the same body within 24 hours does nothing and returns the first
response with \`Idempotent-Replayed: true\`. A repeat gets 409 while the first request is running, and 422 if its body differs.
Server errors (5xx) are not stored.

## Versions
Changes within v1 only add endpoints, optional parameters and response fields. Ignore unknown fields.
`.trim();
