import { type Context, Hono } from 'hono';
import { apiDocument, docsRoutes } from './api.ts';
import {
  campaignReads,
  campaignRoutes,
  surveyCampaignReads,
  surveyCampaignRoutes,
} from './campaigns/api.ts';
import { contactReads, contactRoutes } from './contacts/api.ts';
import { publicDemoRoutes } from './demo/public.tsx';
import { accountReads } from './keys/api.ts';
import { authenticate } from './keys/authenticate.ts';
import { answerOnce } from './keys/idempotency.ts';
import { recordWrites } from './keys/read.ts';
import type { Replica } from './lib/db/replica.ts';
import { trustProxies } from './lib/http/client-address.ts';
import { answerError, followRequests, type RequestEnv, refuseNul } from './lib/http/http.ts';
import { traceRequests } from './lib/http/request-spans.ts';
import { answerNoRoute } from './lib/http/router.ts';
import { type MetricsTools, metricsRoutes } from './lib/metrics/routes.ts';
import { type MailboxAccess, mailboxPages } from './mailbox/pages.tsx';
import { llmsRoutes, mcpRoutes } from './mcp/routes.ts';
import { healthRoutes } from './operations/health.ts';
import { homeRoutes } from './operations/home-routes.ts';
import { logoPages } from './organizations/logo.ts';
import { erasureRoutes, peopleReads, peopleRoutes } from './people/api.ts';
import { segmentReads, segmentRoutes } from './people/segments-api.ts';
import { questionPages } from './questions/pages.ts';
import { questionReads } from './questions/results.ts';
import { npsReads, responseRoutes } from './responses/api.ts';
import { answerPages } from './responses/pages.ts';
import { type ScreenTools, screens } from './screens.ts';
import { sendRoutes } from './sends/api.ts';
import { summaryReads } from './summaries/api.ts';
import { bounceRoutes, suppressionReads, suppressionRoutes } from './suppressions/api.ts';
import type { BounceTools } from './suppressions/bounces.ts';
import { unsubscribePages } from './suppressions/pages.tsx';
import { surveyReads, surveyRoutes } from './surveys/api.ts';
import { tagRoutes } from './tags/api.ts';
import { offerResend, showErrorPage } from './web/show.ts';
import { webhookRoutes } from './webhooks/api.ts';
import type { OwnDeliveries } from './webhooks/emit.ts';

export type AppTools = ScreenTools &
  MailboxAccess & {
    settings: {
      rateLimit: number;
      maxContacts: number;
      trustedProxies?: readonly string[];
      securityContact?: string | null;
    };
    /** Serves API reads, unless it lacks the latest writes of the organization. */
    replica?: Replica | undefined;
    /** Starts the deliveries for responses that this process records. */
    deliveries: OwnDeliveries;
    /** Called with the address of an untrusted proxy that sends forwarding headers. */
    onUntrustedProxy?: (peer: string) => void;
    readReport: BounceTools['readReport'];
    /** Everybody may sign in as a viewer, and nothing can be written. */
    isPublicDemo?: boolean;
    /** Undefined if metrics have their own address. */
    metrics?: MetricsTools | undefined;
  };

export function createApp(tools: AppTools) {
  const findClients = trustProxies(tools.settings.trustedProxies ?? [], tools.onUntrustedProxy);
  const app = new Hono<RequestEnv>();
  return app
    .use(findClients)
    .use(followRequests)
    .use(traceRequests('askback.organization.id'))
    .onError(offerResend(answerError(tools.log, showErrorPage)))
    .notFound(answerNoRoute(() => app.routes))
    .route('/', healthRoutes(tools.checks, tools.warnings))
    .route('/', tools.metrics ? metricsRoutes(tools.metrics) : new Hono())
    .route('/', tools.isPublicDemo ? publicDemoRoutes(tools) : new Hono<RequestEnv>())
    .use('/api/*', recordWrites(tools))
    .use('/o/*', recordWrites(tools))
    .use('/api/*', authenticate(tools))
    .use(refuseNul)
    .use('/api/*', answerOnce(tools))
    .route('/api/v1/surveys', surveyReads(tools))
    .route('/api/v1/surveys', surveyCampaignReads(tools))
    .route('/api/v1/surveys', questionReads(tools))
    .route('/api/v1/campaigns', campaignReads(tools))
    .route('/api/v1/suppressions', suppressionReads(tools))
    .route('/api/v1/responses', responseRoutes(tools))
    .route('/api/v1/nps', npsReads(tools))
    .route('/api/v1/contacts', contactReads(tools))
    .route('/api/v1/tags', tagRoutes(tools))
    .route('/api/v1/people', peopleReads(tools))
    .route('/api/v1/segments', segmentReads(tools))
    .route('/api/v1', accountReads(tools))
    .route('/api/v1/summaries', summaryReads(tools))
    .route('/api/v1/surveys', surveyRoutes(tools))
    .route('/api/v1/surveys', sendRoutes(tools))
    .route('/api/v1/surveys', surveyCampaignRoutes(tools))
    .route('/api/v1/campaigns', campaignRoutes(tools))
    .route('/api/v1/suppressions', suppressionRoutes(tools))
    .route('/api/v1/contacts', contactRoutes(tools))
    .route('/api/v1/people', peopleRoutes(tools))
    .route('/api/v1/segments', segmentRoutes(tools))
    .route('/api/v1/erasures', erasureRoutes(tools))
    .route('/api/bounces', bounceRoutes(tools))
    .route('/api/webhooks', webhookRoutes(tools))
    .route('/', llmsRoutes(tools.publicUrl))
    .route(
      '/',
      mcpRoutes({
        ...tools,
        askApi: async (c, path, init) => await app.fetch(asCallerOf(c, path, init), c.env),
        apiDocument: () => apiDocument(tools.settings),
      }),
    )
    .route('/', homeRoutes(tools))
    .route('/', screens(tools))
    .route('/', answerPages(tools))
    .route('/', questionPages(tools))
    .route('/', unsubscribePages(tools))
    .route('/logos', logoPages(tools))
    .route('/mailbox', mailboxPages(tools))
    .route('/', docsRoutes(tools));
}

/** A request to the API with the key, trace and request id of the caller. */
function asCallerOf(c: Context, path: string, init: RequestInit = {}): Request {
  const headers = new Headers({ 'Content-Type': 'application/json' });
  for (const name of ['Authorization', 'X-API-Key', 'traceparent', 'X-Request-Id']) {
    const value = c.req.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  return new Request(new URL(path, c.req.url), { ...init, headers });
}
