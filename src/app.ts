import { Hono } from 'hono';
import { contactRoutes } from './contacts/routes.ts';
import { notFound } from './errors.ts';
import { authenticate } from './keys/authenticate.ts';
import type { Db } from './platform/db.ts';
import { type Checks, healthRoutes } from './platform/health.ts';
import { answerError, nameRequests, type RequestEnv } from './platform/http.ts';
import type { Log } from './platform/log.ts';
import { npsRoutes, responseRoutes } from './responses/routes.ts';
import { surveyRoutes } from './surveys/routes.ts';
import { tagRoutes } from './tags/routes.ts';

/** Everything a request may need. A door takes only the part of it that it uses. */
export type AppTools = {
  db: Db;
  log: Log;
  settings: { rateLimit: number };
  /** Hands committed outbox rows to the queue; called after a commit that wrote some. */
  pump: () => void;
  /** What must be in order for this process to serve. */
  checks: Checks;
};

/** The table of contents of the web. It opens no port and reads no environment: a test can call it. */
export function createApp(tools: AppTools) {
  return new Hono<RequestEnv>()
    .use(nameRequests)
    .onError(answerError(tools.log))
    .notFound(() => {
      throw notFound('path');
    })
    .route('/', healthRoutes(tools.checks))
    .use('/api/*', authenticate(tools))
    .route('/api/v1/surveys', surveyRoutes(tools))
    .route('/api/v1/responses', responseRoutes(tools))
    .route('/api/v1/nps', npsRoutes(tools))
    .route('/api/v1/contacts', contactRoutes(tools))
    .route('/api/v1/tags', tagRoutes(tools));
}
