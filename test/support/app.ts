import { type AppTools, createApp } from '../../src/app.ts';
import type { Db } from '../../src/platform/db.ts';
import { createLog } from '../../src/platform/log.ts';
import { keptAddress } from '../../src/platform/mail/address.ts';
import { judgeTarget } from '../../src/platform/outbound/targets.ts';
import { createSecrets } from '../../src/platform/secrets.ts';
import { redactedExcerpt } from '../../src/responses/redact.ts';
import { conforms } from './conform.ts';
import { testSettings } from './settings.ts';
import { subscriber } from './subscriber.ts';

/**
 * The whole web application on a test's database, called without a port. Every answer of its API is
 * compared with the document: one that is not described there fails the test that asked for it.
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

/** The same without that, for tests that add places of their own to it. */
export function bareApp(db: Db, over: Partial<AppTools> = {}) {
  return createApp({
    db,
    log: createLog({ level: 'silent' }),
    settings: testSettings,
    pump: () => {},
    checks: {},
    publicUrl: 'https://askback.test',
    outbound: subscriber(200).outbound,
    judgeTarget: async (url) => judgeTarget(url, { allow: [], http: false }),
    secrets: createSecrets([Buffer.alloc(32, 1)]),
    waiting: { watch: () => ({ told: () => 0, until: async () => {}, end: () => {} }) },
    mailbox: true,
    addressOf: keptAddress,
    excerpt: redactedExcerpt,
    ...over,
  });
}
