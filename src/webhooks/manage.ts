import { randomBytes, randomUUID } from 'node:crypto';
import { notFound, Refusal } from '../errors.ts';
import type { WriteKey } from '../keys/authenticate.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import type { EventType } from './events.ts';
import {
  findWebhook,
  insertWebhook,
  lockAndCountWebhooks,
  rotateSecret,
  updateWebhook,
} from './queries.ts';
import { spellSecret } from './sign.ts';

const webhooksAllowed = 50;

export type ManageTools = {
  db: Db;
  secrets: Secrets;
  /** Why a URL may not be a webhook's, in a sentence, or null. */
  judgeTarget: (url: string) => Promise<string | null>;
};

type Subscription = {
  org_id?: string | undefined;
  url: string;
  events: EventType[];
  description?: string | null | undefined;
};

/** Creates a subscription. The secret is in this answer and nowhere else. */
export async function createWebhook(tools: ManageTools, key: WriteKey, subscription: Subscription) {
  const { org_id } = subscription;
  if (org_id !== undefined && org_id !== key.org_id) {
    throw new Refusal('forbidden', 'org_id is not the organization of this API key');
  }
  return await addWebhook(tools, key.org_id, subscription);
}

/** The same for the operator, who has no key. */
export async function addWebhook(tools: ManageTools, orgId: string, added: Subscription) {
  await refuseTarget(tools, added.url);
  const id = randomUUID();
  const secret = spellSecret(randomBytes(32));
  const webhook = {
    id,
    url: added.url,
    events: added.events,
    description: added.description ?? null,
    secret: tools.secrets.seal({ orgId, id }, secret),
  };
  return await inTransaction(tools.db, async (tx) => {
    if ((await lockAndCountWebhooks(tx, orgId)) >= webhooksAllowed) {
      throw new Refusal('invalid', `an organization has at most ${webhooksAllowed} webhooks`, {
        code: 'too_many_webhooks',
      });
    }
    return { ...(await insertWebhook(tx, orgId, webhook)), secret };
  });
}

type Change = {
  url?: string | undefined;
  events?: EventType[] | undefined;
  description?: string | null | undefined;
  active?: boolean | undefined;
};

export async function changeWebhook(tools: ManageTools, key: WriteKey, id: string, change: Change) {
  if (change.url !== undefined) await refuseTarget(tools, change.url);
  const webhook = await updateWebhook(tools.db, key.org_id, id, {
    url: change.url ?? null,
    events: change.events ?? null,
    description: change.description ?? null,
    describes: change.description !== undefined,
    active: change.active ?? null,
  });
  if (!webhook) throw notFound('webhook');
  return webhook;
}

export async function renewSecret(tools: ManageTools, key: WriteKey, id: string) {
  const secret = spellSecret(randomBytes(32));
  const sealed = tools.secrets.seal({ orgId: key.org_id, id }, secret);
  const webhook = await rotateSecret(tools.db, key.org_id, id, sealed);
  if (!webhook) throw notFound('webhook');
  return { ...webhook, secret };
}

export async function getWebhook({ db }: { db: Sql }, orgId: string, id: string) {
  const webhook = await findWebhook(db, orgId, id);
  if (!webhook) throw notFound('webhook');
  return webhook;
}

async function refuseTarget({ judgeTarget }: ManageTools, url: string) {
  const complaint = await judgeTarget(url);
  if (complaint) throw new Refusal('invalid', complaint, { code: 'forbidden_url' });
}
