import type { Secrets } from '../../lib/crypto/secrets.ts';
import type { SecretsInTime, ShownDelivery } from '../screen.queries.ts';
import { deliveryHeaders } from '../sign.ts';

const dayMs = 86_400_000;

type SentAttempt = {
  delivery: Pick<ShownDelivery, 'id' | 'message_id' | 'event' | 'body'>;
  at: Date;
  orgId: string;
  webhookId: string;
  stored: SecretsInTime;
};

type SigningTools = { secrets: Pick<Secrets, 'open'>; settings: { serviceName: string } };

/**
 * The headers of an attempt as they were sent, signed with the secrets of that time. Only the last two secrets are
 * stored: an attempt from before them is signed with the older one.
 */
export function sentHeaders({ secrets, settings }: SigningTools, sent: SentAttempt) {
  const { delivery, at, orgId, webhookId, stored } = sent;
  const open = (sealed: Buffer) => secrets.open({ owner: orgId, id: webhookId }, sealed);
  const rotatedAt = stored.previous_secret_until
    ? new Date(stored.previous_secret_until.getTime() - dayMs)
    : null;
  const wasBefore = rotatedAt !== null && at < rotatedAt;
  const previous = stored.previous_secret ? open(stored.previous_secret) : null;
  const signedBoth =
    !wasBefore && stored.previous_secret_until !== null && at < stored.previous_secret_until;
  const headers = deliveryHeaders(settings.serviceName, {
    id: delivery.id,
    messageId: delivery.message_id,
    event: delivery.event,
    body: delivery.body,
    at,
    secret: wasBefore && previous !== null ? previous : open(stored.secret),
    previousSecret: signedBoth ? previous : null,
  });
  return Object.entries(headers);
}
