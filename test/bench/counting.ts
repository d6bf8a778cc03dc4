import { requestEnded } from '../../src/lib/http/http.ts';
import { startCounting } from '../../src/observations/metrics.ts';
import { answered, attempted } from '../../src/signals.ts';

/** What it costs to count what happens, in microseconds of processor time each; no request or database is part of it. */
const times = 200_000;
const rounds = 3;
const ids = { orgId: 'o', surveyId: 's', responseId: 'r', webhookId: 'w', deliveryId: 'd' };
const sampled = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const published: [what: string, publish: (traceparent: string | null) => void][] = [
  [
    'a request',
    (traceparent) =>
      requestEnded.publish({
        method: 'GET',
        route: '/api/v1/responses',
        status: 200,
        ms: 3,
        requestId: 'q',
        tenant: 'o',
        traceparent,
      }),
  ],
  [
    'a delivery that arrives',
    (traceparent) =>
      attempted.publish({
        ...ids,
        event: 'response.received',
        attempt: 1,
        outcome: 'delivered',
        statusCode: 200,
        error: null,
        ms: 3,
        sinceMs: 9,
        traceparent,
      }),
  ],
  [
    'an answer',
    (traceparent) =>
      answered.publish({
        ...ids,
        type: 'nps',
        category: 'promoter',
        held: null,
        events: ['response.received'],
        traceparent,
      }),
  ],
];

startCounting();
for (const [what, publish] of published) {
  console.log(
    `${what}: ${best(() => publish(null))} µs, in a sampled trace ${best(() => publish(sampled))} µs`,
  );
}

function best(publish: () => void): string {
  const took = Array.from({ length: rounds }, () => {
    const before = process.threadCpuUsage();
    for (let i = 0; i < times; i++) publish();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / times;
  });
  return Math.min(...took).toFixed(2);
}
