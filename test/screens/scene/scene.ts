import { after, mock } from 'node:test';
import type { AppTools } from '../../../src/app.ts';
import { createSecrets } from '../../../src/lib/crypto/secrets.ts';
import { fakeResolver } from '../../support/fakes/dns.ts';
import { testSettings } from '../../support/make/settings.ts';
import { bareApp } from '../../support/probe/app.ts';
import { stillDatabase } from '../../support/probe/still-database.ts';
import { addCampaigns } from './campaigns.ts';
import { addMailbox } from './mailbox.ts';
import { now } from './names.ts';
import { addOrganizations, addProofs } from './organizations.ts';
import { addResponses } from './responses.ts';
import { addSettings } from './settings.ts';
import { addContacts, addSurveys } from './surveys.ts';
import { addTroubled } from './troubled.ts';
import { addUploads } from './uploads.ts';
import { addWebhooks } from './webhooks.ts';

/** What its secrets are sealed with. */
export const secretKey = Buffer.alloc(32, 1);

export type Scene = Awaited<ReturnType<typeof makeStillScene>>;

/** An organization in which there is all that screens can show, at a moment that does not pass. */
export async function makeStillScene(over: Partial<AppTools> = {}) {
  mock.timers.enable({ apis: ['Date'], now });
  after(() => mock.timers.reset());
  const { db, url } = await stillDatabase(now);
  const secrets = createSecrets([secretKey]);
  await db.begin(async (tx) => {
    await addOrganizations(tx);
    await addSurveys(tx);
    await addContacts(tx);
    await addUploads(tx);
    await addMailbox(tx);
    await addCampaigns(tx);
    await addResponses(tx);
    await addWebhooks(tx, { secrets });
    await addSettings(tx, { secrets });
    await addTroubled(tx);
  });
  await addProofs(db);
  const dns = fakeResolver({
    ...{ 'MX larkspur.example': ['10 mx.larkspur.example'], 'A mx.larkspur.example': ['8.8.8.8'] },
    'TXT larkspur.example': ['v=spf1 -all'],
  });
  const traceUrl = 'https://traces.example/{trace_id}';
  const settings = { ...testSettings, smtpUrl: 'smtp://127.0.0.1:1', traceUrl };
  const app = bareApp(db, { secrets, dns, settings, ...over });
  const checks = { database: () => 'no answer within 2 s', outbox: () => undefined };
  const elsewhere = { ...testSettings, signIn: { byPassword: false, oidc } };
  const singleSignOn = bareApp(db, {
    ...{ secrets, settings: elsewhere, checks, mailbox: false },
    warnings: { disk: () => '91 % full' },
  });
  return { db, url, app, singleSignOn, secrets };
}

/** Members come in by it alone, and the service is not well. */
const oidc = {
  ...{ issuer: 'https://login.example', clientId: 'askback', clientSecret: 'secret' },
  ...{ name: 'Larkspur ID', domains: [], organization: null, role: null, groups: [] },
};
