import { type AppTools, createApp } from '../../../src/app.ts';
import { createSecrets } from '../../../src/lib/crypto/secrets.ts';
import type { Db } from '../../../src/lib/db/db.ts';
import { createLog } from '../../../src/lib/log/log.ts';
import { checkTarget } from '../../../src/lib/outbound/connect.ts';
import { redactedExcerpt } from '../../../src/lib/redact/redact.ts';
import { noErasureFile } from '../../../src/people/receipts-file.ts';
import { readReport } from '../../../src/suppressions/report.ts';
import { subscriber } from '../fakes/subscriber.ts';
import { testSettings } from '../make/settings.ts';
import { conforms } from './conforms.ts';

/**
 * The whole web application on a test's database, called without a port. Compares each response of the API with the
 * document, so that an undocumented one fails the test.
 */
export function testApp(db: Db, over: Partial<AppTools> = {}) {
  const app = bareApp(db, over);
  const { fetch } = app;
  app.fetch = async (request, ...rest) => {
    const answer = await fetch(request, ...rest);
    await conforms(request, answer);
    return answer;
  };
  return app;
}

/** The application without this comparison, for tests that add their own routes. */
export function bareApp(db: Db, over: Partial<AppTools> = {}) {
  return createApp({
    db,
    log: createLog({ level: 'silent' }),
    settings: testSettings,
    deliveries: { owner: () => null, start: () => {} },
    checks: {},
    publicUrl: 'https://askback.test',
    outbound: subscriber(200).outbound,
    checkTarget: async (url) => checkTarget(url, { allow: [], http: false }),
    secrets: createSecrets([Buffer.alloc(32, 1)]),
    erasureFile: noErasureFile,
    progress: { watch: () => ({ next: async () => undefined, end: () => {} }) },
    mailbox: true,
    excerpt: redactedExcerpt,
    readReport: (_orgId, message) => readReport(message),
    ...over,
  });
}
