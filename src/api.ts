import { contactRoom } from './contacts/operations.ts';
import { describeApi, type Room } from './lib/openapi/openapi.ts';
import { responseRoom } from './responses/operations.ts';
import { sendRoom } from './sends/operations.ts';
import { summaryRoom } from './summaries/operations.ts';
import { surveyRoom } from './surveys/operations.ts';
import { tagRoom } from './tags/operations.ts';
import { webhookRoom } from './webhooks/operations.ts';
import { messageHeaders, messages } from './webhooks/payloads.ts';

type Settings = { serviceName: string; maxContacts: number };

/** The table of contents of the API: the rooms that describe their doors, in the order they are shown. */
const rooms = ({ maxContacts }: Settings): Room[] => [
  surveyRoom,
  sendRoom({ maxContacts }),
  contactRoom,
  responseRoom,
  tagRoom,
  summaryRoom,
  webhookRoom,
];

/** The whole API of a deployment, as `GET /openapi.json` and `GET /docs` show it. */
export const apiDocument = (settings: Settings) =>
  describeApi({
    info: { title: 'askback', version: '1', description: guide },
    rooms: rooms(settings),
    messages,
    messageHeaders: messageHeaders(settings.serviceName),
  });

const guide = `
Survey feedback: surveys, the people they are sent to, what those answered, and what that comes to.

## Keys
Every request carries \`X-API-Key\`. A key belongs to one organization, and everything is seen from there: what
belongs to another is not found. A read key may call every GET; the rest needs a write key.

## Lists
\`page\` and \`limit\` (50, at most 200) choose a page; \`meta\` says which it is and how many rows there are.
\`meta.next_cursor\` goes into \`cursor\` to read on from there, without repeats when rows are added meanwhile.

## Errors
Every refusal is \`{"error", "code", "request_id"}\`: a sentence to act on, a stable word for programs, and what
\`X-Request-Id\` says too. Unknown fields and parameters are ignored.

## Limits
100 requests a clock minute and key unless the operator decided otherwise; \`RateLimit\` says what is left. Above that the answer is 429,
and \`Retry-After\` says for how long. Requests without a working key: 60 a minute and address. A body has at most 1 MiB.

## Repeats
A POST may carry an \`Idempotency-Key\`. Repeated within 24 hours, with the same body, it runs nothing and gets the
first answer, marked \`Idempotent-Replayed: true\`; while the first still runs, 409; with another body, 422. Faults (5xx) are not kept.

## Versions
Within v1 changes only add: endpoints, optional parameters, fields of answers. Ignore fields you do not know.
`.trim();
