import { Hono } from 'hono';
import { campaignSection } from './campaigns/api.ts';
import { contactSection } from './contacts/api.ts';
import { type CodeRow, errorCodes } from './errors.ts';
import { examplesOf } from './examples.ts';
import { accountSection } from './keys/account.ts';
import { cachedPage } from './lib/http/read-answer.ts';
import { docsHeaders, renderDocs } from './lib/openapi/docs.tsx';
import { type ApiSection, describeApi } from './lib/openapi/openapi.ts';
import { withReferences } from './lib/openapi/references.ts';
import { peopleSection } from './people/api.ts';
import { answeringSection, responseSection } from './responses/api.ts';
import { sendSection } from './sends/api.ts';
import { summarySection } from './summaries/api.ts';
import { surveySection } from './surveys/api.ts';
import { tagSection } from './tags/api.ts';
import { webhookSection } from './webhooks/api.ts';
import { messageHeaders, messages } from './webhooks/events.ts';

type Settings = { serviceName: string; maxContacts: number };

/** The sections of the features, in the order they are shown. */
const sections = ({ maxContacts }: Settings): ApiSection[] => [
  surveySection,
  sendSection({ maxContacts }),
  campaignSection,
  contactSection,
  responseSection,
  answeringSection,
  tagSection,
  peopleSection,
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

/** As Markdown, also for ops/errors.md. */
export const errorTable = [
  '| Code | Status | For example | What to do |',
  '|---|---|---|---|',
  ...Object.entries<CodeRow>(errorCodes).map(
    ([code, { status, error, remedy }]) =>
      `| \`${code}\` | ${status.join(', ')} | ${error} | ${remedy} |`,
  ),
].join('\n');

const guide = `
Survey feedback: surveys, the people they are sent to, what those answered, and what that comes to.

## Keys
Every request carries its key in \`X-API-Key\` or as \`Authorization: Bearer\`, except answers given by the links of a
survey. A key belongs to one organization, and everything is seen from there: what belongs to another is not
found. A read key may call every GET; the rest needs a write key.

## Lists
\`page\` and \`limit\` (50, at most 200) choose a page; \`meta\` says which it is and how many rows there are.
\`meta.next_cursor\` goes into \`cursor\` to read on from there, without repeats when rows are added meanwhile.

## Errors
Every refusal is \`{"error", "code", "request_id"}\`: a sentence to act on, which names every mistake of a body at once, a
stable word for programs, and what \`X-Request-Id\` says too. Unknown fields and parameters are ignored; a list names such
parameters in \`meta.ignored\`. A request that writes refuses one that differs from a parameter of its own only in case or in
signs: \`dryRun\` is 400, because ignored it would mail.

## Error codes
${errorTable}

## Changes
\`If-Match\` with the \`ETag\` of a GET makes a change of a survey, a webhook or a tag conditional: when somebody else has
changed it since, the answer is 412 and nothing is changed.

## Text
Text is UTF-8. The character NUL (U+0000) is refused with 400 wherever it stands, and so is a JSON object with a key
\`__proto__\`. Times are ISO 8601, in answers always UTC.

## Limits
100 requests a clock minute and key unless the operator decided otherwise; \`RateLimit\` says what is left. Above that the answer is 429,
and \`Retry-After\` says for how long. Requests without a working key: 60 a minute and address. A body has at most 1 MiB.

## Repeats
A POST may carry an \`Idempotency-Key\`. Repeated within 24 hours, with the same body, it runs nothing and gets the
first answer, marked \`Idempotent-Replayed: true\`; while the first still runs, 409; with another body, 422. Faults (5xx) are not kept.

## Versions
Within v1 changes only add: endpoints, optional parameters, fields of answers. Ignore fields you do not know.
`.trim();
