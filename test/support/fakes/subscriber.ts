import type { Secrets } from '../../../src/lib/crypto/secrets.ts';
import type { OutboundAnswer } from '../../../src/lib/outbound/post.ts';
import { type SubscriberClient, spellSecret } from '../../../src/webhooks/deliver.ts';

export const testSecret = spellSecret(new Uint8Array(32).fill(5));

/** Leaves secrets unsealed, so that all webhooks of a test have the same one. */
export const plainSecrets: Secrets = {
  keyId: Buffer.alloc(4),
  seal: (_, secret) => Buffer.from(secret),
  open: () => testSecret,
  openBytes: () => Buffer.from('secret'),
};

type Post = { url: string; headers: Record<string, string>; body: string };

/** A subscriber that responds with these statuses in order, and then always with the last. */
export function subscriber(...statuses: (number | null)[]) {
  const posts: Post[] = [];
  const outbound: SubscriberClient = {
    post: async (url, { headers, body }) => {
      const status = statuses[Math.min(posts.length, statuses.length - 1)] ?? null;
      posts.push({ url, headers, body });
      return answerOf(status);
    },
  };
  return { posts, outbound };
}

export const answerOf = (statusCode: number | null): OutboundAnswer => ({
  statusCode,
  body: statusCode === null ? '' : 'hello',
  retryAfterSeconds: null,
  error: statusCode === null ? 'no answer' : null,
  errorKind: statusCode === null ? 'timeout' : null,
  durationMs: 1,
});

/** A subscriber that hangs until released. */
export function hangingSubscriber() {
  const waiting: (() => void)[] = [];
  let most = 0;
  const outbound: SubscriberClient = {
    post: () =>
      new Promise((resolve) => {
        waiting.push(() => resolve(answerOf(200)));
        most = Math.max(most, waiting.length);
      }),
  };
  const release = () => {
    for (const go of waiting.splice(0)) go();
  };
  return { outbound, release, hanging: () => waiting.length, mostAtOnce: () => most };
}
