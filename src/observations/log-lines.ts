import { type EndedRequest, requestEnded } from '../lib/http/http.ts';
import type { Log } from '../lib/log/log.ts';
import { traceIdOf } from '../lib/tracing/traceparent.ts';
import { answered, attempted, deactivated, mailed } from '../signals.ts';

const probes = new Set(['/healthz', '/readyz', '/metrics']);

/** One line for each request, attempt at a delivery and mail. The returned function ends that. */
export function writeLines(log: Log): () => void {
  const ends = [
    requestEnded.subscribe((request) => {
      log[probes.has(request.route) ? 'debug' : 'info'](requestFields(request), 'request');
    }),
    attempted.subscribe(({ statusCode, deliveryId, ms, traceparent, ...signal }) => {
      const { event, attempt, outcome, error } = signal;
      const result = { event, attempt, outcome, status: statusCode, error, ms: Math.round(ms) };
      const ids = { delivery_id: deliveryId, webhook_id: signal.webhookId, org_id: signal.orgId };
      log.info({ ...result, ...ids, trace_id: traceIdOf(traceparent) }, 'delivery');
    }),
    mailed.subscribe(({ attempt, outcome, ms, traceparent, ...signal }) => {
      const ids = { send_id: signal.sendId, survey_id: signal.surveyId, org_id: signal.orgId };
      const result = { attempt, outcome, ms: ms === null ? null : Math.round(ms) };
      log.info({ ...result, ...ids, trace_id: traceIdOf(traceparent) }, 'mail');
    }),
    answered.subscribe(({ type, category, held, traceparent, ...signal }) => {
      const ids = {
        response_id: signal.responseId,
        survey_id: signal.surveyId,
        org_id: signal.orgId,
      };
      log.debug({ type, category, held, ...ids, trace_id: traceIdOf(traceparent) }, 'answer');
    }),
    deactivated.subscribe(({ orgId, webhookId }) => {
      log.warn({ webhook_id: webhookId, org_id: orgId }, 'a webhook was switched off');
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}

const requestFields = ({ method, route, status, ms, requestId, ...rest }: EndedRequest) => ({
  method,
  route,
  status,
  ms: Math.round(ms),
  request_id: requestId,
  org_id: rest.tenant,
  trace_id: traceIdOf(rest.traceparent),
});
